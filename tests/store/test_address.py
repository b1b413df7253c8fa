"""What `--redis URL` may say."""

import pytest

from samedeal_server.errors import CannotServe
from samedeal_server.store.address import Login, Node, StoreAddress, Topology


def test_a_full_url_is_read_whole() -> None:
    address = StoreAddress.parse("rediss://ann:s%40fe@store.example:6380/3?ssl_cert_reqs=none")
    assert address.nodes == (Node("store.example", 6380),)
    assert address.tls is not None
    assert not address.tls.verify
    assert (address.login, address.database) == (Login("ann", "s@fe"), 3)


def test_a_socket_is_a_path_with_an_optional_database() -> None:
    address = StoreAddress.parse("unix:///run/store.sock?db=2")
    assert (address.nodes[0].path, address.database) == ("/run/store.sock", 2)
    assert address.tls is None


def test_valkey_is_another_word_for_redis() -> None:
    assert StoreAddress.parse("valkey://127.0.0.1").nodes == (Node("127.0.0.1", 6379),)
    assert StoreAddress.parse("valkeys://h") == StoreAddress.parse("rediss://h")


def test_sentinels_are_a_list_with_a_service() -> None:
    address = StoreAddress.parse(
        "redis+sentinel://:pw@a:1,[::1]:2,c/races/4?sentinel_username=s&sentinel_password=t"
    )
    assert address.topology is Topology.SENTINEL
    assert address.nodes == (Node("a", 1), Node("::1", 2), Node("c", 26379))
    assert (address.service, address.database) == ("races", 4)
    assert (address.login, address.sentinel_login) == (Login(None, "pw"), Login("s", "t"))


def test_a_cluster_is_a_list_of_some_of_its_nodes() -> None:
    address = StoreAddress.parse("rediss+cluster://a:1,b")
    assert (address.topology, address.tls is not None) == (Topology.CLUSTER, True)
    assert address.nodes == (Node("a", 1), Node("b", 6379))


@pytest.mark.parametrize("url", ["redis://ann:hush@h:1", "redis+sentinel://ann:hush@h:1/races"])
def test_a_log_never_shows_the_password(url: str) -> None:
    shown = StoreAddress.parse(url).shown
    assert "h:1" in shown
    assert "hush" not in shown


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "write redis://HOST:PORT"),
        ("localhost:6379", "write redis://HOST:PORT"),
        ("http://h", "write redis://HOST:PORT"),
        ("memory://", "write redis://HOST:PORT"),
        ("redis+magic://h", "write redis://HOST:PORT"),
        ("unix+cluster:///s", "write redis://HOST:PORT"),
        ("redis://h:port", "h:port is not HOST:PORT"),
        ("redis://h:99999", "h:99999 is not HOST:PORT"),
        ("redis://a:1,b:2", "one host, please"),
        ("redis://h/two", "two is not the number of a database"),
        ("redis://h?colour=red", "nothing is known of colour"),
        ("redis://ann@h", "a user without a password"),
        ("unix://", "the path of the socket is missing"),
        ("redis+sentinel://a:1,b:2", "say which service"),
        ("redis+cluster://a:1/3", "one database only"),
        ("rediss://h?ssl_cert_reqs=maybe", "ssl_cert_reqs is required or none"),
        ("rediss://h?ssl_ca_certs=/nowhere", "TLS files cannot be read"),
    ],
)
def test_anything_else_is_refused_with_a_sentence(url: str, sentence: str) -> None:
    with pytest.raises(CannotServe, match="--redis") as refused:
        StoreAddress.parse(url)
    assert sentence in str(refused.value)
