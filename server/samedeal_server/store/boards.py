"""Boards in the store: a player's runs, the rows that follow from them, and pages of rows."""

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.results import Result, Update
from samedeal_server.rows import Board, Row
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.friends import FriendStore
from samedeal_server.store.scripts import Script, run

__all__ = ["MOST_ROWS", "BoardStore", "Label", "Page", "Shown"]

MOST_ROWS = 2_000_000
"""Rows that a board keeps: the last ones go when there are more."""

_BOOK = Script("board_book")
_PAGE = Script("board_page")
_HIDE = Script("board_hide")
_CHECKING_MS = 600_000
"""Who takes on a check is given up after so long."""
_REPORT_MS = 90 * 24 * 3600 * 1000
_LATE = Script("board_late")
_DUE = Script("board_due")
_DONE = Script("board_done")
_AT_ONCE = 100
"""Boards that one script looks at."""


@dataclass(frozen=True, slots=True)
class Label:
    """How a player is called on boards."""

    name: str
    bot: bool

    @property
    def text(self) -> str:
        """As it is stored."""
        return f"{int(self.bot)}{self.name}"

    @classmethod
    def parse(cls, text: str) -> "Label":
        """Read a stored one."""
        return cls(text[1:] or "unknown", text[:1] == "1")


@dataclass(frozen=True, slots=True)
class Shown:
    """A row with its place: 1 + the number of strictly better ones."""

    place: int
    row: Row
    label: Label


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a board that stand together, or those of friends."""

    now_ms: int
    total: int
    before: int
    """Rows of the board before the first of these."""
    rows: tuple[Shown, ...]
    me: Shown | None = None
    equal: int = 0
    """Rows that share the own place, the own one too."""


@translates_faults
class BoardStore:
    """Write results and rows, read pages. Every call may be repeated."""

    def __init__(self, redis: Redis, *, most_rows: int = MOST_ROWS) -> None:
        self._redis = redis
        self._most_rows = most_rows
        self.friends = FriendStore(redis)

    async def book(
        self,
        game: str,
        result: Result,
        updates: Sequence[Update],
        label: Label | None = None,
        *,
        change: str = "post",
        day_due_ms: int = 0,
    ) -> bool:
        """Post, remove or restore a result, with what that changes. False if it was removed.

        `label` names who is not named yet. A `day_due_ms` says when the result's day is over.
        """
        args = _change(result.player, label, change, result.text)
        if day_due_ms:
            args[4:] = [result.day, day_due_ms]
        return await self._book(game, result.player, args, updates)

    async def put(self, board: Board, row: Row, label: Label | None = None) -> None:
        """Set a player's row of a board whose rows somebody else computes."""
        args = _change(row.player, label)
        await self._book(board.game, row.player, args, [Update(board, "set", row.text)])

    async def drop(self, player: str, boards: Sequence[Board]) -> None:
        """Take a player's rows off boards of one game for good."""
        for at in range(0, len(boards), _AT_ONCE):
            todo = [Update(board, "drop") for board in boards[at : at + _AT_ONCE]]
            await self._book(boards[0].game, player, _change(player), todo)

    async def _book(
        self, game: str, player: str, args: list[str | int], updates: Sequence[Update]
    ) -> bool:
        where = [
            keys.runs(game, player),
            keys.board_names(game),
            keys.hidden(game),
            keys.days_due(game),
        ]
        args.append(self._most_rows)
        for update in updates:
            board = update.board
            where += keys.board(board)
            args += [update.word, board.order.width, board.expires_ms, update.one, update.two]
        return bool(await run(self._redis, _BOOK, where, args))

    async def top(self, board: Board, limit: int, *, me: str = "") -> Page:
        """Read the first rows."""
        return await self._page(board, "top", limit, me)

    async def after(self, board: Board, row: str, limit: int, *, me: str = "") -> Page:
        """Read the rows after one, which need not be there any more."""
        return await self._page(board, "after", limit, me, row)

    async def before(self, board: Board, row: str, limit: int, *, me: str = "") -> Page:
        """Read the rows that lead up to one, which need not be there any more."""
        return await self._page(board, "before", limit, me, row)

    async def around(self, board: Board, limit: int, *, me: str) -> Page:
        """Read the rows around a player's; none if it has no row."""
        return await self._page(board, "around", limit, me)

    async def of(self, board: Board, players: Sequence[str], *, me: str = "") -> Page:
        """Read the rows of some players, in order."""
        page = await self._page(board, "friends", len(players), me, *players)
        rows = sorted(page.rows, key=lambda shown: shown.row.text)
        return Page(page.now_ms, page.total, 0, tuple(rows), page.me, page.equal)

    async def _page(self, board: Board, word: str, limit: int, me: str, *args: str) -> Page:
        found = await run(
            self._redis,
            _PAGE,
            [*keys.board(board), keys.board_names(board.game)],
            [board.order.width, word, limit, me, *args],
        )
        now_ms, total, before, mine, place, equal, *rest = found
        own = None
        if mine:
            own = Shown(place, Row.parse(board.kind, mine), Label.parse(rest.pop()))
        rows = tuple(
            Shown(place, Row.parse(board.kind, row), Label.parse(label))
            for row, place, label in zip(rest[::3], rest[1::3], rest[2::3], strict=True)
        )
        return Page(int(now_ms), total, before, rows, own, equal)

    async def hide(self, game: str, player: str, boards: Sequence[Board], *, hide: bool) -> int:
        """Keep a player off boards until it is shown again. Return how many rows moved."""
        moved = 0
        for at in range(0, max(1, len(boards)), _AT_ONCE):
            where = [keys.hidden(game)]
            for board in boards[at : at + _AT_ONCE]:
                where += keys.board(board)
            moved += await run(self._redis, _HIDE, where, [player, int(hide)])
        return moved

    async def name(self, game: str, player: str, label: Label) -> None:
        """Call a player by this name on every board of a game."""
        await self._redis.hset(keys.board_names(game), player, label.text)

    async def players(self, game: str) -> AsyncIterator[tuple[str, Label]]:
        """Go through all who are or were on a board of a game."""
        async for player, text in self._redis.hscan_iter(keys.board_names(game), count=500):
            yield player, Label.parse(text)

    async def label(self, game: str, player: str) -> Label | None:
        """How a player is called on the boards of a game."""
        text: Any = await self._redis.hget(keys.board_names(game), player)
        return None if text is None else Label.parse(text)

    async def results(
        self, game: str, player: str, *, removed: bool = False, limit: int = 1000
    ) -> AsyncIterator[Result]:
        """Go through the results of a player that count, or those that were removed."""
        key, last = keys.runs(game, player), "(x" if removed else "-"
        while True:
            top = "+" if removed else "(x"
            found: Any = await self._redis.zrangebylex(key, last, top, start=0, num=limit)
            for text in found:
                yield Result.parse(player, text[1:] if removed else text)
            if len(found) < limit:
                return
            last = f"({found[-1]}"

    async def wipe(self, boards: Sequence[Board]) -> None:
        """Forget all rows of boards."""
        for board in boards:
            await self._redis.unlink(*keys.board(board))

    async def forget(self, game: str, player: str) -> None:
        """Forget a player's results and name; its rows have to be dropped before."""
        await self._redis.unlink(keys.runs(game, player))
        await self._redis.hdel(keys.board_names(game), player)

    async def has(self, game: str, result: Result) -> bool:
        """Whether a player has this very result."""
        key = keys.runs(game, result.player)
        return await self._redis.zscore(key, result.text) is not None

    async def sample(self, board: Board, first: int, others: int, rng: random.Random) -> list[Row]:
        """Read the first rows, and some others at random; those that have a run to show."""
        key, _ = keys.board(board)
        total = await self._redis.zcard(key)
        ranks = [*range(min(first, total))]
        ranks += rng.sample(range(len(ranks), total), min(others, total - len(ranks)))
        if not ranks:
            return []
        pipe = self._redis.pipeline(transaction=False)
        for rank in ranks:
            pipe.zrange(key, rank, rank)
        found = [text for texts in await pipe.execute() for text in texts]
        return [row for text in found if (row := Row.parse(board.kind, text)).run]

    async def may_check(self, day: str) -> bool:
        """Take on the check of a day, unless it is done or somebody is at it."""
        return bool(await self._redis.set(keys.check(day), "", nx=True, px=_CHECKING_MS))

    async def still_checking(self, day: str) -> None:
        """Go on with the check of a day that was taken on."""
        await self._redis.set(keys.check(day), "", px=_CHECKING_MS)

    async def left_unchecked(self, day: str) -> None:
        """Give up the check of a day: somebody else may take it on at once."""
        await self._redis.delete(keys.check(day))

    async def checked(self, day: str, report: str) -> None:
        """Keep the report of a day's check."""
        await self._redis.set(keys.check(day), report, px=_REPORT_MS)

    async def report(self, day: str) -> str | None:
        """The report of a day's check, as JSON; None if there is none, or none yet."""
        text: Any = await self._redis.get(keys.check(day))
        return str(text) if text else None

    async def days_due(self, game: str) -> list[tuple[str, int]]:
        """Days that are over and whose week has to be worked out, with the time that was due."""
        found = await run(self._redis, _LATE, [keys.days_due(game)], [20])
        return [(day, int(due)) for day, due in zip(found[::2], found[1::2], strict=True)]

    async def day_is_due(self, game: str, day: str, due_ms: int) -> None:
        """Have the week of a day worked out anew, not before a time."""
        await run(self._redis, _DUE, [keys.days_due(game)], [day, due_ms])

    async def day_done(self, game: str, day: str, due_ms: int) -> None:
        """The week of a day is worked out, unless the day became due anew meanwhile."""
        await run(self._redis, _DONE, [keys.days_due(game)], [day, due_ms])

    async def rows(self, board: Board, limit: int = 1000) -> AsyncIterator[Row]:
        """Go through all rows of a board, in order."""
        last = "-"
        while True:
            found: Any = await self._redis.zrangebylex(
                keys.board(board)[0], last, "+", start=0, num=limit
            )
            for text in found:
                yield Row.parse(board.kind, text)
            if len(found) < limit:
                return
            last = f"({found[-1]}"


def _change(
    player: str, label: Label | None = None, change: str = "none", result: str = ""
) -> list[str | int]:
    """The first arguments of board_book.lua, for a result of no day that is due."""
    return [player, "" if label is None else label.text, change, result, "", 0]
