"""Those who watch one race from this node: fed from one reading of it, encoded once for all."""

import asyncio
import logging
from collections.abc import Collection
from typing import Protocol

from samedeal.engine.errors import EngineError
from samedeal.protocol.codec import encode
from samedeal.protocol.fields import Phase, PlayerView, Spectating
from samedeal.protocol.limits import PROGRESS_PER_S
from samedeal.protocol.watch_messages import Watched, WatchedBoard, Watching, WatchOver
from samedeal_server.errors import StoreUnavailable
from samedeal_server.followed import FollowedRun
from samedeal_server.pause import is_set_within
from samedeal_server.race import RaceState, about
from samedeal_server.room import Room
from samedeal_server.rooms import Rooms
from samedeal_server.store.leases import Leases
from samedeal_server.store.races import RaceStore
from samedeal_server.store.watch import WatchStore
from samedeal_server.wire import framed

__all__ = ["Audience", "Outlet", "Watcher", "what_shows", "why_not"]

log = logging.getLogger(__name__)

_INTERVAL_S = 1 / PROGRESS_PER_S
_RETRY_S = 1.0
"""How long to wait with a race that cannot be read."""
_COUNT_S = 2.0
"""How often a node tells the others how many watch, at most."""
_AT_ONCE = 5
"""Watchers written to before everyone else has a turn: less than 0.1 ms."""
_SPREAD_S = 0.2
"""A crowd is written to within so long, not at once: a burst would hold up players' moves."""
_SHOWN = (Spectating.BOARDS, Spectating.SHAPE)

_REASONS = {
    Spectating.SHAPE: "the shapes of the boards are shown; the boards open when all have finished",
    Spectating.COUNTS: "the counts are shown; the boards open when all have finished",
    Spectating.OFF: "nobody may watch this race; it opens when all have finished",
}


def what_shows(state: RaceState) -> tuple[Spectating, str | None]:
    """Say how much of a race watchers may see now, and why it is not more."""
    options = state.options
    if state.phase is Phase.CLOSED:
        return Spectating.BOARDS, None
    shows = options.spectating
    if options.ranked and shows is Spectating.BOARDS:
        shows = Spectating.SHAPE
    if shows is not Spectating.BOARDS:
        return shows, _REASONS[shows]
    late_s = options.watch_delay_s
    return shows, f"the boards are shown {late_s} s late" if late_s else None


def why_not(state: RaceState, player: str) -> str | None:
    """Say why this player may not watch a race now; None if it may.

    Everyone in a race plays the same hidden cards, so whoever plays sees no other board of it.
    """
    if state.day is not None:
        return "runs of a day are not shown live; their replays open when the day is over"
    if state.phase is not Phase.CLOSED and any(s.player == player for s in state.seats.values()):
        return "you hold a seat in this race; its boards open when all have finished"
    shows, reason = what_shows(state)
    return reason if shows is Spectating.OFF else None


class Outlet(Protocol):
    """The way out to one watcher."""

    def send(self, frame: bytes) -> None:
        """Write a frame now; a client that does not read is closed."""

    def offer(self, framed: bytes) -> bool:
        """Write bytes that are framed already, unless much is unread. Return whether it did."""


class Watcher:
    """One connection that watches one race."""

    __slots__ = ("audience", "has_missed", "outlet", "player")

    def __init__(self, audience: "Audience", player: str, outlet: Outlet) -> None:
        self.audience = audience
        self.player = player
        self.outlet = outlet
        self.has_missed = False
        """Whether something was not sent since it did not read: all of it comes next."""

    def leave(self) -> None:
        """Watch no more."""
        self.audience.leave(self)


