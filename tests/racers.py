"""Players who race through the client library, and the proof that nothing of theirs was lost."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis

from samedeal.engine.run import Run, parse_action
from samedeal.protocol import server_messages as say
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.fields import Phase
from samedeal_client.connection import Client, Dropped, Race, Rewound
from samedeal_server.deals import deal
from samedeal_server.rows import Board
from samedeal_server.store import keys
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["GAME", "Racer", "acked", "check_log", "finish", "racing"]

GAME = "sally"
"""Its stock never ends: there is always a move."""
PACE_S = 0.4
"""The longest time that a player thinks."""


@dataclass
class Racer:
    """One who plays anything that is legal, and remembers every acknowledgement."""

    client: Client
    race: Race
    rng: random.Random
    acks: list[tuple[str, say.Ack]] = field(default_factory=list)
    events: list[object] = field(default_factory=list)

    async def listen(self) -> None:
        """Remember what happens, until the client is closed."""
        async for event in self.race.events():
            self.events.append(event)

    async def play(self, done: asyncio.Event, pace_s: float = PACE_S) -> None:
        """Play from GO on until `done`; the last move is acknowledged when this returns."""
        await self.race.until_go()
        while not done.is_set():
            await self.move()
            await asyncio.sleep(self.rng.uniform(0, pace_s))

    async def move(self) -> None:
        """Play one move, and wait until it is acknowledged."""
        move = self.rng.choice(list(self.race.table.legal_moves))
        self.acks.append((str(move), await self.race.move(move)))

    def count(self, kind: type) -> int:
        """How often something happened."""
        return sum(isinstance(event, kind) for event in self.events)


def acked(racers: list[Racer]) -> int:
    """Count the acknowledgements of all."""
    return sum(len(racer.acks) for racer in racers)


@asynccontextmanager
async def racing(
    urls: tuple[str, str], races: int, rng: random.Random
) -> AsyncIterator[list[Racer]]:
    """Races of two that have begun; in each, one who starts at either address."""
    async with AsyncExitStack() as stack:
        racers: list[Racer] = []
        for number in range(races):
            clients = [
                await stack.enter_async_context(
                    Client(url, name=f"p{number}-{side}", patience_s=120)
                )
                for side, url in enumerate(urls)
            ]
            opened = await clients[0].create_race(GAME, countdown_s=0, time_limit_s=7200)
            joined = await clients[1].join(opened.code)
            await joined.ready()
            await opened.ready()
            for client, race in zip(clients, (opened, joined), strict=True):
                racers.append(Racer(client, race, random.Random(rng.random())))
        async with asyncio.TaskGroup() as listening:
            for racer in racers:
                listening.create_task(racer.listen())
            yield racers
            for racer in racers:
                await racer.client.close()


async def finish(racers: list[Racer], socket: str) -> None:
    """End every race, and prove each log and each order against what the players were told."""
    for racer in racers:
        await racer.race.bank()
    for racer in racers:
        await racer.race.until_closed()
    async with Redis(unix_socket_path=socket, decode_responses=True) as redis:
        for racer in racers:
            await check_log(redis, racer)
        for one, other in zip(racers[::2], racers[1::2], strict=True):
            assert one.race.view.order == other.race.view.order
            assert len(one.race.view.order) == 2
            assert await redis.hget(keys.race(one.race.id), "phase") == Phase.CLOSED
        # Each race counts once, though any node may have closed it.
        _, rows = keys.board(Board(GAME, BoardKind.WINS))

        async def all_are_counted() -> bool:
            return None not in await redis.hmget(rows, [racer.client.player for racer in racers])

        await eventually(all_are_counted)
    async for row in racers[0].client.boards.rows(GAME, limit=100):
        assert row.races == 1
    for racer in racers:
        await eventually(lambda racer=racer: racer.count(say.Closed) > 0)  # type: ignore[misc]
        assert (racer.count(say.Closed), racer.count(Dropped)) == (1, 0)


async def check_log(redis: Redis, racer: Racer) -> None:
    """See that the log holds what was acknowledged, each once, and makes the player's table."""
    race = racer.race
    entries: Any = await redis.xrange(keys.log(race.id, race.model.seat))
    assert [(entry, fields["a"]) for entry, fields in entries] == [
        (f"{seq}-0", action) for seq, (action, _) in enumerate(racer.acks, start=1)
    ]
    times = [int(fields["t"]) for _, fields in entries]
    assert [ack.seq for _, ack in racer.acks] == list(range(1, len(entries) + 1))
    if not racer.count(Rewound):  # what was sent again has a time of its own
        assert [ack.t_ms for _, ack in racer.acks] == times
    assert times == sorted(times)
    assert race.view.seed is not None
    run = Run(deal(GAME, bytes.fromhex(race.view.seed)), race.view.options.undo)
    for _, fields in entries:
        run.act(parse_action(fields["a"]), int(fields["t"]))
    assert run.table.hash == race.table.hash == racer.acks[-1][1].hash
