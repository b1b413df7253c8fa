"""Too fast, too many, from the wrong page: refused or slowed down, and nobody else is hurt."""

from __future__ import annotations

import asyncio
import os
import ssl
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
import trustme
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.limits import SUBPROTOCOL
from samedeal.protocol.people_messages import LinkMade
from samedeal_client.connection import Client, Race
from support import ServerProcess, eventually, run_cli
from wire import Wire, wired

OURS = [Subprotocol(SUBPROTOCOL)]


async def racing(stack: AsyncExitStack, url: str) -> tuple[Wire, Race, str]:
    """A raw connection and a client in one race that runs, and its id."""
    one = await stack.enter_async_context(wired(url, "flood"))
    two = await stack.enter_async_context(Client(url, name="calm"))
    race = await two.create_race("lanes", countdown_s=0)
    await one.seated(ask.Join(id=one.next_id(), code=race.code))
    await one.done(ask.Ready(id=one.next_id(), race=race.id))
    await race.ready()
    await race.until_go()
    await eventually(lambda: bool(one.all(say.Go)))
    return one, race, race.id


async def test_p47_a_flood_is_told_to_slow_down_and_no_accepted_move_is_lost(
    server_url: str,
) -> None:
    async with AsyncExitStack() as stack:
        flood, race, race_id = await racing(stack, server_url)
        requests = range(10_000, 12_000)
        for number in requests:
            # A draw now, and from then on conflicts and gaps: each needs its one answer.
            message = ask.PlayMove(id=number, race=race_id, seq=number - 9_999, move="draw")
            await flood.send(message)
        await race.move("draw")
        await eventually(lambda: {getattr(m, "id", None) for m in flood.heard} >= set(requests), 60)
        refused = [m for m in flood.all(say.Refused) if m.id in requests]
        slowed = [m for m in refused if m.code is ErrorCode.SLOW_DOWN]
        assert slowed
        assert all(m.retry_ms for m in slowed)
        acks = [m for m in flood.all(say.Ack) if m.id in requests]
        assert len(acks) + len(refused) == len(requests)
        assert [m.seq for m in acks] == list(range(1, len(acks) + 1))
        again = await flood.request(ask.Resume(id=flood.next_id(), race=race_id))
        assert isinstance(again, say.Seated)
        assert again.seq == len(acks)


async def test_pings_are_free(server_url: str) -> None:
    async with wired(server_url, "pinger") as wire:
        for number in range(3000):
            await wire.send(ask.Ping(id=number + 1000))
        await eventually(lambda: len(wire.all(say.Pong)) == 3000)
        assert not wire.all(say.Refused)


def answered(wire: Wire, count: int) -> bool:
    ids = [int(getattr(message, "id", None) or 0) for message in wire.heard]
    return sum(number >= 1000 for number in ids) == count


async def test_one_account_cannot_ask_faster_by_many_connections(server_url: str) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(wired(server_url, "many"))
        wires = [
            await stack.enter_async_context(wired(server_url, "many", token=first.token))
            for _ in range(4)
        ]
        for wire in wires:
            for number in range(60):
                await wire.send(ask.BoardGet(id=1000 + number, game="lanes"))
        for wire in wires:
            await eventually(partial(answered, wire, 60))
        slowed = [m for wire in wires for m in wire.all(say.Refused)]
        assert slowed
        assert {m.code for m in slowed} == {ErrorCode.SLOW_DOWN}


async def test_300_users_behind_one_address_get_in(server_url: str) -> None:
    async with AsyncExitStack() as stack:
        clients = [Client(server_url, name=f"pupil-{number}") for number in range(300)]
        await asyncio.gather(*(stack.enter_async_context(client) for client in clients))
        assert len({client.token for client in clients}) == 300


async def test_new_accounts_from_one_address_are_limited_and_known_players_are_not(
    tmp_path: Path,
) -> None:
    with ServerProcess(tmp_path, "--limit-hellos", "2:0.001") as server:
        async with wired(server.url, "first") as first, wired(server.url, "second"):
            async with connect(server.url, subprotocols=OURS) as socket:
                await socket.send(encode(ask.Hello(id=1, name="third")))
                refused = decode_server(await socket.recv())
                assert isinstance(refused, say.Refused)
                assert refused.code is ErrorCode.SLOW_DOWN
                assert refused.retry_ms
            async with wired(server.url, "first", token=first.token):
                pass


