"""What bears the name of a player besides its account: shown on export, erased on deletion."""

from typing import Any

from samedeal.engine.games import GAMES
from samedeal.protocol import days
from samedeal.protocol.fields import Status
from samedeal.protocol.limits import DELETED_PLAYER
from samedeal_server.boards import Boards
from samedeal_server.ratings import Ratings
from samedeal_server.skill import NEW
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from samedeal_server.store.traces import TraceStore

__all__ = ["Traces"]

UNRATED = NEW.shown

ERASE_AGAIN_S = 10
"""A connection that is being shown out may still sit down somewhere."""


class Traces:
    """All that is kept about a player, wherever it is kept."""

    def __init__(
        self,
        store: TraceStore,
        races: RaceStore,
        day_store: DayStore,
        boards: Boards,
        ratings: Ratings,
    ) -> None:
        self._store = store
        self._races = races
        self._days = day_store
        self._boards = boards
        self._ratings = ratings

    async def of(self, player: str) -> dict[str, Any]:
        """What is stored about a player, but for its account and its runs."""
        of_each = await self._days.played(player, days.DAILY_GAMES)
        played = dict(zip(days.DAILY_GAMES, of_each, strict=True))
        return {
            "days": {game: sorted(numbers) for game, numbers in played.items() if numbers},
            "results": await self._results(player, removed=False),
            "removed": await self._results(player, removed=True),
            "races": await self._store.races(player),
            "ratings": {
                game: str(shown)
                for game in GAMES
                if (shown := await self._ratings.of(game, player)) != UNRATED
            },
            "friends": await self._store.friends(player),
        }

    async def _results(self, player: str, *, removed: bool) -> dict[str, list[str]]:
        found = {}
        for game in GAMES:
            results = self._boards.store.results(game, player, removed=removed)
            found[game] = [result.text async for result in results]
        return {game: results for game, results in found.items() if results}

    async def of_race(self, player: str, race_id: str) -> dict[str, Any] | None:
        """What is stored about a player's run in a race; None if it has no seat there."""
        state = await self._races.load(race_id)
        mine = [] if state is None else [s for s in state.seats.values() if s.player == player]
        if state is None or not mine:
            return None
        (seat,) = mine
        log = await self._races.log(race_id, seat.seat)
        return {
            "race": race_id,
            "seat": seat.seat,
            "name": seat.name,
            "game": state.game,
            "day": None if state.day is None else state.day.number,
            "go_at_ms": state.go_at_ms,
            "status": seat.status(state.phase).value,
            "moves": seat.seq,
            "best": seat.best,
            "opened": seat.opened,
            "actions": [{"action": action, "t_ms": t_ms} for action, t_ms in log],
        }

    async def renamed(self, player: str, name: str, *, bot: bool) -> None:
        """Have a player called by another name from now on; past races keep the old one."""
        await self._boards.rename(player, name, bot=bot)

    async def begin(self, player: str) -> None:
        """Note that all of it is to be erased, before anything is."""
        await self._store.begin(player)

    async def erase(self, player: str) -> None:
        """End the player's runs, and take its name out of every race."""
        for race_id in await self._store.races(player):
            await self._races.leave(race_id, player, Status.LEFT)
            state = await self._races.load(race_id)
            if state is None:
                continue
            for seat in state.seats.values():
                if seat.player == player:
                    await self._races.note(race_id, seat.seat, "name", DELETED_PLAYER)
            if state.day is not None:
                await self._days.forget(player, state.day.number, state.game)
        await self._boards.forget(player)
        of_each = await self._days.played(player, days.DAILY_GAMES)
        for game, played in zip(days.DAILY_GAMES, of_each, strict=True):
            await self._days.streak_is_over(player, game)
            for day in played:
                await self._days.forget(player, day, game)
        await self._store.drop(player)

    async def unfinished(self) -> list[str]:
        """Those who have to be erased once more."""
        return await self._store.unfinished(ERASE_AGAIN_S)

    async def done(self, player: str) -> None:
        """All of it is erased."""
        await self._store.done(player)
