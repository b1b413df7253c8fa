"""Clients that abuse the connection itself: closed in time, and nothing of them stays behind."""

from __future__ import annotations

import asyncio
import gc
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.server import ServerProtocol

from fuzz import HANDSHAKE
from node import node
from raw import Raw, binary, opened, raw
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.client_messages import Hello, Ping, PlayMove, Resume
from samedeal.protocol.limits import HELLO_WITHIN_S
from samedeal_client.connection import Client
from samedeal_server.buckets import Limits
from samedeal_server.door import Door, Proxies
from samedeal_server.gateway import Gateway
from samedeal_server.room import Room
from samedeal_server.runs import LiveRun
from samedeal_server.session import Session
from samedeal_server.wire import Wire
from support import PATIENCE_S, ServerProcess
from wire import race_of, wired

CLOSE = Frame(Opcode.CLOSE, b"").serialize(mask=True)
HALF = Frame(Opcode.BINARY, b"x" * 200).serialize(mask=True)[:1]


@asynccontextmanager
async def quiet(tmp_path: Path, *options: str) -> AsyncIterator[ServerProcess]:
    """A server that has nothing to complain of, to the end."""
    with ServerProcess(tmp_path, *options) as server:
        yield server
        logged, code = await asyncio.to_thread(server.stop, 15)
        assert not logged, logged
        assert code == 0


async def everything(reader: asyncio.StreamReader) -> bytes:
    """All that is said until the connection ends, cleanly or not."""
    with suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    return b""


BROKEN = (
    # A close, no frame, and more behind a close, right behind the request.
    HANDSHAKE + CLOSE,
    HANDSHAKE + b"\xff" * 50,
    HANDSHAKE + CLOSE + HALF,
    # Empty lines, much behind a refusal, and a flood that ends.
    b"\n" * 5000,
    b"GET / HTTP/1.1\r\n\r\n" + b"\n" * 5000,
    HANDSHAKE + HALF * 9000,
)


@pytest.mark.parametrize("size", [1 << 20, 37], ids=["at once", "in pieces"])
async def test_a_broken_opening_closes_and_is_no_fault_of_the_server(
    tmp_path: Path, size: int
) -> None:
    async with quiet(tmp_path) as server:
        for broken in BROKEN:
            reader, writer = await opened(server.url)
            with suppress(ConnectionError):
                for at in range(0, len(broken), size):
                    writer.write(broken[at : at + size])
                    await writer.drain()
                writer.write_eof()
            await everything(reader)
            await gone(writer)
        async with raw(server.url):
            pass


async def test_frames_right_behind_the_request_are_read_after_its_answer(server_url: str) -> None:
    client = Raw(server_url, *await opened(server_url))
    client.protocol.send_request(client.protocol.connect())
    request = b"".join(client.protocol.data_to_send())
    frames = client.frames(
        Frame(Opcode.PING, b"early"), binary(Hello(id=1, name="early", or_like=True))
    )
    await client.write(request + frames)
    assert isinstance(await client.event(), Response)
    pong = await client.event()
    assert isinstance(pong, Frame)
    assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"early")
    assert isinstance(await client.answer(), say.Welcome)
    await gone(client.writer)


async def test_a_flood_followed_by_the_end_of_the_stream_is_no_fault_of_the_server(
    tmp_path: Path,
) -> None:
    async with quiet(tmp_path) as server:
        for _ in range(2):
            async with raw(server.url) as client:
                client.writer.write(client.frames(*[binary(Ping(id=1))] * 2000))
                client.writer.write_eof()
                await everything(client.reader)