async def test_who_guesses_link_codes_is_held_up_whatever_it_guesses(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, "--limit-hellos", "4:0.001") as server:
        async with wired(server.url, "ada") as ada, connect(server.url, subprotocols=OURS) as thief:
            code = (await ada.get(LinkMade, ask.LinkMake)).code
            told = []
            for guess in ("2222222222", "2222222223", "2222222224", "2222222225", code):
                await thief.send(encode(ask.Hello(id=1, link=guess)))
                refused = decode_server(await thief.recv())
                assert isinstance(refused, say.Refused)
                told.append(refused.code)
            # No answer tells a right code from a wrong one, and the account's owner gets in.
            assert told == [ErrorCode.NOT_FOUND] * 3 + [ErrorCode.SLOW_DOWN] * 2
            async with wired(server.url, "ada", token=ada.token):
                pass


async def silent(url: str) -> ClientConnection:
    return await connect(url, subprotocols=OURS, ping_interval=None, open_timeout=30)


async def test_p25_a_crowd_of_silent_sockets_keeps_nobody_out(server_url: str) -> None:
    sockets: list[ClientConnection] = []
    try:
        for _ in range(20):
            sockets += await asyncio.gather(*(silent(server_url) for _ in range(60)))
            async with Client(server_url, name="real"):
                pass
        open_ = [socket for socket in sockets if socket.close_code is None]
        assert len(open_) <= 600
        with pytest.raises(ConnectionClosed):
            await sockets[0].recv()
        assert sockets[0].close_code == 1008
    finally:
        for socket in sockets:
            socket.transport.abort()


async def test_p25_a_foreign_page_is_turned_away_at_the_handshake(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, "--origin", "https://play.example") as server:
        ours = Origin("https://play.example")
        async with connect(server.url, subprotocols=OURS, origin=ours):
            pass
        async with connect(server.url, subprotocols=OURS):
            pass
        with pytest.raises(InvalidStatus, match="403"):
            await connect(server.url, subprotocols=OURS, origin=Origin("https://evil.example"))


async def test_without_a_list_no_page_may_connect(server_url: str) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        await connect(server_url, subprotocols=OURS, origin=Origin("https://evil.example"))


async def test_connections_beyond_the_most_are_turned_away_and_may_come_later(
    tmp_path: Path,
) -> None:
    with ServerProcess(tmp_path, "--max-connections", "2") as server:
        async with wired(server.url, "one"):
            async with wired(server.url, "two"):
                with pytest.raises(InvalidStatus, match="503"):
                    await connect(server.url, subprotocols=OURS)

            async def gets_in() -> bool:
                try:
                    async with wired(server.url, "three"):
                        return True
                except InvalidStatus:
                    return False

            await eventually(gets_in)


async def test_a_certificate_makes_it_wss(tmp_path: Path) -> None:
    authority = trustme.CA()
    pem = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(pem))
    with ServerProcess(tmp_path / "data", "--tls-cert", str(pem)) as server:
        assert server.url.startswith("wss://")
        trusts = ssl.create_default_context()
        authority.configure_trust(trusts)
        async with connect(server.url, subprotocols=OURS, ssl=trusts) as socket:
            await socket.send(encode(ask.Hello(id=1, name="safe")))
            assert isinstance(decode_server(await socket.recv()), say.Welcome)
        with pytest.raises(ssl.SSLCertVerificationError):
            await connect(server.url, subprotocols=OURS)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--tls-cert", "nowhere.pem"], "nowhere.pem"),
        (["--tls-cert", os.devnull], os.devnull),
        (["--tls-key", "key.pem"], "--tls-cert"),
        (["--origin", "play.example"], "play.example"),
        (["--trusted-proxies", "10.0.0.0/99"], "10.0.0.0/99"),
        (["--limit-actions", "fast"], "fast"),
        (["--max-connections", "0"], "--max-connections 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_bad_setting_is_named_in_one_sentence(options: list[str], named: str) -> None:
    code, out, err = run_cli("serve", "--port", "0", *options)
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1