class Audience:
    """The watchers of a race on this node, as its room knows them."""

    def __init__(
        self, rooms: Rooms, races: RaceStore, store: WatchStore, leases: Leases, room: Room
    ) -> None:
        self._rooms = rooms
        self._races = races
        self._store = store
        self._leases = leases
        self._room = room
        self._loop = asyncio.get_running_loop()
        self._watchers: dict[Watcher, None] = {}
        self._arriving = 0
        self._runs: dict[int, FollowedRun] = {}
        self._changed: set[int] = set()
        self._is_whole = self._is_lost = False
        self._clock_offset_ms = 0.0
        self._sent_at = 0.0
        self._timer: asyncio.Handle | None = None
        self._due_at = 0.0
        """When the timer is due; uvloop's handle of what is due at once does not tell."""
        self._is_at_work = False
        self._hearing = asyncio.Lock()
        self._counted = 0
        self._is_counting = False
        self._closing = asyncio.Event()
        room.audience = self

    def __len__(self) -> int:
        return len(self._watchers)

    def close(self) -> None:
        """The server stops: nothing more is sent."""
        self._closing.set()
        if self._timer is not None:
            self._timer.cancel()

    # Coming and going

    async def enter(self, player: str, outlet: Outlet, request: int) -> Watcher | str:
        """Answer with all there is to see, and from then on with what happens. Or say why not."""
        self._arriving += 1
        try:
            await self._hear_all()
        finally:
            self._arriving -= 1
            self._count()
        # From here on nothing is awaited: what is told next follows on this.
        if (reason := why_not(self._room.state, player)) is not None:
            return reason
        watcher = Watcher(self, player, outlet)
        self._play()
        outlet.send(encode(self._whole(request)))
        self._watchers[watcher] = None
        self._count()
        return watcher

    def leave(self, watcher: Watcher) -> None:
        """Forget a watcher."""
        self._watchers.pop(watcher, None)
        self._count()

    def _count(self) -> None:
        if not self._is_counting and not self._closing.is_set():
            self._is_counting = True
            self._rooms.own(self._tell_count())

    async def _tell_count(self) -> None:
        """Tell the store how many watch here, as far as that is news, until nobody does."""
        try:
            while (count := about(len(self))) != self._counted and not self._closing.is_set():
                try:
                    await self._store.look(self._room.id, count, self._leases.dead)
                    self._counted = count
                    await self._rooms.refresh(self._room)
                except StoreUnavailable as error:
                    log.warning("race %s: cannot say how many watch: %s", self._room.id, error)
                if about(len(self)) != self._counted:
                    await is_set_within(self._closing, _COUNT_S)
        finally:
            self._is_counting = False
        if not self._watchers and not self._arriving and self._room.audience is self:
            self.close()
            self._room.audience = None
            self._rooms.forget_if_empty(self._room)

    # What the room tells

    def read(self, state: RaceState) -> None:
        """The race was read just now: set the clock by it."""
        self._clock_offset_ms = state.now_ms - self._loop.time() * 1000

    def took(self, old: RaceState, state: RaceState) -> None:
        """The race was read, and something besides the play may have changed."""
        self.read(state)
        if _surroundings(old) != _surroundings(state):
            self._is_whole = True
            self._arm()

    def lost(self) -> None:
        """The store is back at an earlier state: what was followed may not be in the logs."""
        self._is_lost = self._is_whole = True
        self._arm()

    def moved(self, seats: Collection[int]) -> None:
        """These seats have moved on."""
        self._changed.update(seats)
        self._arm()

    # Telling the watchers

    def _arm(self, delay_s: float = 0.0) -> None:
        """Have the watchers told as soon as it is their turn again."""
        if self._is_at_work or self._closing.is_set():
            return
        now = self._loop.time()
        at = max(now + delay_s, self._sent_at + _INTERVAL_S)
        if self._timer is not None:
            if self._due_at <= at:
                return
            self._timer.cancel()
        self._timer, self._due_at = self._loop.call_at(at, self._begin), at

    def _begin(self) -> None:
        self._timer = None
        self._is_at_work = True
        self._rooms.own(self._update())

    async def _update(self) -> None:
        """Tell everyone what is new, and those who missed something all of it."""
        retry_s = 0.0
        try:
            if self._watchers:
                await self._hear_all()
                await self._tell()
        except StoreUnavailable:
            retry_s = _RETRY_S
            raise
        except EngineError:
            log.exception("race %s: a log cannot be played", self._room.id)
            self._changed.clear()
        finally:
            self._is_at_work = False
            self._go_on(retry_s)

    def _go_on(self, retry_s: float) -> None:
        """Arm the timer for what is left to do."""
        if not self._watchers:
            return
        has_more = self._is_lost or self._is_whole or self._changed
        if has_more or any(watcher.has_missed for watcher in self._watchers):
            self._arm(retry_s)
        elif (due_s := self._due_s()) is not None:
            self._arm(due_s)

    async def _hear_all(self) -> None:
        """Catch up with the logs of all seats as far as the race was read."""
        async with self._hearing:
            if self._is_lost:
                self._is_lost = False
                self._runs.clear()
            state = None
            # Read anew meanwhile, it may say more: what is told is never behind the room.
            while state is not self._room.state:
                state = self._room.state
                if what_shows(state)[0] not in _SHOWN or not _has_boards(state):
                    return
                for seat in list(state.seats):
                    await self._hear(seat)

    async def _hear(self, seat: int) -> None:
        state = self._room.state
        if (record := state.seats.get(seat)) is None:
            return
        run = self._runs.get(seat)
        if run is None or run.player != record.player:
            run = FollowedRun(record.player, self._rooms.open_run(state, seat, 0))
            self._runs[seat] = run
        member = self._room.members.get(seat)
        if member is not None and member.live is not None:
            run.hear((entry.action, entry.t_ms) for entry in member.live.entries[run.known :])
        if run.known < record.seq:
            run.hear(await self._races.log(state.id, seat, run.known))
        # Here already, where others may have their turn: `_play` finds little left to do.
        await run.play_in_turns_until(self._shown_until_ms())

    def _play(self) -> None:
        """Bring the boards to where watchers may see them now."""
        for run in self._runs.values():
            run.play_until(self._shown_until_ms())

    def _shown_until_ms(self) -> float:
        """Up to what time from GO watchers may see the boards now."""
        state = self._room.state
        if state.phase is Phase.CLOSED or not state.options.watch_delay_s:
            return float("inf")
        clock_ms = self._loop.time() * 1000 + self._clock_offset_ms - state.go_at_ms
        return clock_ms - state.options.watch_delay_s * 1000

    def _due_s(self) -> float | None:
        """In how many seconds an action that waits for its time is to be shown."""
        state = self._room.state
        dues = [run.due_ms for run in self._runs.values() if run.due_ms is not None]
        if not dues:
            return None
        at_ms = min(dues) + state.go_at_ms + state.options.watch_delay_s * 1000
        return max(0.001, (at_ms - self._clock_offset_ms) / 1000 - self._loop.time())

    async def _tell(self) -> None:
        """Write the newest to everyone, a slice of them at a time: players' moves come between."""
        state = self._room.state
        if self._is_whole:
            # Only then may the seats have changed: a crowd is not looked through for every move.
            self._shut_out(state)
        self._play()
        rows, self._changed = self._changed, set()
        is_whole, self._is_whole = self._is_whole, self._is_lost
        news = None
        if not is_whole:
            boards = self._boards(only_news=True)
            if rows or boards:
                news = framed(encode(self._news(rows, boards)))
        whole = framed(encode(self._whole())) if is_whole else None
        for run in self._runs.values():
            run.told()
        if is_whole or news is not None:
            self._sent_at = self._loop.time()
        pause_s = _SPREAD_S / (1 + len(self._watchers) // _AT_ONCE)
        for at, watcher in enumerate(list(self._watchers), start=1):
            if watcher not in self._watchers:
                continue
            if not is_whole and not watcher.has_missed:
                if news is not None:
                    watcher.has_missed = not watcher.outlet.offer(news)
            else:
                if whole is None:
                    whole = framed(encode(self._whole()))
                watcher.has_missed = not watcher.outlet.offer(whole)
            if at % _AT_ONCE == 0:
                await asyncio.sleep(pause_s)

    def _shut_out(self, state: RaceState) -> None:
        """Let go of those who have taken a seat, and of all if nobody may watch any more."""
        for watcher in list(self._watchers):
            if (reason := why_not(state, watcher.player)) is not None:
                del self._watchers[watcher]
                watcher.outlet.send(encode(WatchOver(race=state.id, sentence=reason)))
                self._count()

    def _whole(self, request: int | None = None) -> Watching:
        state = self._room.state
        shows, reason = what_shows(state)
        return Watching(
            id=request,
            race=state.view(),
            shows=shows,
            reason=reason,
            boards=self._boards(only_news=False),
        )

    def _news(self, seats: Collection[int], boards: tuple[WatchedBoard, ...]) -> Watched:
        state = self._room.state
        rows = (state.seats[s].fields(state.phase) for s in sorted(seats) if s in state.seats)
        players = tuple(PlayerView(**row) for row in rows)
        return Watched(race=state.id, ver=self._room.told, players=players, boards=boards)

    def _boards(self, *, only_news: bool) -> tuple[WatchedBoard, ...]:
        state = self._room.state
        shows, _ = what_shows(state)
        if shows not in _SHOWN or not _has_boards(state):
            return ()
        return tuple(
            run.board(seat, shows)
            for seat, run in sorted(self._runs.items())
            if seat in state.seats and (run.has_news or not only_news)
        )


def _has_boards(state: RaceState) -> bool:
    """Whether the cards lie on the table: never before GO."""
    return state.was_run and state.phase in (Phase.RUNNING, Phase.CLOSED)


def _surroundings(state: RaceState) -> tuple[object, ...]:
    """What of a race watchers are told in whole, the play apart."""
    return state.setting, state.next_race
