"""What a closed race leaves behind: each part of it written exactly once, however often booked."""

from samedeal_server.boards import Boards
from samedeal_server.ratings import Ratings
from samedeal_server.store.races import RaceStore
from samedeal_server.streaks import Streaks
from samedeal_server.suspicion import Suspicion

__all__ = ["Books"]


class Books:
    """Books closed races. The sweep comes back to a race until all of it is booked.

    A node may end half way and another begin anew: whatever is booked here has to be repeatable.
    """

    def __init__(
        self,
        races: RaceStore,
        boards: Boards,
        ratings: Ratings,
        streaks: Streaks,
        suspicion: Suspicion,
    ) -> None:
        self._races = races
        self._boards = boards
        self._ratings = ratings
        self._streaks = streaks
        self._suspicion = suspicion

    async def book(self, race_id: str) -> None:
        """Book a closed race: its maker may open another, its players rank."""
        state = await self._races.load(race_id)
        if state is None:
            return
        for seat in state.seats.values():
            await self._races.over(seat.player, race_id)
        await self._boards.book(state)
        if state.day is None:
            await self._ratings.book(state)
        else:
            await self._streaks.book(state, state.day)
        await self._suspicion.book(state)
