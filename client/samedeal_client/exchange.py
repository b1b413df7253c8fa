"""Requests and their answers over connections that come and go, and the seats these belong to."""

import asyncio
import itertools
import logging
import random
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, Protocol, TypeVar

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import BadFrame, ErrorCode, UnknownMessage
from samedeal.protocol.fields import RaceView
from samedeal_client.errors import CannotConnect, ClientError, ConnectionLost, Refused, Unanswered
from samedeal_client.inbox import Inbox
from samedeal_client.pauses import Pauses
from samedeal_client.sight import Feed
from samedeal_client.wire import Wire, addresses

__all__ = ["Exchange", "Seat"]

log = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")
_Seat = TypeVar("_Seat", bound="Seat")

DIAL_S: Final = 10.0
STEADY_S: Final = 30.0
"""A connection that lasted so long was a good one: the next loss is a first one."""
UNREADABLE: Final = "the server says what this client cannot read; one of them has to be updated"


class _WireLost(Exception):
    """The connection ended before the answer came."""


class Seat(Protocol):
    """A seat in a race, as far as the exchange has to do with it."""

    attached: asyncio.Event
    """Set while the connection holds the seat and what was unanswered has been sent again."""

    @property
    def is_alive(self) -> bool:
        """Whether anything can still come."""

    @property
    def is_followed(self) -> bool:
        """Whether somebody would miss what comes: else a closed race is not resumed."""

    def check(self) -> None:
        """Raise what ended it, if it has ended."""

    @property
    def acked(self) -> int:
        """Number of the last action known to be accepted."""

    def seated(self, seated: say.Seated) -> None:
        """The seat was resumed."""

    def acknowledged(self, ack: say.Ack) -> None:
        """An action is accepted."""

    def refused(self, refusal: say.Refused) -> None:
        """A request was refused; it may be one of another race."""

    def unclear(self, request: int) -> None:
        """The answer to a request could not be read; it may be one of another race."""

    def happened(self, event: Any) -> None:
        """The server told of the race."""

    def lost_link(self) -> None:
        """The connection is gone; it is being made again."""

    def store_is_away(self) -> None:
        """The server's store does not answer."""

    def end(self, error: ClientError) -> None:
        """Nothing will come any more."""


