"""What one connection may ask for, and the one answer each request gets."""

import asyncio
import logging
import math
import secrets
from collections.abc import Coroutine
from functools import partial
from typing import Any, Protocol, assert_never

from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import ActionRequest, decode_action, decode_client, encode, pack
from samedeal.protocol.errors import BadFrame, ErrorCode
from samedeal.protocol.fields import Phase, Status
from samedeal_server.audience import Watcher
from samedeal_server.desk import RaceDesk
from samedeal_server.door import Visitor
from samedeal_server.errors import Refusal, ServerError, StoreUnavailable
from samedeal_server.progress import Progress
from samedeal_server.room import Room
from samedeal_server.runs import Committed, Fenced, LiveRun, over
from samedeal_server.store.accounts import Account
from samedeal_server.wire import POLICY, TRY_LATER, framed

__all__ = ["Outbox", "Session"]

log = logging.getLogger(__name__)

MAX_RACES = 8
"""Races one connection may sit in at the same time, and as many it may watch."""
RETRY_MS = 1000


class Outbox(Protocol):
    """The way out to one client."""

    def send(self, frame: bytes) -> None:
        """Write a frame now; a client that does not read is closed, not waited for."""

    def write(self, framed: bytes) -> None:
        """The same with frames that are framed already."""

    def offer(self, framed: bytes) -> bool:
        """Write bytes that are framed already, unless much is unread. Return whether it did."""

    def keep_little(self) -> None:
        """Have little of what is unsent held by the system."""

    def rest(self) -> None:
        """Read no more for a moment."""

    def close(self, code: int, reason: str) -> None:
        """Close the connection soon."""


class Seat:
    """A seat this connection holds; what its room knows as a member."""

    def __init__(self, session: "Session", seat: int, epoch: int) -> None:
        self.session = session
        self.seat = seat
        self.epoch = epoch
        self.live: LiveRun | None = None
        self.room: Room | None = None
        self.progress = Progress()

    def send(self, frame: bytes) -> None:
        self.session.outbox.write(self.progress.take() + framed(frame))

    def tell(self, framed: bytes, now: float) -> float | None:
        due_at = self.progress.add(framed, now)
        if due_at is None or due_at > now:
            return due_at
        self.tell_due(now)
        return None

    def tell_due(self, now: float) -> None:
        if due := self.progress.due(now):
            self.session.outbox.write(due)

    def drop(self) -> None:
        self.progress.take()

    def fenced(self) -> None:
        self.session.let_go(self)