async def gone(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def deaf(client: Raw) -> None:
    """Read nothing from now on: what the server says piles up."""
    transport = client.writer.transport
    assert isinstance(transport, asyncio.Transport)
    transport.pause_reading()


async def test_p17_who_pings_and_does_not_read_is_closed_and_costs_no_memory(
    tmp_path: Path,
) -> None:
    async with quiet(tmp_path) as server, raw(server.url) as client:
        before = server.rss_kib()
        deaf(client)
        flood = client.frames(*[Frame(Opcode.PING, b"x" * 125)] * 500)
        with suppress(ConnectionError):
            for _ in range(500):
                await client.write(flood)
        assert client.writer.transport.is_closing()
        assert server.rss_kib() - before < 4 * 1024


async def test_p17_a_racer_who_does_not_read_is_closed_and_the_other_goes_on(
    tmp_path: Path,
) -> None:
    async with (
        quiet(tmp_path, "--limit-requests", "off") as server,
        Client(server.url, name="ada") as a,
        Client(server.url, name="ivo") as b,
    ):
        race = await a.create_race("sally", countdown_s=0)
        rival = await b.join(race.code)
        await rival.ready()
        await race.ready()
        await race.until_go()
        # Each answer to this is the whole log: kilobytes for a few bytes asked.
        again = [binary(Resume(id=2, race=race.id))] * 10
        async with raw(server.url, token=b.token) as client:
            await client.write(client.frames(again[0]))
            assert isinstance(await client.answer(), say.Seated)
            for seq in range(1, 151):
                message = PlayMove(id=1, race=race.id, seq=seq, move="draw")
                await client.write(client.frames(binary(message)))
            await race.until(lambda: race.view.players[1].moves == 150)
            for _ in range(20):
                await client.write(client.frames(*again))
                seats = 0
                while seats < len(again):
                    seats += isinstance(await client.answer(), say.Seated)
        async with raw(server.url, token=b.token, room=4096) as client:
            before = server.rss_kib()
            deaf(client)
            with suppress(ConnectionError):
                for number in itertools.count(1):
                    await client.write(client.frames(*again))
                    if number <= 50:
                        await race.move("draw")
                    # The store has its turn with them too: no more is asked than is answered.
                    await a.boards.page("sally")
            await race.until(lambda: not race.view.players[1].present)
            assert race.acked == 50
            assert server.rss_kib() - before < 2 * 1024


LASTING = (Wire, Session, LiveRun, Room, Table, ServerProtocol)
SILENT = (b"", HANDSHAKE[:40], HANDSHAKE, HANDSHAKE + HALF)
"""Nothing, half a handshake, no hello, one byte of a frame."""


@pytest.mark.parametrize("size", [100, pytest.param(2000, marks=pytest.mark.soak)])
async def test_crowds_that_come_to_nothing_are_closed_and_leave_nothing(
    tmp_path: Path, size: int
) -> None:
    async with quiet(tmp_path) as server:

        async def crowd(*, waits: bool) -> int:
            """A crowd of each kind. Return what the server grew to while all were there."""
            sockets = []
            for said in SILENT * (size // 50):
                some = await asyncio.gather(*(opened(server.url) for _ in range(50)))
                for _, writer in some:
                    writer.write(said)
                sockets += some
            # Others get in meanwhile.
            async with raw(server.url):
                most = server.rss_kib()
            if waits:
                await asyncio.gather(*(everything(reader) for reader, _ in sockets))
            await asyncio.gather(*(gone(writer) for _, writer in sockets))
            return most

        for _ in range(3):
            await crowd(waits=False)
        before = server.rss_kib()
        most = await crowd(waits=True)
        after = server.rss_kib()
        print(f"RSS {before} KiB before, {most} KiB with {4 * size} there, {after} KiB after")
        assert after - before < 1024


async def test_a_server_that_closes_waits_for_everyone_also_if_it_was_empty_before(
    valkey_url: str,
) -> None:
    async with node(valkey_url, "n1") as desk:
        gateway = Gateway(desk, Door[Wire](Limits()), Proxies(()), [None], max_connections=100)
        url = f"ws://127.0.0.1:{await gateway.open('127.0.0.1', 0)}"
        async with wired(url, "early"):
            pass
        async with wired(url, "ada") as ada, wired(url, "ivo") as ivo:
            race = await race_of(ada, ivo)
            await gateway.close()
            assert desk.rooms.get(race) is None
            state = await desk.races.load(race)
            assert state is not None
            assert not any(seat.node for seat in state.seats.values())


async def test_a_connection_that_ends_leaves_nothing_for_the_collector(valkey_url: str) -> None:
    """It hardly ever looks at what lived for a while, as connections of players do."""
    async with node(valkey_url, "n1") as desk:
        door = Door[Wire](Limits())
        gateway = Gateway(desk, door, Proxies(()), [None], max_connections=100)
        url = f"ws://127.0.0.1:{await gateway.open('127.0.0.1', 0)}"
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for said in SILENT:
                _, writer = await opened(url)
                writer.write(said)
                await writer.drain()
                await gone(writer)
            async with wired(url, "ada") as ada, wired(url, "ivo") as ivo:
                race = await race_of(ada, ivo)
                for seq in (1, 2):
                    await ada.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")
                await ivo.get(say.Done, ask.Bank, race=race)
            await gateway.close()
            gc.collect()
            ours = [type(part).__name__ for part in gc.garbage if isinstance(part, LASTING)]
            assert ours == []
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()


async def test_headers_that_trickle_in_are_cut_off_in_time(server_url: str) -> None:
    reader, writer = await opened(server_url)
    ended = asyncio.create_task(everything(reader))
    at = 0
    with suppress(ConnectionError):
        while not ended.done():
            writer.write(HANDSHAKE[:-4][at : at + 1] or b"\r\nX: y")
            await writer.drain()
            at += 1
            await asyncio.wait([ended], timeout=HELLO_WITHIN_S / 20)
    assert await ended == b""
    await gone(writer)
