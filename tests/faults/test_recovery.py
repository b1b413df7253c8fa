"""A fresh node recovers every live race of one that was killed: 1,000 races, 2,000 players."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from samedeal.engine.deals import commitment
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW
from samedeal.engine.run import Run, UndoPolicy
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.fields import RaceOptions
from samedeal.protocol.server_messages import Seated
from samedeal_server.race import SeatState
from samedeal_server.store import keys
from samedeal_server.store.accounts import AccountStore
from samedeal_server.store.races import NewRace, RaceStore
from support import ServerProcess

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

RACES = 1000
MOVES = 100
SEED = bytes(range(32))


def played() -> list[str]:
    """A run of the deal: cards go home or to a pile where they can, else the stock is turned."""
    run = Run(Table.deal(game("lanes"), SEED), UndoPolicy.SAFE)
    actions: list[str] = []
    while len(actions) < MOVES:
        moves = list(run.table.legal_moves)
        home = [move for move in moves if move.target.startswith("F")]
        spread = [move for move in moves if move is not DRAW]
        move = (home or (spread if len(actions) % 2 else []) or [DRAW])[0]
        run.act(move, 0)
        actions.append(str(move))
    return actions


async def one_race(redis: Redis, number: int, actions: list[str]) -> list[tuple[str, str]]:
    """Store a race in the middle of its play. Return (race, token) of both players."""
    accounts, races = AccountStore(redis), RaceStore(redis, "nobody")
    rules = game("lanes")
    race_id = f"{number:016d}"
    roster, tokens = [], []
    for seat in (1, 2):
        account, token = await accounts.create(f"p{number}-{seat}", bot=False)
        roster.append(SeatState(seat, account.player, account.name, bot=False))
        tokens.append((race_id, token))
    await races.create(
        NewRace(
            id=race_id,
            code="AAAAA",
            game=rules.id,
            rules_version=rules.version,
            seed=SEED,
            commitment=commitment(rules, SEED),
            practice=True,
            options=RaceOptions(),
            round=1,
            host=1,
            roster=tuple(roster),
        )
    )
    now_ms = int(time.time() * 1000)
    pipe = redis.pipeline(transaction=False)
    times = {"phase": "running", "go_at": now_ms - 60_000, "deadline": now_ms + 900_000}
    pipe.hset(keys.race(race_id), mapping={k: str(v) for k, v in times.items()})
    for seat in (1, 2):
        pipe.hset(keys.seat(race_id, seat), "seq", str(len(actions)))
        for seq, action in enumerate(actions, start=1):
            pipe.xadd(keys.log(race_id, seat), {"a": action, "t": str(seq * 500)}, id=f"{seq}-0")
    await pipe.execute()
    return tokens


class Player(asyncio.Protocol):
    """A socket that kept its run: says hello, resumes and waits for the answer."""

    def __init__(self, url: str, race_id: str, token: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._greeting = (
            f"GET / HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {limits.SUBPROTOCOL}\r\n\r\n"
        ).encode()
        self._greeting += _frame(encode(ask.Hello(id=1, token=token)))
        self._greeting += _frame(encode(ask.Resume(id=2, race=race_id, have=MOVES)))
        self._seen = bytearray()
        self.seated: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._greeting)

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while (frame := self._next_frame()) is not None:
            # Reading each whole would cost this process more than the server.
            if frame.endswith(b"\xa6seated") and not self.seated.done():
                self.seated.set_result(frame)

    def _next_frame(self) -> bytes | None:
        """Take a message off what came, as soon as it is there whole."""
        seen = self._seen
        if seen.startswith(b"HTTP"):
            end = seen.find(b"\r\n\r\n")
            if end < 0:
                return None
            del seen[: end + 4]
        if len(seen) < 4:
            return None
        start, length = (4, int.from_bytes(seen[2:4], "big")) if seen[1] == 126 else (2, seen[1])
        if len(seen) < start + length:
            return None
        frame = bytes(seen[start : start + length])
        del seen[: start + length]
        return frame


def _frame(payload: bytes) -> bytes:
    """A masked binary frame; a mask of zeros leaves the payload as it is."""
    head = bytes([0x82]) + (
        bytes([0x80 | len(payload)])
        if len(payload) < 126
        else bytes([0x80 | 126]) + len(payload).to_bytes(2, "big")
    )
    return head + bytes(4) + payload


async def all_come_back(url: str, seats: list[tuple[str, str]]) -> tuple[float, list[Player]]:
    """Have every player connect and resume at once. Return the seconds until the last is seated."""
    loop = asyncio.get_running_loop()
    host, _, port = urlsplit(url).netloc.partition(":")
    players = [Player(url, *seat) for seat in seats]
    fifty = asyncio.Semaphore(50)
    began = time.perf_counter()

    async def connect(player: Player) -> None:
        async with fifty:
            await loop.create_connection(lambda: player, host, int(port))

    await asyncio.gather(*(connect(player) for player in players))
    async with asyncio.timeout(100):
        await asyncio.gather(*(player.seated for player in players))
    return time.perf_counter() - began, players


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_a_fresh_node_recovers_a_thousand_live_races(
    valkey_url: str, redis: Redis, tmp_path: Path
) -> None:
    actions = played()
    seats = []
    for number in range(RACES):
        seats += await one_race(redis, number, actions)
    store = ("--redis", valkey_url)
    with ServerProcess(tmp_path, *store) as killed:
        first_s, players = await all_come_back(killed.url, seats)
        killed.stop(signal.SIGKILL)
    for player in players:
        player.transport.abort()
    with ServerProcess(tmp_path, *store) as fresh:
        recovered_s, players = await all_come_back(fresh.url, seats)
        print(
            f"{RACES} races of 2 players and {MOVES} moves each, resumed over {len(seats)} sockets "
            f"at once: {recovered_s:.2f} s (on the node before, first come: {first_s:.2f} s)"
        )
        for player in players:
            player.transport.abort()
    seated = [decode_server(player.seated.result()) for player in players]
    assert all(isinstance(answer, Seated) and answer.seq == MOVES for answer in seated)