class Exchange(Generic[_Seat]):
    """Keeps one account connected to one of several addresses of a service.

    A lost connection is made again, with growing pauses or after the pause that the server named,
    at the next address, and every seat is resumed. After `give_up_s` in vain it ends.
    """

    def __init__(
        self,
        url: str,
        new_seat: Callable[[say.Seated], _Seat],
        *,
        name: str | None,
        token: str | None,
        is_bot: bool,
        exact: bool,
        link: str | None,
        secret: str | None,
        rng: random.Random,
        patience_s: float,
        give_up_s: float,
    ) -> None:
        self.token, self.name, self.player = token, name or "", ""
        self.is_bot = is_bot
        self.patience_s = patience_s
        self.seats: dict[str, _Seat] = {}
        self.watched: dict[str, Feed] = {}
        """The races that this account watches, by their ids."""
        self.inboxes: dict[type[say.Lobby] | type[say.Match], Inbox[Any]] = {}
        """Who follows the lobby, and who waits for an opponent."""
        self._new_seat = new_seat
        self._given_name, self._as_bot, self._or_like = name, is_bot, not exact
        self._link, self._secret = link, secret or secrets.token_hex(32)
        self._heard: dict[str, say.Announcement | say.Dismissed] = {}
        """What the server said to everybody, for those who sit down later."""
        self._addresses = addresses(url)
        self._at = 0
        self._rng = rng
        self._pauses = Pauses(rng)
        self._give_up_s = give_up_s
        self._bad_since_s: float | None = None
        self._ids = itertools.count(1)
        self._wire: Wire | None = None
        self._up = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._keeper: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: ClientError | None = None

    @property
    def is_up(self) -> bool:
        """Whether there is a connection that has said hello."""
        return self._wire is not None and self._ended is None

    @property
    def up_since_s(self) -> float:
        """Since when this connection stands, by the clock of the loop; 0 while there is none."""
        return 0.0 if self._wire is None else self._wire.since_s

    @property
    def has_ended(self) -> bool:
        """Whether nothing will be answered any more."""
        return self._ended is not None

    async def open(self) -> None:
        """Connect to the first address that answers. Raise CannotConnect or Refused.

        A server that says when to try again is tried again, for `patience_s`.
        """
        start_s = self._now()
        while True:
            try:
                wire = await self._dial_any()
                break
            except Refused as refusal:
                if refusal.retry_ms is None or self._now() - start_s >= self.patience_s:
                    raise
                await asyncio.sleep(self._pauses.after(refusal.retry_ms))
        self._take_up(wire)
        self._keeper = asyncio.create_task(self._keep(wire))

    async def _dial_any(self) -> Wire:
        for _ in self._addresses[1:]:
            try:
                return await self._dial()
            except CannotConnect:
                self._at += 1
        return await self._dial()

    async def close(self) -> None:
        """Disconnect. Seats are kept: the same account can resume them."""
        tasks = [*self._tasks, *([self._keeper] if self._keeper else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._wire is not None:
            await self._wire.close()
        self._end(ConnectionLost("this client was closed"))

    # Asking

    def next_id(self) -> int:
        """A number for a request."""
        return next(self._ids)

    def send(self, message: ask.ClientMessage) -> None:
        """Send without waiting for the answer; nothing happens while there is no connection."""
        if self._wire is not None:
            self._wire.send(message)

    async def request(
        self, message: ask.ClientMessage, kind: type[_Answer], seat: Seat | None = None
    ) -> _Answer:
        """Send a request and wait for its answer, over reconnects and pauses if need be.

        One that belongs to a seat waits until that is resumed, so that it overtakes no move. Raise
        Refused, Unanswered after `patience_s`, or what ended the exchange.
        """
        start_s = self._now()
        refusals: list[Refused] = []
        try:
            async with asyncio.timeout(self.patience_s):
                answer = await self._ask(message, seat, refusals)
        except TimeoutError:
            if refusals:
                raise refusals[-1] from None
            self.doubt(start_s)
            raise Unanswered(f"no answer from the server within {self.patience_s:g} s") from None
        if isinstance(answer, kind):
            return answer
        raise Refused(ErrorCode.INTERNAL, UNREADABLE)

    def doubt(self, since_s: float) -> bool:
        """Break a connection on which nothing at all has come since then: it may be a dead one.

        Return whether it was.
        """
        wire = self._wire
        is_silent = wire is not None and wire.since_s < since_s and wire.heard_at_s < since_s
        if wire is not None and is_silent:
            log.warning("the server has gone silent; trying anew")
            wire.drop()
        return is_silent

    def attach(
        self, seat: Seat, race_id: str, *, anew: bool = False, hint_ms: int | None = None
    ) -> None:
        """Have a seat resumed on this connection: at once, or after a pause with a hint.

        What it would send until then has to wait for `attached`. `anew` asks for everything from
        the deal on.
        """
        seat.attached.clear()
        after_s = 0.0 if hint_ms is None else self._pauses.after(hint_ms)
        self._own(self._attach(seat, race_id, anew, after_s))

    def rest(self) -> None:
        """Let go of closed races that nobody follows: `take_back` has one told of again."""
        for race_id, seat in list(self.seats.items()):
            if not seat.is_followed:
                del self.seats[race_id]

    def take_back(self, seat: _Seat, race_id: str) -> None:
        """Have a seat that was let go of resumed, as somebody follows it again."""
        self.seats[race_id] = seat
        self.attach(seat, race_id)

    async def _ask(
        self, message: ask.ClientMessage, seat: Seat | None, refusals: list[Refused]
    ) -> Any:
        pauses = Pauses(self._rng)
        while True:
            await (self._up if seat is None else seat.attached).wait()
            if self._ended is not None:
                raise self._ended
            if seat is not None:
                seat.check()
            try:
                return await self._ask_once(message)
            except _WireLost:
                # A room opened a second time would be another room.
                if isinstance(message, ask.Create):
                    sentence = "the connection was lost while the room was opened; ask again"
                    raise Unanswered(sentence) from None
            except Refused as refusal:
                if refusal.retry_ms is None or isinstance(message, ask.Create):
                    raise
                refusals.append(refusal)
                if seat is not None:
                    _blame(seat, refusal)
                await asyncio.sleep(pauses.after(refusal.retry_ms))

    async def _ask_once(self, message: ask.ClientMessage) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[message.id] = future
        self.send(message)
        try:
            return await future
        finally:
            self._answers.pop(message.id, None)

    async def _attach(self, seat: Seat, race_id: str, anew: bool, after_s: float) -> None:
        """Resume a seat, for as long as this connection lasts."""
        wire, pauses = self._wire, Pauses(self._rng)
        await asyncio.sleep(after_s)
        while seat.is_alive and self._wire is wire and self._up.is_set():
            start_s, have = self._now(), 0 if anew else seat.acked
            try:
                async with asyncio.timeout(self.patience_s):
                    await self._ask_once(ask.Resume(id=self.next_id(), race=race_id, have=have))
                return
            except TimeoutError:
                self.doubt(start_s)
            except _WireLost:
                return
            except Refused as refusal:
                if refusal.retry_ms is None:
                    seat.end(refusal)
                    return
                _blame(seat, refusal)
                await asyncio.sleep(pauses.after(refusal.retry_ms))

    # Connections

    async def _dial(self) -> Wire:
        address = self._addresses[self._at % len(self._addresses)]
        if self.token is not None:
            hello = ask.Hello(id=self.next_id(), token=self.token)
        elif self._link is not None:
            hello = ask.Hello(id=self.next_id(), link=self._link, secret=self._secret)
        else:
            hello = ask.Hello(
                id=self.next_id(),
                name=self._given_name,
                or_like=self._or_like,
                bot=self._as_bot,
            )
        return await Wire.dial(address, hello, min(DIAL_S, self.patience_s))

    def _take_up(self, wire: Wire) -> None:
        welcome = wire.welcome
        self.player, self.name, self.is_bot = welcome.player, welcome.name, welcome.bot
        self.token = welcome.token or self.token
        self._wire = wire
        self._up.set()

    async def _keep(self, wire: Wire) -> None:
        """Read what comes in; when the connection is lost, make it again."""
        try:
            while True:
                while (message := await wire.receive()) is not None:
                    self._take(message)
                self._lose(wire)
                await wire.close()
                wire = await self._come_back(wire.retry_ms)
                self._take_up(wire)
                self.rest()
                for race_id, seat in list(self.seats.items()):
                    if seat.is_alive:
                        self.attach(seat, race_id)
        except ClientError as error:
            self._end(error if isinstance(error, ConnectionLost) else ConnectionLost(str(error)))
        except Exception as error:
            log.exception("reading from the server failed")
            self._end(ConnectionLost(f"this client failed on what the server said: {error!r}"))
        finally:
            await wire.close()

    def _lose(self, wire: Wire) -> None:
        """The connection is gone: whoever waits has to ask again on the next one."""
        now = self._now()
        if now - wire.since_s >= STEADY_S:
            self._is_fine()
        if self._bad_since_s is None:
            self._bad_since_s = now
        self._up.clear()
        self._wire = None
        for future in self._answers.values():
            if not future.done():
                future.set_exception(_WireLost())
        for seat in self.seats.values():
            if seat.is_alive:
                seat.attached.clear()
                seat.lost_link()
        for inbox in self.inboxes.values():
            inbox.lost()
        for feed in self.watched.values():
            feed.lost_link()

    async def _come_back(self, hint_ms: int | None) -> Wire:
        """Connect again, at the next address. Raise Refused, or ConnectionLost in the end."""
        assert self._bad_since_s is not None
        failure: ClientError
        while True:
            await asyncio.sleep(self._pauses.after(hint_ms))
            self._at += 1
            try:
                return await self._dial()
            except CannotConnect as error:
                hint_ms, failure = None, error
            except Refused as refusal:
                if refusal.retry_ms is None:
                    raise
                hint_ms, failure = refusal.retry_ms, refusal
                for seat in self.seats.values():
                    if seat.is_alive:
                        _blame(seat, refusal)
            if self._now() - self._bad_since_s >= self._give_up_s:
                raise ConnectionLost(f"given up after {self._give_up_s:g} s: {failure}")

    def _is_fine(self) -> None:
        """What is asked is done: if the connection is lost now, that is a new story."""
        self._pauses.reset()
        self._bad_since_s = None

    # What comes in

    def _take(self, message: say.ServerMessage | BadFrame) -> None:
        if isinstance(message, BadFrame):
            self._cannot_read(message)
            return
        if isinstance(message, say.Ack | say.Done | say.Progress | say.Watching | say.Watched):
            self._is_fine()
        self._pass_on(message)
        self._answer(message)

    def _pass_on(self, message: say.ServerMessage) -> None:
        """Give a message to whom it is about."""
        match message:
            case say.Ack():
                if (seat := self.seats.get(message.race)) is not None:
                    seat.acknowledged(message)
            case say.Refused():
                for seat in self.seats.values():
                    seat.refused(message)
            case say.Seated():
                self._take_seat(message)
            case say.Room() | say.Go() | say.Closed() | say.Progress() | say.Notice():
                self._tell(message)
            case say.TakenOver() | say.Moved(id=None) | say.Said():
                self._tell(message)
            case say.Announcement(sentence=sentence) | say.Dismissed(sentence=sentence):
                # Said again on each connection: heard once is enough.
                if sentence not in self._heard:
                    self._heard[sentence] = message
                    for seat in self.seats.values():
                        if seat.is_alive:
                            seat.happened(message)
            case say.Watching():
                # At once, for what is told next follows on its heels.
                if message.id in self._answers:
                    self.watched.setdefault(message.race.id, Feed())
                if (feed := self.watched.get(message.race.id)) is not None:
                    feed.take(message)
            case say.Watched() | say.WatchOver():
                if (feed := self.watched.get(message.race)) is not None:
                    feed.take(message)
            case say.Lobby(id=None) | say.Match(id=None):
                if (inbox := self.inboxes.get(type(message))) is not None:
                    inbox.put(message)
            case _:
                pass

    def _answer(self, message: say.ServerMessage) -> None:
        """Give a message to who asked for it."""
        request = getattr(message, "id", None)
        future = self._answers.get(request) if request is not None else None
        if future is None or future.done():
            return
        if isinstance(message, say.Refused):
            future.set_exception(
                Refused(
                    message.code,
                    message.sentence,
                    expected=message.expected,
                    retry_ms=message.retry_ms,
                )
            )
        else:
            future.set_result(message)

    def _take_seat(self, seated: say.Seated) -> None:
        """Resume a seat, or begin one: at once, for its events follow on the heels of this."""
        seat = self.seats.get(seated.race.id)
        future = self._answers.get(seated.id)
        if seat is not None and seat.is_alive:
            seat.seated(seated)
        elif future is not None and not future.done():
            try:
                self.seats[seated.race.id] = seat = self._new_seat(seated)
                for announced in self._heard.values():
                    seat.happened(announced)
            except ClientError as error:
                future.set_exception(error)

    def _tell(
        self,
        event: say.Room
        | say.Go
        | say.Closed
        | say.Progress
        | say.Notice
        | say.TakenOver
        | say.Moved
        | say.Said,
    ) -> None:
        race_id = event.race.id if isinstance(event.race, RaceView) else event.race
        if (seat := self.seats.get(race_id)) is not None and seat.is_alive:
            seat.happened(event)

    def _cannot_read(self, error: BadFrame) -> None:
        """Let go what a later version may say; else there is no going on as if nothing was."""
        if isinstance(error, UnknownMessage):
            log.info("let go a message of a type that is not known here")
            return
        log.warning("the server sent what cannot be read: %s", error)
        if error.request_id is None:
            raise ConnectionLost(UNREADABLE)
        future = self._answers.get(error.request_id)
        if future is not None and not future.done():
            future.set_exception(Refused(ErrorCode.INTERNAL, UNREADABLE))
        for seat in self.seats.values():
            seat.unclear(error.request_id)

    def _end(self, error: ClientError) -> None:
        """Nothing will be answered any more: say so to all who wait."""
        if self._ended is None:
            self._ended = error
        self._up.set()
        for future in self._answers.values():
            if not future.done():
                future.set_exception(error)
        for seat in self.seats.values():
            seat.end(error)
        for inbox in self.inboxes.values():
            inbox.end(error)
        for feed in self.watched.values():
            feed.end(error)

    def _own(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _blame(seat: Seat, refusal: Refused) -> None:
    """Tell a seat what keeps its requests waiting, if that is news to its player."""
    if refusal.code is ErrorCode.STORE_UNAVAILABLE:
        seat.store_is_away()
