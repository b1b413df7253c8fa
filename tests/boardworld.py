"""Boards of every kind on which people and bots stand, and the operators at work on them."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from closed import FIRST, Who, closed_race
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.days import number_of
from samedeal_server.admin.operators import Operators
from samedeal_server.boards import Boards
from samedeal_server.ratings import Ratings
from samedeal_server.store.accounts import AccountStore, new_id
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import RatingStore
from samedeal_server.streaks import Streaks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

    from samedeal_server.race import RaceState

__all__ = ["DEEDS", "World", "operated"]

RACES = 16
"""Ranked races, so many that the ratings are proven."""


class World:
    """Boards of one game on which people and bots stand, with the operators."""

    def __init__(self, redis: Redis) -> None:
        races, days = RaceStore(redis, "n1"), DayStore(redis)
        self.redis = redis
        self.accounts = AccountStore(redis)
        self.people: list[Who] = []
        self.boards = Boards(BoardStore(redis), races, days)
        self.streaks = Streaks(days, self.boards.store)
        self.ratings = Ratings(RatingStore(redis), races, self.boards.store)
        self.operators = Operators(redis, "zoe")

    async def book(self, state: RaceState) -> None:
        """What a node does with a closed race that counts."""
        await self.boards.book(state)
        if state.day is None:
            await self.ratings.book(state)
        else:
            await self.streaks.book(state, state.day)

    async def played(self) -> None:
        """Five days and many races; the last races are booked in another order than they closed."""
        self.people = [await self.somebody(name) for name in ("ada", "ivo", "eva")]
        bots = [await self.somebody(name, bot=True) for name in ("robo", "rita")]
        for number in range(RACES):
            first, second, third = (self.people[(number * number + at) % 3] for at in range(3))
            await self.book(closed_race(number, first, second, third, t_ms=50_000 + 7 * number))
        for number in (RACES + 2, RACES, RACES + 1):
            await self.book(closed_race(number, *self.people, t_ms=40_000))
        await self.book(closed_race(100, *bots, bots=True))
        for on in range(5):
            for at, who in enumerate(self.people):
                t_ms = 50_000 + 1000 * ((at + on) % 3)
                await self.book(closed_race(200 + 10 * on + at, who, t_ms=t_ms, on=on))
            for at, who in enumerate(bots):
                await self.book(closed_race(300 + 10 * on + at, who, on=on, bots=True))
        await self.boards.tend()

    async def somebody(self, name: str, *, bot: bool = False) -> Who:
        # The store may be one where others have played.
        name = f"{name}-{new_id()[:8]}"
        account, _ = await self.accounts.create(name, bot=bot)
        return account.player, name

    async def rows(self) -> dict[str, object]:
        """Every row of every board, as it is stored."""
        await self.boards.tend()
        found: dict[str, object] = {}
        for kind in BoardKind:
            async for key in self.redis.scan_iter(match=f"{{b:lanes}}:{kind}:*"):
                is_hash = key.endswith(":of")
                stored = self.redis.hgetall(key) if is_hash else self.redis.zrange(key, 0, -1)
                found[key] = await stored
        return found

    async def lose(self, kind: BoardKind) -> int:
        """Have the store lose all boards of a kind. Return how many keys that were."""
        lost = [key async for key in self.redis.scan_iter(match=f"{{b:lanes}}:{kind}:*")]
        return int(await self.redis.delete(*lost))

    async def shown(self) -> dict[str, list[str]]:
        """The rows of each kind of board that anybody sees, as they are stored."""
        of_kind: dict[str, list[str]] = {kind: [] for kind in BoardKind}
        for key, rows in sorted((await self.rows()).items()):
            if isinstance(rows, list):
                of_kind[key.split(":")[2]] += [f"{key} {row}" for row in rows]
        return of_kind


Deed = tuple[
    set[BoardKind], "Callable[[World], Awaitable[object]]", "Callable[[World], Awaitable[object]]"
]

_FAST = "race000000000016"
_OF_A_DAY = "race000000000220.1"
_DAY = number_of(FIRST) + 2
DEEDS: dict[str, Deed] = {
    "ban": (
        {*BoardKind},
        lambda w: w.operators.ban(w.people[0][0], None, ""),
        lambda w: w.operators.unban(w.people[0][0], ""),
    ),
    "void a race": (
        {BoardKind.WINS, BoardKind.FASTEST, BoardKind.RATING},
        lambda w: w.operators.void(_FAST, ""),
        lambda w: w.operators.void(_FAST, "", unvoid=True),
    ),
    "remove a run": (
        {BoardKind.WINS, BoardKind.FASTEST, BoardKind.RATING},
        lambda w: w.operators.remove(f"{_FAST}.1", ""),
        lambda w: w.operators.remove(f"{_FAST}.1", "", restore=True),
    ),
    "remove a run of a day": (
        {BoardKind.DAILY, BoardKind.STREAK, BoardKind.SEASON},
        lambda w: w.operators.remove(_OF_A_DAY, ""),
        lambda w: w.operators.remove(_OF_A_DAY, "", restore=True),
    ),
    "void a day": (
        {BoardKind.STREAK, BoardKind.SEASON},
        lambda w: w.operators.void_day(_DAY, ["lanes"], ""),
        lambda w: w.operators.void_day(_DAY, ["lanes"], "", unvoid=True),
    ),
}
"""What operators do to the first of the people: the boards it changes, the deed, its undoing."""


async def operated(url: str) -> None:
    """Have operators do all that changes boards, in this process and by their program."""
    client = StoreAddress.parse(url).client()
    world = World(client)
    await world.played()
    before = await world.rows()
    for _, do, undo in DEEDS.values():
        await do(world)
        assert await world.rows() != before
        await undo(world)
        assert await world.rows() == before
    for kind in BoardKind:
        await world.lose(kind)
    words = ("-m", "samedeal_server.admin.command", "--redis", url, "rebuild", "--game", "lanes")
    program = await asyncio.create_subprocess_exec(sys.executable, *words)
    assert await program.wait() == 0
    assert await world.rows() == before
    assert len(await world.operators.log(100)) == 2 * len(DEEDS) + 1
    await client.aclose()
