"""Who is let in, whose word on an address is taken, and who has to go where too many are silent."""

import pytest
from websockets.datastructures import Headers

from samedeal_server.buckets import Limits, Rate
from samedeal_server.door import Door, Proxies, Visitor, origins
from samedeal_server.errors import CannotServe


def forwarded(*values: str) -> Headers:
    return Headers([("X-Forwarded-For", value) for value in values])


@pytest.mark.parametrize(
    ("trusted", "peer", "headers", "client"),
    [
        ("", "10.0.0.1", forwarded("1.2.3.4"), "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", forwarded("1.2.3.4"), "1.2.3.4"),
        ("10.0.0.0/8", "9.9.9.9", forwarded("1.2.3.4"), "9.9.9.9"),
        ("10.0.0.0/8", "10.0.0.1", forwarded("6.6.6.6, 1.2.3.4"), "1.2.3.4"),
        ("10.0.0.0/8", "10.0.0.1", forwarded("1.2.3.4, 10.0.0.7"), "1.2.3.4"),
        ("10.0.0.0/8", "10.0.0.1", forwarded("1.2.3.4", "10.0.0.7"), "1.2.3.4"),
        ("10.0.0.0/8", "10.0.0.1", forwarded("nonsense"), "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", forwarded(), "10.0.0.1"),
        ("::1", "::1", forwarded("2001:db8::5"), "2001:db8::/64"),
        ("", "2001:db8:0:0:8:7:6:5", forwarded(), "2001:db8::/64"),
        ("", "::ffff:9.9.9.9", forwarded(), "9.9.9.9"),
        ("10.0.0.0/8", "::ffff:10.0.0.1", forwarded("1.2.3.4"), "1.2.3.4"),
        ("10.0.0.1", "", forwarded("1.2.3.4"), "1.2.3.4"),
    ],
    ids=[
        "nobody is trusted",
        "a trusted proxy",
        "a stranger cannot forge it",
        "what a client wrote before the proxy did",
        "two proxies in one line",
        "two proxies in two lines",
        "nonsense",
        "no header",
        "IPv6",
        "the network of one subscriber",
        "IPv4 on a socket for both",
        "a trusted proxy on a socket for both",
        "a proxy on a unix socket",
    ],
)
def test_the_address_is_the_last_that_is_no_trusted_proxy(
    trusted: str, peer: str, headers: Headers, client: str
) -> None:
    assert Proxies.parse(trusted).client(peer, headers) == client


def test_what_is_never_refused_is_counted_by_the_rate_of_actions() -> None:
    visitor = Visitor(Door[str](Limits(actions=Rate(2, 1))), "ada", "", 0.0)
    assert [visitor.is_hasty(0.0) for _ in range(3)] == [False, False, True]
    assert not visitor.is_hasty(1.0)
    assert visitor.action_wait_s(1.0) == 0
    unlimited = Visitor(Door[str](Limits(actions=None)), "ada", "", 0.0)
    assert not any(unlimited.is_hasty(0.0) for _ in range(1000))


def test_proxies_that_are_no_network_are_refused_by_name() -> None:
    with pytest.raises(CannotServe, match=r"'10\.0\.0\.0/99'"):
        Proxies.parse("::1, 10.0.0.0/99")


def test_programs_without_an_origin_always_pass() -> None:
    assert origins(("https://a.example",)) == [None, "https://a.example"]


@pytest.mark.parametrize("text", ["a.example", "ws://a.example", "https://", "https://a/b"])
def test_what_cannot_be_an_origin_is_refused_by_name(text: str) -> None:
    with pytest.raises(CannotServe, match=text):
        origins((text,))


def door() -> Door[int]:
    return Door(Limits(), most=3, most_of_address=2)


def test_where_too_many_are_silent_the_oldest_has_to_go() -> None:
    here = door()
    assert [here.arrived(guest, 0.0) for guest in range(3)] == [None] * 3
    assert here.arrived(3, 0.0) == 0
    here.passed(0, "")
    here.passed(1, "")
    assert here.arrived(4, 0.0) is None


def test_of_one_address_the_oldest_silent_one_has_to_go() -> None:
    here = door()
    assert [here.came_from(guest, "a") for guest in (0, 1)] == [None, None]
    assert here.came_from(2, "b") is None
    assert here.came_from(3, "a") == 0
    here.passed(0, "a")
    here.passed(1, "a")
    assert here.came_from(4, "a") is None


def test_who_is_silent_for_too_long_is_named_in_order() -> None:
    here = door()
    here.arrived(1, 0.0)
    here.arrived(2, 3.0)
    assert here.overdue(4.9, within_s=5) == []
    assert here.overdue(5.0, within_s=5) == [1]
    assert here.overdue(8.0, within_s=5) == [1, 2]