class Session:
    """The state of one connection: who it is, and where it sits.

    Frames are handed in one by one: `receive` does what can be done at once and returns work to
    await where it cannot; the next frame waits for that. A move under way does not hold up the
    reading, only the next action.
    """

    def __init__(self, desk: RaceDesk, outbox: Outbox, visitor: Visitor[Any]) -> None:
        self.id = secrets.token_hex(8)
        self.outbox = outbox
        self._visitor = visitor
        self._now = asyncio.get_running_loop().time
        self.account: Account | None = None
        self._desk = desk
        self._seats: dict[str, Seat] = {}
        self._watching: dict[str, Watcher] = {}
        self._sitting: set[str] = set()
        """Races in which a seat is being taken, by an epoch that may be seen before it is here."""
        self._bad_frames = 0
        self._busy = False
        self._idle: asyncio.Future[None] | None = None

    def receive(self, frame: bytes | str) -> Coroutine[Any, Any, None] | None:
        """Take one frame. Return what is left to await, if anything."""
        message: ask.ClientMessage | ActionRequest
        if (action := decode_action(frame, self._seats)) is not None:
            message = action
            wait_s = self._visitor.action_wait_s(self._now())
            if wait_s == 0 and not self._busy:
                try:
                    self._act(action)
                except Refusal as refusal:
                    self._refuse(action.id, refusal)
                except Exception:
                    self._failed(action)
                return None
        else:
            try:
                message = decode_client(frame)
            except BadFrame as error:
                self._bad(error, frame)
                return None
            wait_s = self._wait_s(message)
        if wait_s > 0:
            self._refuse(message.id, _too_fast(wait_s))
            self.outbox.rest()
            return None
        return self._answer(message)

    def _wait_s(self, message: ask.ClientMessage) -> float:
        """Count a request. Return 0, or for how long it comes too early."""
        if isinstance(message, ask.PlayMove | ask.PlayUndo):
            return self._visitor.action_wait_s(self._now())
        if self.account is None or isinstance(message, ask.Ping):
            if self._visitor.is_hasty(self._now()):
                # Answered all the same, but a flood of them must not slow down the others.
                self.outbox.rest()
            return 0.0
        return self._visitor.request_wait_s(self.account.player, self._now())

    async def leave(self) -> None:
        """The connection is gone: its seats are free for a newer one."""
        self._desk.people.crowd.leave(self)
        for race_id in list(self._watching):
            self._unwatch(race_id)
        await self.settled()
        seats = list(self._seats.items())
        self._seats.clear()
        # All at once and first: whatever comes of the rest, no room keeps who is gone.
        for _, seat in seats:
            if seat.room is not None:
                self._desk.rooms.exit(seat.room, seat)
        self._desk.lobbies.unwatch(self.outbox)
        await self._stop_waiting()
        for race_id, seat in seats:
            try:
                await self._desk.races.detach(race_id, seat.seat, seat.epoch)
                if (room := self._desk.rooms.get(race_id)) is not None:
                    await self._desk.rooms.refresh(room)
                elif seat.room is not None and seat.room.state.phase is Phase.LOBBY:
                    await self._desk.rooms.show(race_id)
            except StoreUnavailable:
                log.warning("race %s: could not note that seat %d is empty", race_id, seat.seat)

    async def _stop_waiting(self) -> None:
        """Nobody new is matched with who is gone."""
        if self.account is not None:
            try:
                await self._desk.matches.lost(self.account, self.outbox)
            except StoreUnavailable:
                log.warning("a player is gone; the queue finds out when the lease ends")

    def let_go(self, seat: Seat) -> None:
        """Another connection holds this seat now: say so, and leave it to that one."""
        room = seat.room
        if room is None or self._seats.get(room.id) is not seat or room.id in self._sitting:
            # The last: this very connection takes it over. If it is another one after all, the
            # next reading of the race or the next commit tells.
            return
        del self._seats[room.id]
        self._desk.rooms.exit(room, seat)
        if room.state.seats.get(seat.seat) is not None:
            sentence = "another connection of yours took this seat over"
            self._send(say.TakenOver(race=room.id, sentence=sentence))

    # Requests

    async def _answer(self, message: ask.ClientMessage | ActionRequest) -> None:
        await self.settled()
        try:
            await self._do(message)
        except Refusal as refusal:
            self._refuse(message.id, refusal)
        except StoreUnavailable as error:
            log.warning("store unavailable: %s", error)
            self._refuse(message.id, _store_away())
        except Exception:
            self._failed(message)

    def _failed(self, message: ask.ClientMessage | ActionRequest) -> None:
        """Log the error at hand, and answer all the same."""
        log.exception("a request failed: %s", type(message).__name__)
        sentence = "the server failed on this; it is in its log"
        self._refuse(message.id, Refusal(ErrorCode.INTERNAL, sentence))

    async def _do(self, message: ask.ClientMessage | ActionRequest) -> None:
        desk = self._desk
        if isinstance(message, ActionRequest):
            self._act(message)
            return
        if isinstance(message, ask.Hello):
            await self._hello(message)
            return
        account = self.account
        if account is None:
            raise Refusal(ErrorCode.HELLO_FIRST, "say hello first")
        match message:
            case ask.Ping():
                self._send(say.Pong(id=message.id))
            case ask.BoardGet():
                self._send(await desk.boards.page(account, message))
            case ask.FriendAdd() | ask.FriendRemove() | ask.FriendsGet():
                self._send(await desk.boards.friends(account, message))
            case ask.ReplayGet():
                self._send(await desk.replays.part(account, message))
            case ask.AccountGet() | ask.Rename() | ask.Rotate() | ask.LinkMake() | ask.Export():
                self._send(await desk.people.answer(self, message))
            case ask.Delete():
                self._send(await desk.people.answer(self, message))
                await self._follow_up(desk.people.show_out(account.player))
            case ask.Create():
                self._room_for_one_more()
                race_id = await desk.create(account, message)
                await self._sit(message.id, race_id, have=0)
            case ask.Join():
                self._room_for_one_more()
                race_id = await desk.join(account, message.code)
                await self._sit(message.id, race_id, have=0)
            case ask.DailyGet():
                self._send(await desk.days.show(account, message))
            case ask.DailyPlay():
                self._room_for_one_more()
                race_id = await desk.days.open(account, message)
                await self._sit(message.id, race_id, have=0)
            case ask.Resume():
                await self._sit(message.id, message.race, have=message.have)
            case ask.PlayMove() | ask.PlayUndo():
                self._act(ActionRequest.of(message))
            case ask.Ready():
                await self._change(message, desk.ready(account, message))
            case ask.Start():
                await self._change(message, desk.start(account, message))
            case ask.SetOptions():
                await self._change(message, desk.set_options(account, message))
            case ask.Bank():
                await self._change(message, desk.end(account, message.race, Status.BANKED))
            case ask.Leave():
                await self._change(message, desk.end(account, message.race, Status.LEFT))
            case ask.EndRace():
                await self._change(message, desk.end_race(account, message))
            case ask.Say():
                await desk.tell(account, message)
                self._send(say.Done(id=message.id))
                if (room := desk.rooms.get(message.race)) is not None:
                    await self._follow_up(desk.rooms.refresh(room))
            case ask.Watch():
                await self._watch(account, message)
            case ask.Unwatch():
                self._unwatch(message.race)
                self._send(say.Done(id=message.id))
            case ask.LiveGet():
                races = await desk.spectators.live(message.limit)
                self._send(say.LiveRaces(id=message.id, races=races))
            case ask.LobbyWatch(on=True):
                self._send(await desk.lobbies.watch(self.outbox, message.game, message.id))
            case ask.LobbyWatch():
                desk.lobbies.unwatch(self.outbox)
                self._send(say.Done(id=message.id))
            case ask.MatchQueue():
                self._send(await desk.matches.join(account, self.outbox, message.game, message.id))
            case ask.MatchAnswer(race=pair, accept=accept):
                await desk.matches.answer(account, self.outbox, pair, accept=accept)
                self._send(say.Done(id=message.id))
            case ask.MatchBot():
                self._send(await desk.matches.bot(account, self.outbox, message.id))
            case ask.MatchLeave():
                await desk.matches.leave(account, self.outbox)
                self._send(say.Done(id=message.id))
            case ask.Next():
                moved = await desk.next_race(account, message)
                self._send(moved)
                if (room := desk.rooms.get(message.race)) is not None:
                    await self._follow_up(desk.rooms.refresh(room))
            case _:
                assert_never(message)

    async def _hello(self, message: ask.Hello) -> None:
        if self.account is not None:
            raise Refusal(ErrorCode.HELLO_FIRST, "hello was said already")
        people, began_s = self._desk.people, self._now()
        account = None if message.token is None else await people.recognise(message.token)
        token = None
        if account is None:
            if (wait_s := self._visitor.hello_wait_s(self._now())) > 0:
                self.outbox.rest()
                raise _too_fast(wait_s)
            account, token = await people.introduce(message)
        people.crowd.enter(self, account, began_s)
        self.account = account
        self._visitor.passed()
        self._send(
            say.Welcome(
                id=message.id,
                player=account.player,
                name=account.name,
                bot=account.bot,
                token=token,
                version=self._desk.version,
            )
        )
        people.crowd.greet(self)

    async def _change(self, message: Any, change: Coroutine[Any, Any, None]) -> None:
        """Change a race, answer, then have everyone in the room see it."""
        await change
        self._send(say.Done(id=message.id))
        await self._follow_up(self._desk.rooms.advance(message.race))

    async def _follow_up(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what follows from a request that is answered: it gets no second answer."""
        try:
            await work
        except StoreUnavailable as error:
            log.warning("store unavailable: %s; the sweep will see to it", error)
        except Exception:
            log.exception("what follows from a request failed")

    def _room_for_one_more(self) -> None:
        """Let go of closed races where there are too many. Raise Refusal if all are open."""
        if len(self._seats) >= MAX_RACES:
            for race_id, seat in list(self._seats.items()):
                if seat.room is not None and seat.room.state.phase is Phase.CLOSED:
                    del self._seats[race_id]
                    self._desk.rooms.exit(seat.room, seat)
        if len(self._seats) >= MAX_RACES:
            sentence = f"one connection may sit in {MAX_RACES} races; leave one first"
            raise Refusal(ErrorCode.TOO_MANY, sentence)

    async def _sit(self, request: int, race_id: str, have: int) -> None:
        """Take the own seat over, and answer with the room and the run as far as it is."""
        assert self.account is not None
        desk = self._desk
        if race_id not in self._seats:
            self._room_for_one_more()
        self._sitting.add(race_id)
        try:
            attached, state = await desk.attach(self.account, race_id)
            seat = Seat(self, attached.seat, attached.epoch)
            live = await desk.load_run(desk.rooms.newest(state), attached.seat, attached.epoch)
        finally:
            self._sitting.discard(race_id)
        seat.live = live
        older = self._seats.pop(race_id, None)
        # From here to its place in the room nothing is awaited: it misses nothing, and is told
        # nothing older than this answer.
        state = desk.rooms.take(state)
        self._seats[race_id] = seat
        entries = [] if live is None else live.entries
        if have > len(entries):
            have = 0
        self._send(
            say.Seated(
                id=request,
                race=state.view(),
                seat=attached.seat,
                seq=len(entries),
                hash=0 if live is None else live.run.table.hash,
                board=None if live is None else live.dealt_board(),
                log=tuple(entry.log_entry() for entry in entries[have:]),
            )
        )
        if older is not None and older.room is not None:
            desk.rooms.exit(older.room, older)
        seat.room = desk.rooms.place(state, seat)

    # Watching

    async def _watch(self, account: Account, message: ask.Watch) -> None:
        """Answer with what there is to see of a race; what happens in it follows."""
        if len(self._watching) >= MAX_RACES and message.race not in self._watching:
            sentence = f"one connection may watch {MAX_RACES} races; leave one first"
            raise Refusal(ErrorCode.TOO_MANY, sentence)
        self.outbox.keep_little()
        race_id, watcher = await self._desk.spectators.watch(account.player, self.outbox, message)
        self._unwatch(race_id)
        self._watching[race_id] = watcher

    def _unwatch(self, race_id: str) -> None:
        if (watcher := self._watching.pop(race_id, None)) is not None:
            self._desk.spectators.leave(watcher)

    # Moves

    def _act(self, action: ActionRequest) -> None:
        """Check an action and send it to the store. Raise Refusal if it is not the next one."""
        request, race, seq, text = action
        seat = self._seats.get(race)
        if seat is None or seat.room is None:
            raise Refusal(ErrorCode.NOT_SEATED, "this connection holds no seat in that race")
        live = seat.live
        if live is None:
            raise Refusal(ErrorCode.WRONG_PHASE, "the race has not begun; wait for GO")
        again = live.answered(seq, text)
        if again is not None:
            self.outbox.send(_ack(request, race, again))
            return
        try:
            live.submit(text, partial(self._acted, request, race, seat, live))
        except Refusal:
            record = seat.room.state.seats.get(seat.seat)
            if record is not None and record.ended is not None:
                raise over() from None
            raise
        self._busy = True

    def _acted(
        self,
        request: int,
        race: str,
        seat: Seat,
        live: LiveRun,
        result: Committed | ServerError,
        ver: int | None,
    ) -> None:
        """The store has answered: acknowledge, or say why not."""
        self._busy = False
        if self._idle is not None:
            self._idle.set_result(None)
            self._idle = None
        if isinstance(result, Committed):
            ack = framed(_ack(request, race, result))
            self.outbox.write(ack + seat.progress.with_ack(self._now()))
            if seat.room is not None:
                self._desk.rooms.moved(seat.room, seat.seat, live, ver)
        elif isinstance(result, Refusal):
            self._refuse(request, result)
        elif isinstance(result, Fenced):
            refusal = Refusal(ErrorCode.TAKEN_OVER, "another connection holds this seat")
            self._refuse(request, refusal)
            self.let_go(seat)
        else:
            # Whether it was written is unknown: this board is worth nothing until it is read again.
            self._refuse(request, _store_away())
            self.outbox.close(TRY_LATER, f"retry_ms={RETRY_MS}")

    async def settled(self) -> None:
        """Wait until the move under way is answered."""
        while self._busy:
            if self._idle is None:
                self._idle = asyncio.get_running_loop().create_future()
            # Not awaited itself: more than one may wait, and one that is cancelled would end it.
            await asyncio.wait([self._idle])

    # Answers

    def _send(self, message: say.ServerMessage) -> None:
        self.outbox.send(encode(message))

    def _refuse(self, request: int | None, refusal: Refusal) -> None:
        self._send(
            say.Refused(
                id=request,
                code=refusal.code,
                sentence=refusal.sentence,
                expected=refusal.expected,
                retry_ms=refusal.retry_ms,
            )
        )

    def _bad(self, error: BadFrame, frame: bytes | str) -> None:
        """Answer what cannot be read; who sends too much of it is shown out."""
        too_large = isinstance(frame, bytes) and len(frame) > limits.MAX_CLIENT_FRAME
        code = ErrorCode.TOO_LARGE if too_large else ErrorCode.BAD_FRAME
        self._refuse(error.request_id, Refusal(code, error.sentence))
        self._bad_frames += 1
        if self._bad_frames >= limits.MAX_BAD_FRAMES:
            self.outbox.close(POLICY, "too many frames that cannot be read")


def _ack(request: int, race: str, entry: Committed) -> bytes:
    """Encode a `say.Ack`, by hand: a message object for each would cost more than the move."""
    seq, _, t_ms, hash_, reveals = entry
    fields: dict[str, object] = {
        "id": request,
        "race": race,
        "seq": seq,
        "t_ms": t_ms,
        "hash": hash_,
    }
    if reveals:
        fields["reveals"] = reveals
    fields["type"] = "ack"
    return pack(fields)


def _too_fast(wait_s: float) -> Refusal:
    retry_ms = math.ceil(wait_s * 1000)
    sentence = f"slow down: nothing was done; send it again in {retry_ms} ms"
    return Refusal(ErrorCode.SLOW_DOWN, sentence, retry_ms=retry_ms)


def _store_away() -> Refusal:
    return Refusal(
        ErrorCode.STORE_UNAVAILABLE,
        "the store is unavailable; your move is kept on your side, send it again",
        retry_ms=RETRY_MS,
    )
