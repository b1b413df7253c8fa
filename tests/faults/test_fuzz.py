"""Hostile input by the thousand against one server, while honest players race on it."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response

from fuzz import Fuzz
from raw import Raw, binary, opened
from samedeal.engine.moves import DRAW
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_client, decode_server
from samedeal.protocol.errors import BadFrame
from samedeal.protocol.limits import MAX_BAD_FRAMES
from samedeal_client.connection import Client, Race
from support import PATIENCE_S, ServerProcess

AT_ONCE = 8
LAST = 2**31 - 1
"""Number of the ping that ends a connection's requests: all before it are answered."""
MIB = 1024
"""In KiB, as the system counts."""


class Honest:
    """A race of two who know nothing of what goes on beside them."""

    def __init__(self, host: Race, rival: Race) -> None:
        self.races = host, rival
        self.moves = 0
        self._turn = asyncio.Lock()

    async def move(self) -> None:
        """One more move; sally's stock never ends."""
        async with self._turn:
            await self.races[self.moves % 2].move(DRAW)
            self.moves += 1


class Storm:
    """Connections of hostile clients, one after the other, and what is wrong with the answers."""

    def __init__(self, url: str, fuzz: Fuzz, honest: Honest, frames: int) -> None:
        self.url, self.fuzz, self.honest = url, fuzz, honest
        self.left = frames
        self.answered = self.connections = 0

    async def blow(self) -> None:
        """Throw all frames."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(self._one_by_one())

    async def _one_by_one(self) -> None:
        rng = self.fuzz.rng
        while self.left > 0:
            self.connections += 1
            draw = rng.random()
            if draw < 0.7:
                await self._talk(rng.randint(1, 60), most_bad=MAX_BAD_FRAMES - 1)
            elif draw < 0.8:
                await self._talk(60, most_bad=1000)
            elif draw < 0.95:
                await self._break_the_wire()
            else:
                await self._break_the_handshake()
            if self.connections % 5 == 0:
                await self.honest.move()

    async def _hello(self) -> Raw:
        client = Raw(self.url, *await opened(self.url))
        client.protocol.send_request(client.protocol.connect())
        await client.write(b"".join(client.protocol.data_to_send()))
        assert isinstance(await client.event(), Response)
        return client

    def _payloads(self, count: int, most_bad: int) -> tuple[list[bytes | str], Counter[int | None]]:
        """Messages, and how many answers each number is to have."""
        payloads: list[bytes | str] = []
        expected: Counter[int | None] = Counter()
        bad = 0
        if self.fuzz.rng.random() < 0.8:
            token = self.fuzz.rng.choice([None, *self.fuzz.words["token"][-8:]])
            name = None if token else "mallory"
            hello = ask.Hello(id=LAST - 1, token=token, name=name, or_like=token is None)
            payloads.append(bytes(binary(hello).data))
            expected[LAST - 1] += 1
        while len(payloads) < count:
            payload = self.fuzz.payload()
            try:
                number: int | None = decode_client(payload).id
            except BadFrame as error:
                if bad == most_bad:
                    continue
                bad += 1
                number = error.request_id
            payloads.append(payload)
            expected[number] += 1
        return payloads, expected

    async def _talk(self, count: int, most_bad: int) -> None:
        """Say much, and check that each message has its one answer."""
        client = await self._hello()
        payloads, expected = self._payloads(count, most_bad)
        self.left -= len(payloads)
        payloads.append(bytes(binary(ask.Ping(id=LAST)).data))
        expected[LAST] += 1
        got: Counter[int | None] = Counter()
        closed = 0
        is_dismissed = False
        with suppress(ConnectionError):
            for piece in self.fuzz.wired(payloads):
                await client.write(piece)
                if self.fuzz.rng.random() < 0.2:
                    await asyncio.sleep(0)
        while not got[LAST]:
            frame = await client.event(30)
            assert isinstance(frame, Frame)
            if frame.opcode in (Opcode.PING, Opcode.PONG):
                continue
            if frame.opcode is Opcode.CLOSE:
                closed = Close.parse(bytes(frame.data)).code
                break
            message = decode_server(bytes(frame.data))
            if isinstance(message, say.Refused) or getattr(message, "id", None) is not None:
                got[getattr(message, "id", None)] += 1
            # Another connection of the same account may delete it, or replace its token.
            is_dismissed = is_dismissed or isinstance(message, say.Dismissed)
            self._learn(message)
        if got[LAST]:
            assert got == expected
        else:
            assert is_dismissed or most_bad >= MAX_BAD_FRAMES
            assert got <= expected
            assert closed == 1008
        self.answered += got.total()
        await self._drop(client.writer)

    def _learn(self, message: say.ServerMessage) -> None:
        """Keep what opens doors: codes, races and tokens of these clients' own."""
        words = self.fuzz.words
        if isinstance(message, say.Seated):
            words["race"].append(message.race.id)
            words["code"].append(message.race.code)
        elif isinstance(message, say.Welcome) and message.token:
            words["token"].append(message.token)
        for learnt in words.values():
            # The newest ones: so many connections meet in the same races.
            del learnt[1:-24]

    async def _break_the_wire(self) -> None:
        client = await self._hello()
        payloads, _ = self._payloads(self.fuzz.rng.randint(1, 5), 3)
        self.left -= len(payloads) + 1
        await client.write(b"".join(self.fuzz.wired(payloads)))
        if self.fuzz.rng.random() < 0.3:
            await client.write(self.fuzz.stump())
        else:
            with suppress(ConnectionError):
                await client.write(self.fuzz.violation())
            await self._until_closed(client.reader)
        await self._drop(client.writer)

    async def _break_the_handshake(self) -> None:
        self.left -= 1
        reader, writer = await opened(self.url)
        with suppress(ConnectionError):
            writer.write(self.fuzz.no_handshake())
            writer.write_eof()
            await self._until_closed(reader)
        await self._drop(writer)

    async def _until_closed(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE_S):
                await reader.read()

    async def _drop(self, writer: asyncio.StreamWriter) -> None:
        if self.fuzz.rng.random() < 0.5:
            writer.transport.abort()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    ("frames", "options"),
    [
        pytest.param(3_000, ["--limit-hellos", "off"], id="short"),
        pytest.param(
            100_000,
            [f"--limit-{what}=off" for what in ("actions", "requests", "hellos")],
            marks=[pytest.mark.soak, pytest.mark.timeout(3600)],
            id="long",
        ),
    ],
)
async def test_hostile_clients_harm_neither_the_server_nor_a_race(
    tmp_path: Path, frames: int, options: list[str]
) -> None:
    seed = int(os.environ.get("FUZZ_SEED") or random.randrange(2**32))
    print(f"FUZZ_SEED={seed}")
    fuzz = Fuzz(seed)
    server = ServerProcess(tmp_path, *options)
    with server:
        async with Client(server.url, name="ada") as a, Client(server.url, name="ivo") as b:
            race = await a.create_race("sally", countdown_s=0, time_limit_s=7200)
            rival = await b.join(race.code)
            await rival.ready()
            await race.ready()
            await race.until_go()
            honest = Honest(race, rival)
            rss = [server.rss_kib()]

            async def blow(share: int) -> None:
                storm = Storm(server.url, fuzz, honest, share)
                await storm.blow()
                rss.append(server.rss_kib())
                print(f"{storm.connections} connections, {storm.answered} answers, RSS {rss} KiB")

            # The first share warms the server up. A heap grows by chance now and then, but what is
            # never freed makes it bigger with every share.
            for share in (frames // 5, *[frames * 2 // 5] * 2):
                await blow(share)
            while rss[-1] - rss[-2] >= MIB // 2 and len(rss) < 9:
                await blow(frames * 2 // 5)
            await rival.until(lambda: rival.view.players[0].moves == race.acked)
            assert race.acked + rival.acked == honest.moves
            for client, own in ((a, race), (b, rival)):
                async with Client(server.url, token=client.token) as fresh:
                    again = await fresh.resume(own.id)
                    assert (again.acked, again.table.hash) == (own.acked, own.table.hash)
        assert rss[-1] - rss[-2] < MIB // 2, rss
        logged, code = await asyncio.to_thread(server.stop, 15)
        assert not logged, logged
        assert code == 0
