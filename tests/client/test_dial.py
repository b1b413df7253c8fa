"""One connection: who may be at the other end, and what its closing says."""

import asyncio

import pytest

from relay import Relay
from samedeal.protocol.client_messages import Hello
from samedeal_client.connection import Client
from samedeal_client.errors import CannotConnect, Refused
from samedeal_client.wire import Wire, addresses
from support import Proxy, eventually

HELLO = Hello(id=1, name="who-dials", or_like=True)
WITHIN_S = 10.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ws://a:1", ("ws://a:1",)),
        ("ws://a:1,wss://b/x", ("ws://a:1", "wss://b/x")),
        (" ws://a:1 , ws://b:2,", ("ws://a:1", "ws://b:2")),
    ],
)
def test_several_addresses_stand_with_commas_between(text: str, found: tuple[str, ...]) -> None:
    assert addresses(text) == found


@pytest.mark.parametrize("text", ["", ",", "a:1", "http://a:1", "ws://", "ws://a:1,b", "ws://a:x"])
def test_what_is_no_address_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(CannotConnect, match="is no address of a server"):
        addresses(text)


@pytest.mark.parametrize(
    ("code", "reason", "asked_ms"),
    [
        (1012, "retry_ms=4321", 4321),
        (1013, "too slow; retry_ms=7", 7),
        (1012, "bye", None),
        (1008, "retry_ms=4321", None),
    ],
)
async def test_the_closing_says_when_to_come_back(
    server_url: str, code: int, reason: str, asked_ms: int | None
) -> None:
    relay = Relay(server_url)
    async with relay as url:
        wire = await Wire.dial(url, HELLO, WITHIN_S)
        await relay.close_all(code, reason)
        assert await wire.receive() is None
        assert wire.retry_ms == asked_ms
        await wire.close()


async def test_a_server_that_takes_the_connection_and_is_silent_is_given_up(
    server_url: str,
) -> None:
    relay = Relay(server_url)
    relay.said = lambda _fields: []
    async with relay as url:
        with pytest.raises(CannotConnect, match="does not answer within"):
            await Wire.dial(url, HELLO, 1.0)


async def test_a_port_that_takes_connections_and_is_silent_is_given_up(server_url: str) -> None:
    proxy = Proxy(("127.0.0.1", int(server_url.rpartition(":")[2])))
    async with proxy as port:
        proxy.lose_replies = True
        with pytest.raises(CannotConnect, match="no samedeal server answers"):
            await Wire.dial(f"ws://127.0.0.1:{port}", HELLO, 0.2)


async def test_a_message_of_a_later_version_may_come_before_the_welcome(server_url: str) -> None:
    relay = Relay(server_url)
    relay.said = lambda fields: [{"type": "motd", "text": "hi"}, fields]
    async with relay as url:
        wire = await Wire.dial(url, HELLO, WITHIN_S)
        assert wire.welcome.name.startswith("who-dials")
        await wire.close()


async def test_a_server_of_something_else_is_named(server_url: str) -> None:
    relay = Relay(server_url)
    relay.said = lambda _fields: [{"type": "pong", "id": 1}]
    async with relay as url:
        with pytest.raises(CannotConnect, match="is no samedeal server"):
            await Wire.dial(url, HELLO, WITHIN_S)


async def test_an_account_that_is_not_known_is_refused(server_url: str) -> None:
    with pytest.raises(Refused):
        await Wire.dial(server_url, Hello(id=1, token=f"{'a' * 16}.{'0' * 64}"), WITHIN_S)


async def test_a_dropped_connection_ends_the_reading(server_url: str) -> None:
    wire = await Wire.dial(server_url, HELLO, WITHIN_S)
    reading = asyncio.create_task(wire.receive())
    await eventually(lambda: not reading.done())
    wire.drop()
    assert await reading is None
    await wire.close()


async def test_the_link_is_measured_without_the_time_it_was_away(server_url: str) -> None:
    proxy = Proxy(("127.0.0.1", int(server_url.rpartition(":")[2])))
    now = asyncio.get_running_loop().time
    async with proxy as port, Client(f"ws://127.0.0.1:{port}", name="pia") as client:
        proxy.refuse = True
        proxy.cut()
        await eventually(lambda: not client.is_connected)
        asked_s, tried = now(), proxy.accepted
        ping = asyncio.create_task(client.ping())
        await eventually(lambda: proxy.accepted > tried)
        back_s, proxy.refuse = now(), False
        assert await ping <= now() - back_s < now() - asked_s
