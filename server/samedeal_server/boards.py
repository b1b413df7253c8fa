"""The leaderboards: what closed races write on them, and what operators change."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import date

from samedeal.engine.games import GAMES
from samedeal.protocol.board_messages import BoardKind, Period
from samedeal.protocol.days import GRACE_MS, begins_at_ms, number_of
from samedeal.protocol.limits import DELETED_PLAYER
from samedeal_server.race import RaceState
from samedeal_server.results import Result, results_of, updates
from samedeal_server.rows import KEPT_MS, PERIODS, Board, Span, period_of
from samedeal_server.seasons import points
from samedeal_server.store.boards import BoardStore, Label
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore

__all__ = ["Boards"]

_AT_ONCE = 16
"""Results booked at the same time when a board is made anew."""


class Boards:
    """Writes the boards. All of it may be repeated, and ends in the same rows in any order.

    A row follows from its player's results, so whatever changes those says so here.
    """

    def __init__(self, store: BoardStore, races: RaceStore, days: DayStore) -> None:
        self.store = store
        self._races = races
        self._days = days

    async def book(self, state: RaceState) -> None:
        """Write what a closed race is worth."""
        for result, label in _labelled(state):
            todo = updates(state.game, result, bots=label.bot)
            due_ms = 0 if state.day is None else state.day.closes_at_ms
            await self.store.book(state.game, result, todo, label, day_due_ms=due_ms)

    # Operators

    async def hide(self, player: str) -> None:
        """Keep a player off every board, whatever it plays, until it is shown again."""
        await self._hide(player, hide=True)

    async def show(self, player: str) -> None:
        """Put a player back where it would be."""
        await self._hide(player, hide=False)

    async def _hide(self, player: str, *, hide: bool) -> None:
        now_ms = await self._days.now_ms()
        for game in GAMES:
            label = await self.store.label(game, player)
            kept = () if label is None else _kept(game, now_ms, bots=label.bot)
            await self.store.hide(game, player, list(kept), hide=hide)
            await self._seasons_anew(game, [r async for r in self.store.results(game, player)])

    async def forget(self, player: str) -> None:
        """Take a player off every board for good, and forget what it played.

        Its id stays among the hidden: ratings of others follow from races it was in, and a race
        of its may close just now.
        """
        await self.hide(player)
        now_ms = await self._days.now_ms()
        for game in GAMES:
            if (label := await self.store.label(game, player)) is not None:
                await self.store.drop(player, list(_kept(game, now_ms, bots=label.bot)))
            await self.store.forget(game, player)

    async def rename(self, player: str, name: str, *, bot: bool) -> None:
        """Call a player by another name on every board."""
        for game in GAMES:
            await self.store.name(game, player, Label(name, bot))

    async def remove(self, run: str) -> bool:
        """Take a run, `race.seat`, off the boards; the player's next best takes its place.

        Return whether there is such a run that counts.
        """
        return await self._change(run, "remove")

    async def restore(self, run: str) -> bool:
        """Put a removed run back. Return whether there is such a run."""
        return await self._change(run, "restore")

    async def void(self, race: str) -> bool:
        """Take all runs of a race off the boards. Return whether it counts for anything."""
        return await self._change(race, "remove")

    async def unvoid(self, race: str) -> bool:
        """Put all runs of a race back. Return whether it counts for anything."""
        return await self._change(race, "restore")

    async def _change(self, which: str, change: str) -> bool:
        found = [one async for one in self._find(which)]
        for game, result, label in found:
            todo = updates(game, result, bots=label.bot, anew=change == "remove")
            await self.store.book(game, result, todo, label, change=change)
            await self._seasons_anew(game, [result])
        return bool(found)

    async def _find(self, which: str) -> AsyncIterator[tuple[str, Result, Label]]:
        """The results of a run or a race: from its record, or if that is gone from all players."""
        state = await self._races.load(which[:16])
        if state is not None:
            for result, label in _labelled(state):
                if result.run.startswith(which):
                    yield state.game, result, label
            return
        for game in GAMES:
            async for player, label in self.store.players(game):
                for removed in (False, True):
                    async for result in self.store.results(game, player, removed=removed):
                        if result.run.startswith(which):
                            yield game, result, label

    async def rebuild(self, game: str) -> int:
        """Make the boards of a game anew from the results. Return how many there were.

        Meanwhile rows are missing; races that close are booked as ever.
        """
        now_ms = await self._days.now_ms()
        made_of = (BoardKind.WINS, BoardKind.FASTEST, BoardKind.DAILY, BoardKind.SEASON)
        for bots in (False, True):
            kept = _kept(game, now_ms, bots=bots)
            await self.store.wipe([board for board in kept if board.kind in made_of])
        count, weeks = 0, set()
        async for player, label in self.store.players(game):
            waiting = []
            async for result in self.store.results(game, player):
                count += 1
                if result.day:
                    weeks.add(_week_of(result.day))
                todo = updates(game, result, bots=label.bot)
                waiting.append(self.store.book(game, result, todo))
                if len(waiting) == _AT_ONCE:
                    await asyncio.gather(*waiting)
                    waiting = []
            await asyncio.gather(*waiting)
        for week in sorted(weeks):
            await self.season(game, week)
        return count

    # Seasons

    async def tend(self) -> None:
        """Work out the seasons of days that are over, or whose results changed since."""
        for game in GAMES:
            due = await self.store.days_due(game)
            for week in sorted({_week_of(day) for day, _ in due}):
                await self.season(game, week)
            for day, due_ms in due:
                await self.store.day_done(game, day, due_ms)

    async def season(self, game: str, week: str) -> None:
        """Work out a week's season from the boards of its days that are closed and not void."""
        now_ms = await self._days.now_ms()
        span, void = Span.of(week), await self._days.voided(game)
        assert span is not None
        numbers = {day: number_of(date.fromisoformat(day)) for day in span.days}
        counted = [
            day
            for day, number in numbers.items()
            if number not in void and begins_at_ms(number + 1) + GRACE_MS <= now_ms
        ]
        for bots in (False, True):
            boards = [Board(game, BoardKind.DAILY, day, bots) for day in counted]
            of_days = [[row async for row in self.store.rows(board)] for board in boards]
            season = Board(game, BoardKind.SEASON, week, bots)
            # There may be many: no move is to wait for it.
            rows = {row.player: row for row in await asyncio.to_thread(points, of_days)}
            async for old in self.store.rows(season):
                if old.player not in rows:
                    await self.store.drop(old.player, [season])
            for row in rows.values():
                await self.store.put(season, row)

    async def _seasons_anew(self, game: str, results: Iterable[Result]) -> None:
        for day in {result.day for result in results if result.day}:
            await self.store.day_is_due(game, day, 0)


def _labelled(state: RaceState) -> list[tuple[Result, Label]]:
    """The results of a closed race, and whose they are."""
    found = []
    for result in results_of(state):
        seat = state.seats[int(result.run.rpartition(".")[2])]
        if seat.name != DELETED_PLAYER:
            found.append((result, Label(seat.name, seat.bot)))
    return found


def _kept(game: str, now_ms: int, *, bots: bool) -> Iterable[Board]:
    """Every board of a game that there may be now."""
    span = Span(now_ms - KEPT_MS, now_ms + 1)
    days = list(span.days)
    periods = {
        period: sorted(
            {period_of(period, begins_at_ms(number_of(date.fromisoformat(day)))) for day in days}
        )
        for period in Period
    }
    for kind in BoardKind:
        named = (
            days if kind is BoardKind.DAILY else [p for one in PERIODS[kind] for p in periods[one]]
        )
        for period in named:
            yield Board(game, kind, period, bots)


def _week_of(day: str) -> str:
    return period_of(Period.WEEK, begins_at_ms(number_of(date.fromisoformat(day))))
