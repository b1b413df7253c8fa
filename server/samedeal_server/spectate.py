"""Requests of those who watch: a race by code or from the list, and the list itself."""

import asyncio
from collections.abc import AsyncIterator

from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Spectating
from samedeal.protocol.watch_messages import LiveRace, Watch
from samedeal_server.audience import Audience, Outlet, Watcher, what_shows, why_not
from samedeal_server.errors import Refusal
from samedeal_server.race import RaceState
from samedeal_server.rooms import Rooms
from samedeal_server.store.leases import Leases
from samedeal_server.store.races import RaceStore
from samedeal_server.store.watch import WatchStore

__all__ = ["MAX_WATCHERS", "Spectators"]

MAX_WATCHERS = 10_000
"""Watchers of all races on one node, where it is not told otherwise."""
_LIST_S = 1.0
"""How old the list of live races may be."""
_LISTED = 50


class Spectators:
    """All watchers of this node."""

    def __init__(
        self,
        rooms: Rooms,
        races: RaceStore,
        store: WatchStore,
        leases: Leases,
        *,
        max_watchers: int = MAX_WATCHERS,
    ) -> None:
        self._rooms = rooms
        self._races = races
        self._store = store
        self._leases = leases
        self._max_watchers = max_watchers
        self._watching = 0
        self._listing = asyncio.Lock()
        self._listed: tuple[LiveRace, ...] = ()
        self._listed_at = float("-inf")

    async def watch(self, player: str, outlet: Outlet, message: Watch) -> tuple[str, Watcher]:
        """Answer a request to watch. Return the race's id, and who is to leave at the end."""
        if self._watching >= self._max_watchers:
            sentence = "as many as this server can take are watching; try again later"
            raise Refusal(ErrorCode.TOO_MANY, sentence)
        self._watching += 1
        try:
            return await self._watch(player, outlet, message)
        except BaseException:
            self._watching -= 1
            raise

    async def _watch(self, player: str, outlet: Outlet, message: Watch) -> tuple[str, Watcher]:
        race_id = message.race
        if message.code is not None:
            race_id = await self._races.find(message.code)
        elif race_id is None:
            raise Refusal(ErrorCode.BAD_FRAME, "watch needs the code or the id of a race")
        if race_id is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"there is no race with the code {message.code}")
        state = await self._allowed(race_id, player)
        if state.practice and state.phase is not Phase.CLOSED:
            await self._no_player_of_the_deal(state, player)
        # Noted before anything is shown: from then on no seat of this deal is to be had.
        word = await self._store.watch(race_id, player)
        state = await self._allowed(race_id, player)
        if word != "done":
            raise Refusal(ErrorCode.NOT_SHOWN, "you took a seat in this race just now")
        room = self._rooms.open(self._rooms.take(state))
        audience = room.audience
        if not isinstance(audience, Audience):
            audience = Audience(self._rooms, self._races, self._store, self._leases, room)
        audience.read(state)
        watcher = await audience.enter(player, outlet, message.id)
        if isinstance(watcher, str):
            raise Refusal(ErrorCode.NOT_SHOWN, watcher)
        return race_id, watcher

    async def _allowed(self, race_id: str, player: str) -> RaceState:
        """Read a race that this player may watch. Raise Refusal otherwise."""
        state = await self._rooms.load(race_id)
        if state is None:
            raise Refusal(ErrorCode.NOT_FOUND, "there is no such race any more")
        if (reason := why_not(state, player)) is not None:
            raise Refusal(ErrorCode.NOT_SHOWN, reason)
        return state

    async def _no_player_of_the_deal(self, state: RaceState, player: str) -> None:
        """Raise Refusal if a player plays the deal in another race; else note that it watches.

        A seed that somebody chose may be dealt in many races at once. Who watches is noted first
        and who sits down, too, so of two that are asked at once one is refused at least.
        """
        await self._store.note_deal(state.id, state.commitment, player)
        if await self._store.plays_deal(state.id, state.commitment, player):
            sentence = "you play this deal in another race; its boards open when that is over"
            raise Refusal(ErrorCode.NOT_SHOWN, sentence)

    def leave(self, watcher: Watcher) -> None:
        """Forget a watcher."""
        self._watching -= 1
        watcher.leave()

    async def live(self, limit: int) -> tuple[LiveRace, ...]:
        """List the races that run and may be watched, the latest first."""
        async with self._listing:
            now = asyncio.get_running_loop().time()
            if now - self._listed_at > _LIST_S:
                self._listed = tuple([race async for race in self._races_shown()])
                self._listed_at = now
        return self._listed[:limit]

    async def _races_shown(self) -> AsyncIterator[LiveRace]:
        for race_id in await self._races.live(2 * _LISTED):
            state = await self._rooms.load(race_id)
            if state is None or state.phase is not Phase.RUNNING or state.day is not None:
                continue
            shows, _ = what_shows(state)
            if shows is not Spectating.OFF:
                yield _listed(state, shows)


def _listed(state: RaceState, shows: Spectating) -> LiveRace:
    view = state.view()
    return LiveRace(
        race=view.id,
        code=view.code,
        game=view.game,
        ranked=view.options.ranked,
        shows=shows,
        players=tuple(player.name for player in view.players),
        clock_ms=max(0, view.clock_ms),
        crowd=view.crowd,
    )
