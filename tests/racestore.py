"""Races in a real store, through the typed wrappers: players, a lobby, a commit."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal.protocol.fields import RaceOptions
from samedeal_server.race import RaceState, SeatState
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.leases import Outage, Outages
from samedeal_server.store.races import Advanced, Attached, NewRace, RaceStore
from samedeal_server.store.scripts import Script, run
from support import PATIENCE_S

__all__ = ["ADA", "CODE", "COMMIT", "EVA", "IVO", "RACE", "ZOE", "Store", "ear", "new_race"]

RACE, CODE = "race000000000001", "ABCDE"
ADA, IVO, EVA = "ada0000000000000", "ivo0000000000000", "eva0000000000000"
ZOE = "zoe0000000000000"
COMMIT = Script("commit")


@dataclass(frozen=True, slots=True)
class Store:
    """The wrappers of one node, and what the tests ask beside them."""

    redis: Redis
    races: RaceStore

    async def open(self, race_id: str = RACE, **options: Any) -> None:
        """A lobby with ada in seat 1, as host."""
        await self.races.create(new_race(race_id, **options))

    async def running(self, **options: Any) -> tuple[Attached, Attached]:
        """Ada and ivo in a race that has begun, both attached."""
        await self.open(**{"countdown_s": 0, **options})
        await self.races.join(RACE, IVO, "ivo", bot=False)
        for player in (IVO, ADA):
            await self.races.ready(RACE, player, ready=True)
        ada = await self.races.attach(RACE, ADA)
        ivo = await self.races.attach(RACE, IVO)
        assert isinstance(ada, Attached)
        assert isinstance(ivo, Attached)
        await self.advance()
        return ada, ivo

    async def advance(self, race_id: str = RACE, *outages: Outage) -> Advanced | None:
        """Move the race on as a node does that has just read which outages there were."""
        seconds, _ = await self.redis.time()
        return await self.races.advance(race_id, Outages(int(seconds) * 1000, outages))

    async def state(self, race_id: str = RACE) -> RaceState:
        state = await self.races.load(race_id)
        assert state is not None
        return state

    async def set(self, **fields: str | int) -> None:
        """Put the race somewhere else in time."""
        mapping: dict[Any, Any] = fields
        await self.redis.hset(keys.race(RACE), mapping=mapping)

    async def commit(
        self,
        seat: Attached,
        seq: int,
        action: str = "draw",
        *,
        home: int = 0,
        best: int = 0,
        opened: int = 0,
        rose: bool = False,
        won: bool = False,
    ) -> list[Any]:
        """Commit an action as a node does."""
        where = (keys.race(RACE), keys.seat(RACE, seat.seat), keys.log(RACE, seat.seat))
        what: list[str | int] = [seq, action, home, best, opened, int(rose), int(won)]
        reply: list[Any] = await run(self.redis, COMMIT, where, ["n1", seat.epoch, 60_000, *what])
        return reply


def new_race(race_id: str = RACE, *, roster: tuple[SeatState, ...] = (), **options: Any) -> NewRace:
    ada = SeatState(seat=1, player=ADA, name="ada", bot=False)
    return NewRace(
        id=race_id,
        code=CODE,
        game="lanes",
        rules_version=1,
        seed=bytes(32),
        commitment="0" * 64,
        practice=False,
        options=RaceOptions(**options),
        round=1,
        host=1,
        roster=roster or (ada,),
    )


@asynccontextmanager
async def ear(
    url: str, *nodes: str
) -> AsyncIterator[Callable[[], Awaitable[tuple[str, str] | None]]]:
    """Listen at the doorbells of nodes; call it for the next ring: channel and text."""
    redis = StoreAddress.parse(url).client()
    pubsub = redis.pubsub()
    for node in nodes:
        await pubsub.subscribe(keys.bell(node))
        await pubsub.get_message(timeout=PATIENCE_S)

    async def heard() -> tuple[str, str] | None:
        message = await pubsub.get_message(timeout=PATIENCE_S)
        return None if message is None else (message["channel"], message["data"])

    yield heard
    await pubsub.aclose()  # type: ignore[no-untyped-call]
    await redis.aclose()
