"""Boards that the store has lost, and operators' deeds: every row follows from what was played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from closed import FIRST, Who, closed_race
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.days import number_of
from samedeal_server.admin.operators import Operators
from samedeal_server.boards import Boards
from samedeal_server.race import RaceState
from samedeal_server.ratings import Ratings
from samedeal_server.store.accounts import AccountStore
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import RatingStore
from samedeal_server.streaks import Streaks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

pytestmark = pytest.mark.usefixtures("every_key_expires")

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


@pytest.fixture
async def world(redis: Redis) -> World:
    world = World(redis)
    await world.played()
    return world


@pytest.mark.parametrize("kind", BoardKind)
async def test_a_lost_board_of_any_kind_is_made_anew_to_the_last_row(
    world: World, kind: BoardKind
) -> None:
    before = await world.rows()
    # Of people and of bots, whom nobody rates.
    assert await world.lose(kind) >= (2 if kind is BoardKind.RATING else 4)
    assert await world.rows() != before
    await world.operators.rebuild(["lanes"], "lost")
    assert await world.rows() == before


async def shown(world: World) -> dict[str, list[str]]:
    """The rows of each kind of board that anybody sees, as they are stored."""
    of_kind: dict[str, list[str]] = {kind: [] for kind in BoardKind}
    for key, rows in sorted((await world.rows()).items()):
        if isinstance(rows, list):
            of_kind[key.split(":")[2]] += [f"{key} {row}" for row in rows]
    return of_kind


@pytest.mark.parametrize(
    ("deed", "changed"),
    [
        ("ban", {*BoardKind}),
        ("void a race", {BoardKind.WINS, BoardKind.FASTEST, BoardKind.RATING}),
        ("remove a run", {BoardKind.WINS, BoardKind.FASTEST, BoardKind.RATING}),
        ("remove a run of a day", {BoardKind.DAILY, BoardKind.STREAK, BoardKind.SEASON}),
        ("void a day", {BoardKind.STREAK, BoardKind.SEASON}),
    ],
)
async def test_p45_a_deed_changes_every_board_that_follows_and_undone_changes_nothing(
    world: World, deed: str, changed: set[BoardKind]
) -> None:
    ada, _ = world.people[0]
    operators = world.operators
    fast = "race000000000016"
    done: dict[str, tuple[Callable[[], Awaitable[object]], Callable[[], Awaitable[object]]]] = {
        "ban": (lambda: operators.ban(ada, None, ""), lambda: operators.unban(ada, "")),
        "void a race": (
            lambda: operators.void(fast, ""),
            lambda: operators.void(fast, "", unvoid=True),
        ),
        "remove a run": (
            lambda: operators.remove(f"{fast}.1", ""),
            lambda: operators.remove(f"{fast}.1", "", restore=True),
        ),
        "remove a run of a day": (
            lambda: operators.remove("race000000000220.1", ""),
            lambda: operators.remove("race000000000220.1", "", restore=True),
        ),
        "void a day": (
            lambda: operators.void_day(number_of(FIRST) + 2, ["lanes"], ""),
            lambda: operators.void_day(number_of(FIRST) + 2, ["lanes"], "", unvoid=True),
        ),
    }
    do, undo = done[deed]
    everything, before = await world.rows(), await shown(world)
    await do()
    after = await shown(world)
    assert {kind for kind in BoardKind if after[kind] != before[kind]} == changed
    if deed == "ban":
        assert ada not in str(after)
    await undo()
    assert await world.rows() == everything
