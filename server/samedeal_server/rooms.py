"""The races that this node has players of: who is here, what they are told, and when."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from samedeal.engine.counts import counted
from samedeal.protocol.codec import encode, pack
from samedeal.protocol.fields import Phase, Phrase
from samedeal.protocol.limits import PROGRESS_PER_S
from samedeal.protocol.phrase_messages import Said
from samedeal.protocol.server_messages import (
    Closed,
    Go,
    Moved,
    Notice,
)
from samedeal.protocol.server_messages import Room as RoomEvent
from samedeal_server.books import Books
from samedeal_server.errors import StoreUnavailable
from samedeal_server.lobby import Lobbies
from samedeal_server.progress import PATIENCE_S
from samedeal_server.race import RaceState
from samedeal_server.room import Member, Room
from samedeal_server.runs import LiveRun
from samedeal_server.store.leases import Leases, Outage
from samedeal_server.store.races import Advanced, RaceStore, Stale
from samedeal_server.wire import framed

__all__ = ["Rooms"]

log = logging.getLogger(__name__)

_TICK_S = 0.05
"""How often rooms with news are looked at; many races share one wake-up."""
_INTERVAL_S = (1 + PATIENCE_S + _TICK_S) / PROGRESS_PER_S
"""Between two looks at a room. What waits for acks can come so much later, and no fifth time."""
_LOOK_S = 1.0
"""Who has not moved on for so long is looked at for being stuck."""
_LOOKS_PUT_OFF = 4
"""So often at most in a row: who moves on all the time is looked at, too."""

_SWEEP_MS = 15_000
"""The sweep looks at an open race this often: a node that died may not have said when."""
_DAY_SWEEP_MS = 300_000
"""The same of a day's run: thousands may stay open for hours, and nobody waits for another's."""

_SWEPT_AT_ONCE = 20
"""Races that are put on their lists together: more of them would have ended by then."""

_IDLE_S = 2.0
"""A race that was not read for so long has its version compared: the doorbell may be deaf."""
_AT_ONCE = 200
"""Versions compared in one go: more would hold the loop up."""
_READERS = 16
"""Races read at the same time when many may have changed."""


class Rooms:
    """All rooms of this node: reads races when they change, moves phases on, pushes progress."""

    def __init__(
        self,
        races: RaceStore,
        books: Books,
        leases: Leases,
        lobbies: Lobbies,
        open_run: Callable[[RaceState, int, int], LiveRun],
    ) -> None:
        self._races = races
        self._books = books
        self._leases = leases
        self._lobbies = lobbies
        self.open_run = open_run
        """Makes a run without actions for (race, seat, epoch)."""
        self._rooms: dict[str, Room] = {}
        self._dirty: set[Room] = set()
        self._untold: deque[tuple[float, Member]] = deque()
        """Those for whom progress waits for their next ack, and until when; the earliest first."""
        self._tick: asyncio.TimerHandle | None = None
        self._unlooked: dict[tuple[Room, int], tuple[int, int]] = {}
        """Seats that moved: their action of a while ago, and how often a look was put off since."""
        self._look: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._outages: tuple[Outage, ...] = ()
        """Those that races were swept for."""

    async def close(self) -> None:
        """Stop every timer, take no more work, and wait for what is under way.

        Nothing is cancelled: a cancellation can get lost inside a call to the store.
        """
        self._closing = True
        for timer in (self._tick, self._look):
            if timer is not None:
                timer.cancel()
        for room in self._rooms.values():
            if room.timer is not None:
                room.timer.cancel()
            if room.audience is not None:
                room.audience.close()
        while self._tasks:
            await asyncio.wait(self._tasks)

    def get(self, race_id: str) -> Room | None:
        """The room, if this node has members in it."""
        return self._rooms.get(race_id)

    def all(self) -> list[Room]:
        """The rooms this node has members in."""
        return list(self._rooms.values())

    async def load(self, race_id: str) -> RaceState | None:
        """Read a race; only seats whose node lives are present."""
        state = await self._races.load(race_id)
        if state is not None:
            nodes = {seat.node for seat in state.seats.values() if seat.node}
            live = await self._leases.live(nodes | state.eyes.keys())
            for seat in state.seats.values():
                seat.present = seat.node in live
            state.eyes = {node: count for node, count in state.eyes.items() if node in live}
        return state

    def newest(self, state: RaceState) -> RaceState:
        """Return what is known of a race just read: the room here may have read more since."""
        room = self._rooms.get(state.id)
        return room.state if room is not None and room.read_ver > state.ver else state

    def take(self, state: RaceState) -> RaceState:
        """Have the room, if there is one, take over a record just read. Return the newest."""
        room = self._rooms.get(state.id)
        if room is None:
            return state
        if state.ver > room.read_ver:
            self._take(room, state)
        room.state.now_ms = max(room.state.now_ms, state.now_ms)
        room.state.ver = room.told
        return room.state

    def place(self, state: RaceState, member: Member) -> Room:
        """Seat a member; one that held the seat on this node is told that it is over."""
        room = self.open(state)
        older = room.members.get(member.seat)
        room.members[member.seat] = member
        if older is not None and older is not member:
            older.fenced()
        self._look_at(room, member.seat)
        return room

    def open(self, state: RaceState) -> Room:
        """Return the room of a race just read and taken.

        One that is new is compared with the store at the next check, in a moment: what rang while
        it was not there yet is lost.
        """
        room = self._rooms.get(state.id)
        if room is None:
            room = Room(state, told=state.ver)
            room.read(state.ver, 0.0)
            self._rooms[state.id] = room
            self._arm(room)
            if state.options.listed:
                self.own(self._lobbies.note(state))
        return room

    def exit(self, room: Room, member: Member) -> None:
        """Forget a member, and the room when it was the last one."""
        if room.members.get(member.seat) is member:
            if member.seat in room.dirty or (room, member.seat) in self._unlooked:
                # The next look will not find it here any more.
                self._look_at(room, member.seat)
            if member.live is not None:
                room.follow(member.seat, member.live)
            del room.members[member.seat]
        member.drop()
        self.forget_if_empty(room)

    def forget_if_empty(self, room: Room) -> None:
        """Forget a room that has neither members nor watchers."""
        is_empty = not room.members and room.audience is None
        if is_empty and self._rooms.get(room.id) is room:
            del self._rooms[room.id]
            self._dirty.discard(room)
            if room.timer is not None:
                room.timer.cancel()

    # What happens in a room

    def rang(self, race_id: str, ver: int, *, is_move: bool) -> None:
        """Another node changed this race: read it again. Moves wait for the next tick."""
        room = self._rooms.get(race_id)
        if room is None or ver <= room.seen:
            return
        room.ver = max(room.ver, ver)
        if is_move:
            self._push_soon(room)
        else:
            self.own(self.refresh(room))

    def missed(self) -> None:
        """The doorbell was out of reach: any race may have changed meanwhile."""
        self.own(self._compare(list(self._rooms.values())))

    async def recheck(self) -> None:
        """Compare the versions of races that were not read for a while with the store's."""
        before = self._loop.time() - _IDLE_S
        await self._compare([r for r in self._rooms.values() if r.checked_at <= before])

    async def beat(self) -> None:
        """Renew this node's lease. Races with players of a node that came or went are read.

        After an outage every open race is due: its deadline moves.
        """
        changed = await self._leases.beat()
        if self._leases.outages.all != self._outages:
            await self._races.all_due()
            self._outages = self._leases.outages.all
        if changed:
            await self._refresh_all(
                room for room in self._rooms.values() if not changed.isdisjoint(room.state.nodes)
            )

    async def _compare(self, rooms: list[Room]) -> None:
        """Read those rooms again whose version in the store is not the one known here."""
        for at in range(0, len(rooms), _AT_ONCE):
            some = rooms[at : at + _AT_ONCE]
            vers = await self._races.vers([room.id for room in some])
            now = self._loop.time()
            behind = []
            for room, ver in zip(some, vers, strict=True):
                room.checked_at = now
                # A commit under way makes them differ too: then one reading is for nothing.
                if ver != room.known_ver:
                    behind.append(room)
            await self._refresh_all(behind)

    async def _refresh_all(self, rooms: Iterable[Room]) -> None:
        """Read many rooms again, some at a time, so that players' requests get their turn."""
        waiting = list(rooms)

        async def read() -> None:
            while waiting and not self._closing:
                await self.refresh(waiting.pop())

        await asyncio.gather(*(read() for _ in range(min(_READERS, len(waiting)))))

    async def refresh(self, room: Room) -> None:
        """Read the race and tell the members what changed. Calls that overlap share the reading."""
        if room.reading:
            room.read_again = True
            return
        room.reading = True
        try:
            room.read_again = True
            while room.read_again and self._rooms.get(room.id) is room:
                room.read_again = False
                known = room.ver
                state = await self.load(room.id)
                if state is None or self._rooms.get(room.id) is not room:
                    return
                if state.ver < known:
                    log.warning("race %s: the store has lost its latest versions", room.id)
                    room.rewind(state.ver)
                    if room.audience is not None:
                        room.audience.lost()
                elif state.ver < room.read_ver:
                    # Someone who sat down meanwhile brought a newer record.
                    room.read_again = True
                    continue
                self._take(room, state)
        finally:
            room.reading = False

    def moved(self, room: Room, seat: int, live: LiveRun, ver: int | None) -> None:
        """A member's action is in the log: have the room told at the next tick."""
        if ver is not None:
            room.committed(ver)
        room.dirty.add(seat)
        self._push_soon(room)
        if live.run.table.is_won:
            room.follow(seat, live)
            self.own(self.advance(room.id))

    def _take(self, room: Room, state: RaceState) -> None:
        """Replace what is known of the race, and tell the members the difference."""
        old, room.state = room.state, state
        is_newer = state.ver >= room.read_ver
        room.read(state.ver, self._loop.time())
        room.told = state.ver = max(room.told, state.ver)
        if is_newer and state.phase is not Phase.CLOSED:
            for number, seat in state.seats.items():
                known = old.seats.get(number)
                if known is not None and known.player == seat.player:
                    # Moves of this node that members were told of may have overtaken the reading.
                    seat.keep_up_with(known)
        self._arm(room)
        if old.phase is Phase.LOBBY and (old.options.listed or state.options.listed):
            self.own(self._lobbies.note(state))
        for member in list(room.members.values()):
            held = state.seats.get(member.seat)
            if held is None or held.epoch > member.epoch:
                member.fenced()
        if room.audience is not None:
            room.audience.took(old, state)
        if state.phase is Phase.RUNNING and old.phase in (Phase.LOBBY, Phase.COUNTDOWN):
            self._go(room)
        self._tell(room, old)

    def _tell(self, room: Room, old: RaceState) -> None:
        """Tell the members what is different now."""
        state = room.state
        for number, seat in state.seats.items():
            known = old.seats.get(number)
            if seat.said and (known is None or known.said != seat.said):
                phrase = Phrase(seat.said.partition(" ")[2])
                room.tell(Said(race=state.id, seat=number, phrase=phrase))
        if state.phase is Phase.CLOSED:
            self._tell_of_end(room, old)
            return
        if state.paused_ms > old.paused_ms:
            away_s = (state.paused_ms - old.paused_ms) / 1000
            sentence = f"nobody could play for {away_s:.0f} s: the race closes that much later"
            room.tell(Notice(race=room.id, kind="store", sentence=sentence))
        if _roster(old) != _roster(state):
            room.tell(RoomEvent(race=state.view()))
        if old.deadline_at_ms > state.deadline_at_ms > 0:
            left_s = max(0, state.deadline_at_ms - state.now_ms) // 1000
            sentence = f"last call: a run is won, the race closes in {counted(left_s, 'second')}"
            room.tell(Notice(race=state.id, kind="last_call", sentence=sentence))
        for number, seat in state.seats.items():
            known = old.seats.get(number)
            if known is not None and seat.seq > known.seq:
                room.dirty.add(number)
        if room.dirty or room.is_behind:
            self._push_soon(room)

    def _tell_of_end(self, room: Room, old: RaceState) -> None:
        state = room.state
        if old.phase is not Phase.CLOSED:
            self._dirty.discard(room)
            room.dirty.clear()
            room.tell(Closed(race=state.view()))
        elif _rated(old) != _rated(state):
            room.tell(RoomEvent(race=state.view()))
        if state.next_race and not old.next_race:
            room.tell(Moved(race=state.id, to=state.next_race, code=state.code))

    def _go(self, room: Room) -> None:
        """Give every member its board; all of them in one turn of the loop."""
        view = room.state.view()
        for seat, member in list(room.members.items()):
            if member.live is None:
                member.live = self.open_run(room.state, seat, member.epoch)
            hash_, board = member.live.run.table.hash, member.live.dealt_board()
            member.send(encode(Go(race=view, seat=seat, hash=hash_, board=board)))

    def _push_soon(self, room: Room) -> None:
        """Have a room with news looked at by the next tick."""
        self._dirty.add(room)
        if self._tick is None:
            self._tick = self._loop.call_later(_TICK_S, self._push_progress)

    def _push_progress(self) -> None:
        """Tell each room with news who moved on, at most PROGRESS_PER_S times a second."""
        self._tick = None
        now = self._loop.time()
        for room in list(self._dirty):
            if now - room.last_progress < _INTERVAL_S:
                continue
            self._dirty.discard(room)
            if room.is_behind:
                # Reading it again brings it back here, with all who moved.
                self.own(self.refresh(room))
                continue
            room.last_progress = now
            room.told = max(room.told, room.ver)
            self._push(room, now)
        while self._untold and self._untold[0][0] <= now:
            self._untold.popleft()[1].tell_due(now)
        if self._dirty or self._untold:
            self._tick = self._loop.call_later(_TICK_S, self._push_progress)

    def _push(self, room: Room, now: float) -> None:
        """Tell a room who moved on."""
        state, rows = room.state, []
        for seat in sorted(room.dirty):
            member = room.members.get(seat)
            if member is not None and member.live is not None:
                room.follow(seat, member.live)
                self._unlooked.setdefault((room, seat), (member.live.run.seq, 0))
            rows.append(state.seats[seat].fields(state.phase))
        if room.audience is not None:
            room.audience.moved(room.dirty)
        room.dirty.clear()
        news = {"race": room.id, "ver": room.told, "players": rows, "type": "progress"}
        frame = framed(pack(news))
        for member in list(room.members.values()):
            if (due_at := member.tell(frame, now)) is not None:
                self._untold.append((due_at, member))
        self._look_soon()

    def _look_soon(self) -> None:
        """Have those looked at who moved, if they pause."""
        if self._look is None and self._unlooked:
            self._look = self._loop.call_later(_LOOK_S, self._look_for_stuck)

    def _look_for_stuck(self) -> None:
        """Look at who moved and then paused, all in one go: it is cheap while it is warm."""
        self._look = None
        unlooked, self._unlooked = self._unlooked, {}
        for (room, seat), (seq, put_off) in unlooked.items():
            member = room.members.get(seat)
            if self._rooms.get(room.id) is not room or member is None or member.live is None:
                continue
            live = member.live
            has_paused = live.run.seq == seq or put_off >= _LOOKS_PUT_OFF
            if has_paused and live.under_way is None:
                self._look_at(room, seat)
            else:
                self._unlooked[room, seat] = live.run.seq, put_off + 1
        self._look_soon()

    def _look_at(self, room: Room, seat: int) -> None:
        """Tell a player what it can know, and note for the race what only the server may know."""
        member = room.members.get(seat)
        live = member.live if member is not None else None
        if room.state.phase is not Phase.RUNNING or member is None or live is None:
            return
        if live.under_way is not None or live.run.is_won:
            return
        if not live.run.table.is_stuck:
            live.told_stuck = False
            return
        if live.run.is_known_stuck and not live.told_stuck:
            live.told_stuck = True
            sentence = "no legal move is left; undo if you may, or bank your result"
            member.send(encode(Notice(race=room.id, kind="stuck", sentence=sentence)))
        if live.marked_stuck_at != live.run.seq and live.run.is_stuck_for_good:
            live.marked_stuck_at = live.run.seq
            self.own(self._mark_stuck(room, seat, live.run.seq))

    async def _mark_stuck(self, room: Room, seat: int, seq: int) -> None:
        await self._races.mark_stuck(room.id, seat, seq)
        await self.advance(room.id)

    # Phases

    def _arm(self, room: Room) -> None:
        """Ask for the next phase when it is due by the store's clock."""
        if room.timer is not None:
            room.timer.cancel()
            room.timer = None
        state = room.state
        if state.due_ms:
            delay_s = max(0.001, (state.due_ms - state.now_ms) / 1000)
            room.timer = self._loop.call_later(delay_s, lambda: self.own(self.advance(state.id)))

    async def advance(self, race_id: str) -> None:
        """Move a race on if it is time; book it and let the sweep forget it when it is closed."""
        at = await self._moved_on(race_id)
        if at is None:
            return
        await self._plan({race_id: at})
        room = self._rooms.get(race_id)
        if room is None:
            await self._show_lobby(race_id, at)
            return
        # One that was seen closed already may have been rated since.
        is_over = at.phase is room.state.phase is Phase.CLOSED
        if not is_over or room.state.options.ranked:
            await self.refresh(room)

    async def sweep(self) -> None:
        """Move on every race that is due, whoever plays in it and wherever."""
        due = await self._races.overdue(200)
        for at in range(0, len(due), _SWEPT_AT_ONCE):
            await self._sweep(due[at : at + _SWEPT_AT_ONCE])

    async def _sweep(self, race_ids: Iterable[str]) -> None:
        found = {}
        for race_id in race_ids:
            try:
                at = await self._moved_on(race_id)
            except StoreUnavailable:
                raise
            except Exception:
                # Its record is damaged: the other races must not wait for it.
                log.exception("race %s cannot be moved on", race_id)
                later_ms = self._leases.outages.read_at_ms + _SWEEP_MS
                await self._races.schedule({race_id: later_ms})
                continue
            if at is not None:
                found[race_id] = at
        await self._plan(found)
        for race_id, at in found.items():
            room = self._rooms.get(race_id)
            if room is None:
                self.own(self._show_lobby(race_id, at))
            elif at.is_news_to(room.state):
                self.own(self.refresh(room))

    async def _moved_on(self, race_id: str) -> Advanced | None:
        """Move a race on and book it when it is closed. None if there is none any more."""
        at = await self._advanced(race_id)
        if at is not None and at.phase is Phase.CLOSED:
            await self._books.book(race_id)
        if at is None or at.phase is Phase.CLOSED:
            await self._races.unschedule(race_id)
        return at

    async def _plan(self, found: Mapping[str, Advanced]) -> None:
        """Say when the sweep looks at open races again, and list those that run."""
        dues = {
            race_id: min(at.due_ms, at.now_ms + (_DAY_SWEEP_MS if at.is_of_a_day else _SWEEP_MS))
            for race_id, at in found.items()
            if at.phase is not Phase.CLOSED
        }
        live = {
            race_id: at.now_ms
            for race_id, at in found.items()
            if at.phase is Phase.RUNNING and not at.is_of_a_day
        }
        if dues:
            await self._races.schedule(dues)
        if live:
            await self._races.list_live(live)

    async def _show_lobby(self, race_id: str, at: Advanced) -> None:
        if at.phase is Phase.LOBBY:
            await self.show(race_id)

    async def show(self, race_id: str) -> None:
        """Have the lobby show a room as it is that this node has nobody in."""
        if (state := await self.load(race_id)) is not None:
            await self._lobbies.note(state)

    async def _advanced(self, race_id: str) -> Advanced | None:
        while True:
            try:
                return await self._races.advance(race_id, self._leases.outages)
            except Stale:
                await self._leases.beat()

    def own(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work that nobody waits for; what goes wrong in it is logged."""
        if self._closing:
            work.close()
            return
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, StoreUnavailable):
            log.warning("store unavailable: %s; the sweep will see to it", error)
        else:
            log.error("a task about a race failed", exc_info=error)


def _roster(state: RaceState) -> tuple[object, ...]:
    """What of a race is news to the room, progress apart."""
    return state.setting, [seat.rating for seat in state.seats.values()]


def _rated(state: RaceState) -> list[object]:
    """What is news to the room of a closed race."""
    return [seat.rated for seat in state.seats.values()]
