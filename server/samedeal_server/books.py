"""What a closed race leaves behind: each part of it written exactly once, however often booked."""

from samedeal_server.race import RaceDay, RaceState
from samedeal_server.ratings import Ratings
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from samedeal_server.store.standings import StandingsStore
from samedeal_server.streaks import MIN_MOVES

__all__ = ["Books"]


class Books:
    """Books closed races. The sweep comes back to a race until all of it is booked.

    A node may end half way and another begin anew: whatever is booked here has to be repeatable.
    """

    def __init__(
        self, races: RaceStore, standings: StandingsStore, ratings: Ratings, days: DayStore
    ) -> None:
        self._races = races
        self._standings = standings
        self._ratings = ratings
        self._days = days

    async def book(self, race_id: str) -> None:
        """Book a closed race: its maker may open another, its players rank."""
        state = await self._races.load(race_id)
        if state is None:
            return
        for seat in state.seats.values():
            await self._races.over(seat.player, race_id)
        if state.day is not None:
            await self._book_day(state, state.day)
            return
        if is_counted(state):
            await self._count(state)
        await self._ratings.book(state)

    async def _book_day(self, state: RaceState, day: RaceDay) -> None:
        """Book a run at the deal of a day: it counts for the streak of its player."""
        seat = state.seats[1]
        if state.was_run and not state.practice and seat.seq >= MIN_MOVES:
            await self._days.note_played(seat.player, state.game, day.number)

    async def _count(self, state: RaceState) -> None:
        rows = [
            (state.seats[row.seat].player, row.name, row.bot, row.place == 1)
            for row in state.order()
        ]
        await self._standings.record(state.game, state.id, rows)


def is_counted(state: RaceState) -> bool:
    """Whether a closed race counts for anybody: no practice, and at least two who moved."""
    if not state.was_run or state.practice:
        return False
    return sum(seat.seq > 0 for seat in state.seats.values()) >= 2
