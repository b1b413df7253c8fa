"""Streaks: who has played how many days in a row, worked out from the days, and their board."""

import asyncio
from collections.abc import Sequence

from samedeal.protocol import days as numbers
from samedeal.protocol.board_messages import BoardKind
from samedeal_server.almanac import Calendar
from samedeal_server.days_in_a_row import MIN_MOVES, DaysInARow, days_in_a_row
from samedeal_server.race import RaceDay, RaceState
from samedeal_server.rows import ORDERS, Board, Row
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore

__all__ = ["Streaks"]

_AT_ONCE = 200


class Streaks:
    """Keeps the streak boards in step with the days: whatever is done here can be done again."""

    def __init__(
        self, store: DayStore, boards: BoardStore, calendar: Calendar | None = None
    ) -> None:
        self._store = store
        self._boards = boards
        self._calendar = Calendar() if calendar is None else calendar

    async def book(self, state: RaceState, day: RaceDay) -> None:
        """Book a closed run at the deal of a day: the first one counts, with enough moves."""
        seat = state.seats[1]
        if state.was_run and not state.practice and seat.seq >= MIN_MOVES:
            await self._store.note_played(seat.player, state.game, day.number)
            await self.update(seat.player, state.game)

    async def of(self, player: str, games: Sequence[str], now_ms: int) -> list[DaysInARow]:
        """Work out a player's streaks in some games."""
        played, void = await asyncio.gather(self._played(player, games), self._store.all_voided())
        open_from = self._calendar.open_from(now_ms)
        return [
            days_in_a_row(days, void[game], open_from)
            for game, days in zip(games, played, strict=True)
        ]

    async def update(self, player: str, game: str) -> None:
        """Bring a player's row up to date, and note the day whose end may cost it."""
        label = await self._boards.label(game, player)
        if label is None:
            # Forgotten since.
            await self._store.streak_is_over(player, game)
            return
        (played,), void = await self._played(player, [game]), await self._store.voided(game)
        open_from = self._calendar.open_from(await self._store.now_ms())
        streak = days_in_a_row(played, void, open_from)
        board = Board(game, BoardKind.STREAK, bots=label.bot)
        if not streak.days:
            await self._boards.drop(player, [board])
            await self._store.streak_is_over(player, game)
            return
        # Noted first: a row that nobody looks at again would stand for ever.
        at_risk = max(max(played - void) + streak.freezes + 1, open_from)
        await self._store.streak_ends_with(player, game, at_risk)
        order = ORDERS[BoardKind.STREAK].encode(streak.days)
        at_ms = numbers.begins_at_ms(max(played - void))
        await self._boards.put(board, Row(order, at_ms, player))

    async def end_lost(self) -> None:
        """Take off the boards whose last chance to go on has passed with a closed day."""
        closed = self._calendar.open_from(await self._store.now_ms()) - 1
        for game in numbers.DAILY_GAMES:
            while players := await self._store.streaks_ended(game, closed, _AT_ONCE):
                for player in players:
                    await self.update(player, game)

    async def recount(self, game: str) -> None:
        """Work out the streaks of all who are on boards of a game: a day became void, say."""
        async for player, _ in self._boards.players(game):
            await self.update(player, game)

    async def _played(self, player: str, games: Sequence[str]) -> list[set[int]]:
        """The days played, without those whose result an operator has removed."""
        played, removed = await asyncio.gather(
            self._store.played(player, games),
            asyncio.gather(*(self._removed(player, game) for game in games)),
        )
        return [days - gone for days, gone in zip(played, removed, strict=True)]

    async def _removed(self, player: str, game: str) -> set[int]:
        return {
            numbers.number_of_iso(result.day)
            async for result in self._boards.results(game, player, removed=True)
            if result.day
        }
