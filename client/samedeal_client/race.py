"""A seat in a race: the player's calls, and what happens without being asked for."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from samedeal.engine.moves import Move
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import OptionsPatch, Phase, Phrase, RaceView, Status
from samedeal_client.errors import ClientError, ConnectionLost, Refused, Unanswered
from samedeal_client.exchange import Exchange
from samedeal_client.inbox import Inbox
from samedeal_client.model import Outgoing, OutOfStep, RaceModel
from samedeal_client.replays.fetch import fetch

__all__ = ["DISAGREE", "Dropped", "Event", "Link", "Race", "Rewound", "Store"]

log = logging.getLogger(__name__)

DISAGREE: Final = "client and server do not agree on the table; one of them has to be updated"
MAX_MENDS: Final = 5
"""How often in a row the outbox is sent again for a gap, without any action accepted."""


@dataclass(frozen=True, slots=True)
class Link:
    """The connection was lost, or is back; what was sent and not answered is sent again."""

    is_up: bool


@dataclass(frozen=True, slots=True)
class Store:
    """The server's store does not answer, or does again; moves are kept here meanwhile."""

    is_up: bool


@dataclass(frozen=True, slots=True)
class Rewound:
    """The server lost actions that it had acknowledged; they are sent again."""

    actions: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Actions that nobody waits for any more were refused: the table is as without them."""

    actions: tuple[str, ...]
    sentence: str


Event = (
    say.Room
    | say.Go
    | say.Progress
    | say.Notice
    | say.Closed
    | say.Moved
    | say.Said
    | say.TakenOver
    | say.Announcement
    | say.Dismissed
    | Link
    | Store
    | Rewound
    | Dropped
)
"""What happens in a race without being asked for."""


class Race:
    """A seat in a race. Calls raise Unanswered when the server is silent for too long."""

    def __init__(self, exchange: "Exchange[Race]", seated: say.Seated) -> None:
        try:
            self.model = RaceModel(seated, exchange.next_id)
        except OutOfStep as error:
            log.warning("race %s: %s", seated.race.id, error)
            raise ConnectionLost(DISAGREE) from None
        self.attached = asyncio.Event()
        """Set while the connection holds the seat and what was unanswered has been sent again."""
        self.attached.set()
        self._exchange = exchange
        self._events: Inbox[Event] = Inbox(_merged)
        self._waiting: dict[int, asyncio.Future[say.Ack]] = {}
        self._changed = asyncio.Event()
        self._error: ClientError | None = None
        self._link_is_up = self._store_is_up = True
        self._is_anew = False
        self._mends = 0
        self._clock: tuple[int, float]
        """What the server's clock said last, from GO, and when by the loop's."""
        self._hear_clock(self.model.view)
        self._followers = 0
        """Calls under way that need to hear what comes."""
        self._ended_by: type[ask.Bank] | type[ask.Leave] | None = None

    @property
    def view(self) -> RaceView:
        """The race as everyone in the room sees it."""
        return self.model.view

    @property
    def clock_ms(self) -> float:
        """Milliseconds since GO by the server's clock, as well as it can be known here."""
        clock_ms, heard_s = self._clock
        if self.view.phase in (Phase.LOBBY, Phase.CLOSED):
            return float(clock_ms)
        return clock_ms + (asyncio.get_running_loop().time() - heard_s) * 1000

    @property
    def id(self) -> str:
        return self.model.view.id

    @property
    def code(self) -> str:
        return self.model.view.code

    @property
    def table(self) -> Table:
        """The own table; moves on their way are shown. Raise IllegalMove before GO."""
        return self.model.table

    @property
    def acked(self) -> int:
        """Number of the last action known to be accepted."""
        return self.model.acked

    @property
    def is_alive(self) -> bool:
        """Whether anything can still come: the seat is held here, the link not given up."""
        return self._error is None

    @property
    def is_followed(self) -> bool:
        """Whether the race is open, or somebody waits for something of it."""
        return self.is_alive and (self.view.phase is not Phase.CLOSED or self._followers > 0)

    @property
    def is_taken_over(self) -> bool:
        """Whether another connection of this account holds the seat now."""
        return isinstance(self._error, Refused) and self._error.code is ErrorCode.TAKEN_OVER

    async def move(self, move: Move | str) -> say.Ack:
        """Play a move; return when it is acknowledged.

        Raise IllegalMove if the visible cards forbid it, Refused if the server does. Neither
        Unanswered nor cancelling the wait takes the move back: it is kept, and sent until it is
        answered.
        """
        self.check()
        return await self._act(self.model.play(Move.parse(move) if isinstance(move, str) else move))

    async def undo(self) -> say.Ack:
        """Take the last move back; return when that is acknowledged."""
        self.check()
        return await self._act(self.model.undo())

    async def ready(self, ready: bool = True) -> None:
        """Say ready, or not any more."""
        await self._do(ask.Ready(id=self._exchange.next_id(), race=self.id, ready=ready))

    async def start(self) -> None:
        """Start the countdown, as the host."""
        await self._do(ask.Start(id=self._exchange.next_id(), race=self.id))

    async def set_options(self, **options: Any) -> None:
        """Change options, as the host, in the lobby."""
        patch = OptionsPatch(**options)
        await self._do(ask.SetOptions(id=self._exchange.next_id(), race=self.id, options=patch))

    async def bank(self) -> None:
        """End the run and keep its result."""
        await self._do(ask.Bank(id=self._exchange.next_id(), race=self.id))
        self._ended_by = ask.Bank

    async def leave(self) -> None:
        """Give the seat back (lobby), which ends this, or end the run."""
        was_lobby = self.view.phase is Phase.LOBBY
        await self._do(ask.Leave(id=self._exchange.next_id(), race=self.id))
        self._ended_by = ask.Leave
        if was_lobby and self.view.phase is Phase.LOBBY:
            self.end(ConnectionLost("the seat was given back"))
            self._exchange.rest()

    async def end_race(self) -> None:
        """Close the race, in which only bots play on. Raise Refused while a person does."""
        await self._do(ask.EndRace(id=self._exchange.next_id(), race=self.id))

    async def tell(self, phrase: Phrase | str) -> None:
        """Say one of the phrases to the room."""
        what = Phrase(phrase)
        await self._do(ask.Say(id=self._exchange.next_id(), race=self.id, phrase=what))

    async def next(self) -> "Race":
        """The next race of the room, on a new deal. This one is over for good."""
        exchange = self._exchange
        message = ask.Next(id=exchange.next_id(), race=self.id)
        moved = await exchange.request(message, say.Moved)
        seated = await exchange.request(
            ask.Resume(id=exchange.next_id(), race=moved.to), say.Seated
        )
        return exchange.seats[seated.race.id]

    async def replay(self) -> str:
        """The replay file of the closed race."""
        return await fetch(self._exchange, self.id)

    async def events(self) -> AsyncIterator[Event]:
        """What happens in the race, until the connection ends for good.

        Of how the others moved on a slow reader gets the newest, all of it in one event.
        """
        with self._following():
            while True:
                try:
                    event = await self._events.next()
                except ClientError:
                    return
                if event is not None:
                    yield event

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something about the race holds.

        Raise ConnectionLost, or Refused after another connection took the seat, if it never can.
        """
        if condition():
            return
        with self._following():
            while not condition():
                self.check()
                self._changed.clear()
                await self._changed.wait()

    async def until_go(self) -> None:
        """Wait for the board."""
        await self.until(lambda: self.model.has_begun or self.view.phase is Phase.CLOSED)

    async def until_closed(self) -> None:
        """Wait for the final order."""
        await self.until(lambda: self.view.phase is Phase.CLOSED)

    async def until_rated(self) -> None:
        """Wait until a closed ranked race has moved the ratings, which it does within a moment."""
        order = self.view.order
        if self.view.day is None and self.view.options.ranked and any(row.moves for row in order):
            await self.until(lambda: all(row.rating is not None for row in self.view.order))

    def check(self) -> None:
        """Raise what ended it, if it has ended."""
        if self._error is not None:
            raise self._error

    # What the exchange tells

    def acknowledged(self, ack: say.Ack) -> None:
        """An action is accepted."""
        self._mends = 0
        try:
            self.model.acknowledged(ack)
        except OutOfStep as error:
            if self.attached.is_set():
                self._take_anew(error)
        self._answer(ack)
        self._store_answers()
        self._changed.set()

    def refused(self, refusal: say.Refused) -> None:
        """A request was refused; only those of this race count."""
        if refusal.id is None or not self.model.is_under_way(refusal.id):
            return
        match refusal.code:
            case ErrorCode.STORE_UNAVAILABLE | ErrorCode.SLOW_DOWN:
                if refusal.code is ErrorCode.STORE_UNAVAILABLE:
                    self.store_is_away()
                if self.attached.is_set():
                    self._exchange.attach(self, self.id, hint_ms=refusal.retry_ms or 0)
            case ErrorCode.SEQ_GAP | ErrorCode.SEQ_CONFLICT if self._mends < MAX_MENDS:
                self._mend()
            case ErrorCode.TAKEN_OVER:
                self._drop(self.model.refused(refusal.id), refusal.code, refusal.sentence)
                self.end(Refused(refusal.code, refusal.sentence))
            case _:
                self._drop(self.model.refused(refusal.id), refusal.code, refusal.sentence)
        self._changed.set()

    def unclear(self, request: int) -> None:
        """The answer to a request could not be read; only those of this race count."""
        if not self.model.is_under_way(request):
            return
        if self._mends < MAX_MENDS:
            self._mend()
        else:
            self.end(ConnectionLost(DISAGREE))

    def seated(self, seated: say.Seated) -> None:
        """The seat was resumed: take over what the server knows, send again what it does not."""
        had_begun, phase, following = self.model.has_begun, self.view.phase, self.view.next
        try:
            resumed = self.model.resume(seated)
        except OutOfStep as error:
            self._take_anew(error)
            return
        self._hear_clock(seated.race)
        self._is_anew = False
        for ack in resumed.settled:
            self._answer(ack)
        if resumed.lost:
            self._event(Rewound(resumed.lost))
        sentence = "the run went on elsewhere, with other moves"
        self._drop(list(resumed.dropped), ErrorCode.SEQ_CONFLICT, sentence)
        for message in resumed.again:
            self._exchange.send(message)
        if self._ended_by is not None and self._is_playing:
            # A store that lost actions lost the end as well: it was acknowledged like them.
            self._exchange.send(self._ended_by(id=self._exchange.next_id(), race=self.id))
        self.attached.set()
        if not self._link_is_up:
            self._link_is_up = True
            self._event(Link(is_up=True))
        if not self.model.outbox:
            self._store_answers()
        # What happened meanwhile is told as if it had been heard.
        if seated.board is not None and not had_begun:
            run = self.model.run
            self._event(
                say.Go(race=self.view, seat=seated.seat, hash=run.table.hash, board=seated.board)
            )
        if self.view.phase is Phase.CLOSED and phase is not Phase.CLOSED:
            self._event(say.Closed(race=self.view))
        if self.view.next is not None and following is None:
            self._event(say.Moved(race=self.id, to=self.view.next, code=self.code))
        self._changed.set()

    def happened(self, event: Any) -> None:
        """The server told of the race."""
        model = self.model
        if isinstance(event, say.Progress):
            model.take_progress(event)
        elif isinstance(event, say.Go):
            self._take_view(event.race)
            if not model.has_begun and not self._begin(event):
                return
        elif isinstance(event, say.Room | say.Closed):
            self._take_view(event.race)
        self._event(event)
        if isinstance(event, say.TakenOver):
            self.end(Refused(ErrorCode.TAKEN_OVER, event.sentence))

    def _take_view(self, view: RaceView) -> None:
        self.model.take_view(view)
        if self.model.view is view:
            self._hear_clock(view)

    def _hear_clock(self, view: RaceView) -> None:
        self._clock = (view.clock_ms, asyncio.get_running_loop().time())

    def _begin(self, go: say.Go) -> bool:
        """Take the board. Return whether it is the server's."""
        try:
            again = self.model.begin(go.board, go.hash)
        except OutOfStep as error:
            if self.attached.is_set():
                self._take_anew(error)
            return False
        if self.attached.is_set():
            for message in again:
                self._exchange.send(message)
        return True

    def lost_link(self) -> None:
        """The connection is gone; it is being made again."""
        # A store that is away has the server close connections: that is one story, not many.
        if self._link_is_up and self._store_is_up:
            self._link_is_up = False
            self._event(Link(is_up=False))

    def store_is_away(self) -> None:
        """The server's store does not answer."""
        if self._store_is_up:
            self._store_is_up = False
            self._event(Store(is_up=False))

    def end(self, error: ClientError) -> None:
        """Nothing will come any more."""
        if self._error is not None:
            return
        self._error = error
        self._events.end(error)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
        self.attached.set()
        self._changed.set()

    # Inside

    @property
    def _is_playing(self) -> bool:
        """Whether the own run goes on, by the server's word."""
        is_on = self.view.phase is Phase.RUNNING
        me = (player for player in self.view.players if player.seat == self.model.seat)
        return is_on and any(player.status is Status.PLAYING for player in me)

    async def _do(self, message: ask.ClientMessage) -> None:
        # Whoever lost the seat must not end the run of the connection that has it.
        self.check()
        with self._following():
            await self._exchange.request(message, say.Done, self)

    @contextmanager
    def _following(self) -> Iterator[None]:
        """Have it told of what comes, also if it was let go of meanwhile."""
        self._followers += 1
        holder = self._exchange.seats.get(self.id)
        if self.is_alive and holder is None:
            self._exchange.take_back(self, self.id)
        elif holder is not self:
            self.end(ConnectionLost("the seat was resumed by another call, which follows it now"))
        try:
            yield
        finally:
            self._followers -= 1

    async def _act(self, message: ask.PlayMove | ask.PlayUndo) -> say.Ack:
        loop = asyncio.get_running_loop()
        start_s = loop.time()
        future: asyncio.Future[say.Ack] = loop.create_future()
        self._waiting[message.id] = future
        if self.attached.is_set():
            self._exchange.send(message)
        try:
            async with asyncio.timeout(self._exchange.patience_s):
                return await future
        except TimeoutError:
            if not self._exchange.doubt(start_s) and self.attached.is_set():
                self._exchange.attach(self, self.id)
            raise Unanswered(
                f"no answer from the server within {self._exchange.patience_s:g} s; "
                "the move is kept here and goes on being sent"
            ) from None
        finally:
            self._waiting.pop(message.id, None)

    def _answer(self, ack: say.Ack) -> None:
        future = self._waiting.get(ack.id)
        if future is not None and not future.done():
            future.set_result(ack)

    def _drop(self, dropped: list[Outgoing], code: ErrorCode, sentence: str) -> None:
        """Tell who waits for these actions that they are refused; else tell it as an event."""
        unheard = []
        for entry in dropped:
            future = self._waiting.get(entry.message.id)
            if future is not None and not future.done():
                future.set_exception(Refused(code, sentence))
            else:
                unheard.append(str(entry.action))
        if unheard:
            self._event(Dropped(tuple(unheard), sentence))

    def _mend(self) -> None:
        """Ask where the server stands, and send the outbox again from there."""
        if self.attached.is_set():
            self._mends += 1
            self._exchange.attach(self, self.id)

    def _take_anew(self, error: OutOfStep) -> None:
        """Ask for everything from the deal on, once: if that does not fit, no asking helps."""
        if self._is_anew:
            self.end(ConnectionLost(DISAGREE))
            return
        log.warning("race %s: %s; taking everything anew", self.id, error)
        self._is_anew = True
        self._exchange.attach(self, self.id, anew=True)

    def _store_answers(self) -> None:
        if not self._store_is_up:
            self._store_is_up = True
            self._event(Store(is_up=True))

    def _event(self, event: Event) -> None:
        self._events.put(event)
        self._changed.set()


def _merged(last: Event, event: Event) -> Event | None:
    """Make one of two progress messages, which come all the time: the later one of each player."""
    if not isinstance(last, say.Progress) or not isinstance(event, say.Progress):
        return None
    players = {player.seat: player for player in (*last.players, *event.players)}
    return event.model_copy(update={"players": tuple(players.values())})
