"""A connection that comes back: requests with answers, races with events. Knows websockets."""

import asyncio
import itertools
import logging
import random
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.typing import Subprotocol

from samedeal.engine.moves import Move
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.errors import BadFrame, ErrorCode
from samedeal.protocol.fields import OptionsPatch, Phase, RaceView
from samedeal_client.errors import CannotConnect, ClientError, ConnectionLost, Refused
from samedeal_client.model import OutOfStep, RaceModel

__all__ = ["Client", "Event", "Link", "Race"]

log = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")

FIRST_PAUSE_S, LAST_PAUSE_S = 0.2, 8.0
MAX_RETRIES = 20
_HINT = re.compile(r"retry_ms=(\d{1,6})")
DISAGREE = "client and server do not agree on the table; one of them has to be updated"
_KEEP = (ErrorCode.STORE_UNAVAILABLE, ErrorCode.SEQ_GAP)
"""Refusals after which an action stays in the outbox and is sent again."""


@dataclass(frozen=True, slots=True)
class Link:
    """The connection was lost, or is back; what was sent and not answered is sent again."""

    is_up: bool


Event = (
    say.Room | say.Go | say.Progress | say.Notice | say.Closed | say.Moved | say.TakenOver | Link
)
"""What happens in a race without being asked for."""


class Client:
    """`async with Client(url, name="ada") as client`: one account, any number of races.

    A lost connection is made again, with growing pauses, and every race is resumed.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        token: str | None = None,
        bot: bool = False,
        rng: random.Random | None = None,
    ) -> None:
        self.url = url
        self.token = token
        self.name = name or ""
        self.player = ""
        self.is_bot = bot
        """Whether the account is marked as a program's; the server's word once connected."""
        self._hello = {"name": name, "bot": bot}
        self._rng = rng or random.Random()
        self._ids = itertools.count(1)
        self._socket: ClientConnection | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._races: dict[str, Race] = {}
        self._reader: asyncio.Task[None] | None = None
        self._up = asyncio.Event()
        self._ended: ClientError | None = None

    async def __aenter__(self) -> Self:
        """Connect and say hello. Raise CannotConnect or Refused."""
        await self._connect()
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect. Seats are kept: the same account can resume them."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()
        self._end(ConnectionLost("this client was closed"))

    async def create_race(self, game: str, *, seed: str | None = None, **options: Any) -> "Race":
        """Open a room; see RaceOptions for the options. Raise Refused."""
        patch = OptionsPatch(**options)
        message = ask.Create(id=self._next_id(), game=game, options=patch, seed=seed)
        return self._sit(await self._ask(message, say.Seated))

    async def join(self, code: str) -> "Race":
        """Take a seat by code, or come back to the one held. Raise Refused."""
        message = ask.Join(id=self._next_id(), code=code)
        return self._sit(await self._ask(message, say.Seated))

    async def resume(self, race_id: str) -> "Race":
        """Come back to a seat of this account. Raise Refused."""
        message = ask.Resume(id=self._next_id(), race=race_id)
        return self._sit(await self._ask(message, say.Seated))

    async def board(self, game: str, *, limit: int = 20) -> tuple[say.Standing, ...]:
        """The leaderboard of a game. Raise Refused."""
        message = ask.BoardGet(id=self._next_id(), game=game, limit=limit)
        return (await self._ask(message, say.Standings)).rows

    # Inside

    def _next_id(self) -> int:
        return next(self._ids)

    def _sit(self, seated: say.Seated) -> "Race":
        return self._races[seated.race.id]

    async def _ask(self, message: ask.ClientMessage, kind: type[_Answer]) -> _Answer:
        """Send a request and wait for its answer, over reconnects and pauses if need be."""
        retries = 0
        while True:
            await self._up.wait()
            if self._ended is not None:
                raise self._ended
            try:
                answer = await self._ask_once(message)
            except ConnectionLost:
                if self._ended is not None:
                    raise
                continue
            except Refused as refusal:
                # A room opened a second time would be another room.
                if refusal.retry_ms is None or isinstance(message, ask.Create):
                    raise
                if retries == MAX_RETRIES:
                    raise
                retries += 1
                await asyncio.sleep(refusal.retry_ms / 1000)
                continue
            if isinstance(answer, kind):
                return answer
            raise Refused(ErrorCode.INTERNAL, "the server gave an answer to something else")

    async def _ask_once(self, message: ask.ClientMessage) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[message.id] = future
        await self._send(message)
        try:
            return await future
        finally:
            self._answers.pop(message.id, None)

    async def _send(self, message: ask.ClientMessage) -> None:
        """Write a frame. A connection that is gone is noticed by the reader."""
        if self._socket is not None:
            try:
                await self._socket.send(encode(message))
            except ConnectionClosed:
                log.debug("a frame was not sent: the connection is gone")

    async def _connect(self) -> None:
        try:
            self._socket = await connect(
                self.url,
                subprotocols=[Subprotocol(limits.SUBPROTOCOL)],
                compression=None,
                max_size=limits.MAX_SERVER_FRAME,
                open_timeout=10,
                close_timeout=2,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, ConnectionClosed) as error:
            raise CannotConnect(
                f"no samedeal server answers at {self.url} ({error}); "
                "start one with: samedeal serve"
            ) from None
        if self._socket.subprotocol != limits.SUBPROTOCOL:
            await self._socket.close()
            raise CannotConnect(f"what answers at {self.url} does not speak {limits.SUBPROTOCOL}")
        hello = (
            ask.Hello(id=self._next_id(), token=self.token)
            if self.token
            else ask.Hello(id=self._next_id(), **self._hello)
        )
        try:
            await self._socket.send(encode(hello))
            answer = decode_server(await self._socket.recv())
        except (ConnectionClosed, BadFrame) as error:
            raise CannotConnect(f"{self.url} closed the connection: {error}") from None
        if isinstance(answer, say.Refused):
            raise Refused(answer.code, answer.sentence)
        if not isinstance(answer, say.Welcome):
            raise CannotConnect(f"what answers at {self.url} is no samedeal server")
        self.player, self.name, self.is_bot = answer.player, answer.name, answer.bot
        self.token = answer.token or self.token
        self._up.set()

    async def _read(self) -> None:
        """Take what comes in; when the connection is lost, make it again."""
        while True:
            hint_ms = await self._read_on()
            self._up.clear()
            for future in self._answers.values():
                if not future.done():
                    future.set_exception(ConnectionLost("the connection was lost"))
            for race in self._races.values():
                race._event(Link(is_up=False))
            try:
                await self._come_back(hint_ms)
            except (Refused, CannotConnect) as error:
                self._end(ConnectionLost(str(error)))
                return

    async def _read_on(self) -> int | None:
        """Read until the connection ends. Return the pause that the server asked for, in ms."""
        assert self._socket is not None
        try:
            async for frame in self._socket:
                self._take(decode_server(frame))
        except ConnectionClosed:
            pass
        except BadFrame as error:
            log.warning("the server sent what cannot be read: %s", error)
        await self._socket.close()
        hint = _HINT.search(self._socket.close_reason or "")
        return int(hint[1]) if hint else None

    async def _come_back(self, hint_ms: int | None) -> None:
        """Connect again: after the pause asked for, else with growing ones, full jitter."""
        pause_s = FIRST_PAUSE_S
        await asyncio.sleep(
            hint_ms / 1000 if hint_ms is not None else self._rng.uniform(0, pause_s)
        )
        while True:
            try:
                await self._connect()
                break
            except CannotConnect:
                pause_s = min(LAST_PAUSE_S, pause_s * 2)
                await asyncio.sleep(self._rng.uniform(0, pause_s))
        for race in self._races.values():
            if race.view.phase is not Phase.CLOSED and race.is_alive:
                await race._resume(have=race.model.acked)

    def _take(self, message: say.ServerMessage) -> None:
        request = getattr(message, "id", None)
        if isinstance(message, say.Ack):
            if (race := self._races.get(message.race)) is not None:
                race._acked(message)
        elif isinstance(message, say.Refused):
            for race in self._races.values():
                race._refused(message)
        elif isinstance(message, say.Seated):
            self._take_seat(message)
        elif request is None:
            race_id = getattr(message, "race", "")
            race_id = race_id.id if isinstance(race_id, RaceView) else race_id
            if (race := self._races.get(race_id)) is not None:
                race._happened(message)
        if request is not None and (future := self._answers.get(request)) is not None:
            if future.done():
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
        """Resume a race, or begin one: at once, for its events follow on the heels of this."""
        race = self._races.get(seated.race.id)
        if race is not None and race.is_alive:
            race._seated(seated)
        elif (future := self._answers.get(seated.id)) is not None and not future.done():
            try:
                model = RaceModel(seated, self._next_id)
            except OutOfStep:
                future.set_exception(ConnectionLost(DISAGREE))
            else:
                self._races[seated.race.id] = Race(self, model)

    def _end(self, error: ClientError) -> None:
        """Nothing will be answered any more: say so to all who wait."""
        self._ended = error
        self._up.set()
        for future in self._answers.values():
            if not future.done():
                future.set_exception(error)
        for race in self._races.values():
            race._end(error)


class Race:
    """A seat in a race."""

    def __init__(self, client: Client, model: RaceModel) -> None:
        self.model = model
        self._client = client
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[say.Ack]] = {}
        self._changed = asyncio.Event()
        self._error: Exception | None = None
        self._is_anew = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def view(self) -> RaceView:
        """The race as everyone in the room sees it."""
        return self.model.view

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
    def is_alive(self) -> bool:
        """Whether anything can still come: the seat is held here, the link not given up."""
        return self._error is None

    @property
    def is_taken_over(self) -> bool:
        """Whether another connection of this account holds the seat now."""
        return isinstance(self._error, Refused)

    async def move(self, move: Move | str) -> say.Ack:
        """Play a move; return when it is acknowledged.

        Raise IllegalMove if the visible cards forbid it, Refused if the server does. Cancelling
        the wait does not take the move back.
        """
        self._check()
        return await self._act(self.model.play(Move.parse(move) if isinstance(move, str) else move))

    async def undo(self) -> say.Ack:
        """Take the last move back; return when that is acknowledged."""
        self._check()
        return await self._act(self.model.undo())

    async def ready(self, ready: bool = True) -> None:
        """Say ready, or not any more."""
        message = ask.Ready(id=self._client._next_id(), race=self.id, ready=ready)
        await self._do(message)

    async def start(self) -> None:
        """Start the countdown, as the host."""
        await self._do(ask.Start(id=self._client._next_id(), race=self.id))

    async def set_options(self, **options: Any) -> None:
        """Change options, as the host, in the lobby."""
        patch = OptionsPatch(**options)
        await self._do(ask.SetOptions(id=self._client._next_id(), race=self.id, options=patch))

    async def bank(self) -> None:
        """End the run and keep its result."""
        await self._do(ask.Bank(id=self._client._next_id(), race=self.id))

    async def leave(self) -> None:
        """Give the seat back (lobby), or end the run."""
        await self._do(ask.Leave(id=self._client._next_id(), race=self.id))

    async def next(self) -> "Race":
        """The next race of the room, on a new deal."""
        message = ask.Next(id=self._client._next_id(), race=self.id)
        moved = await self._client._ask(message, say.Moved)
        return await self._client.resume(moved.to)

    async def replay(self) -> str:
        """The replay file of the closed race."""
        message = ask.ReplayGet(id=self._client._next_id(), race=self.id)
        return (await self._client._ask(message, say.ReplayFile)).text

    async def events(self) -> AsyncIterator[Event]:
        """What happens in the race, until the connection ends for good."""
        while (event := await self._events.get()) is not None:
            yield event

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something about the race holds.

        Raise ConnectionLost, or Refused after another connection took the seat, if it never can.
        """
        while not condition():
            self._check()
            self._changed.clear()
            await self._changed.wait()

    async def until_go(self) -> None:
        """Wait for the board."""
        await self.until(lambda: self.model.has_begun or self.view.phase is Phase.CLOSED)

    async def until_closed(self) -> None:
        """Wait for the final order."""
        await self.until(lambda: self.view.phase is Phase.CLOSED)

    # Inside

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    async def _do(self, message: ask.ClientMessage) -> None:
        # Whoever lost the seat must not end the run of the connection that has it.
        self._check()
        await self._client._ask(message, say.Done)

    async def _act(self, message: ask.PlayMove | ask.PlayUndo) -> say.Ack:
        future: asyncio.Future[say.Ack] = asyncio.get_running_loop().create_future()
        self._waiting[message.id] = future
        await self._client._send(message)
        return await future

    def _acked(self, ack: say.Ack) -> None:
        try:
            self.model.acknowledged(ack)
        except OutOfStep as error:
            if not self._is_anew:
                self._take_anew(error)
        future = self._waiting.pop(ack.id, None)
        if future is not None and not future.done():
            future.set_result(ack)
        self._changed.set()

    def _refused(self, refusal: say.Refused) -> None:
        if refusal.id not in self._waiting or refusal.code in _KEEP:
            return
        for entry in self.model.refused(refusal.id):
            future = self._waiting.pop(entry.message.id, None)
            if future is not None and not future.done():
                future.set_exception(Refused(refusal.code, refusal.sentence))
        self._changed.set()

    def _seated(self, seated: say.Seated) -> None:
        try:
            again = self.model.resume(seated)
        except OutOfStep as error:
            if self._is_anew:
                self._end(ConnectionLost(DISAGREE))
            else:
                self._take_anew(error)
            return
        self._is_anew = False
        waiting = {message.id for message in again}
        for request, future in list(self._waiting.items()):
            # Not in the outbox any more: the log of the server has it.
            if request not in waiting and not future.done():
                del self._waiting[request]
                future.set_result(
                    say.Ack(id=request, race=self.id, seq=seated.seq, t_ms=0, hash=seated.hash)
                )
        self._own(self._send_again(again))
        self._event(Link(is_up=True))

    async def _send_again(self, messages: list[ask.PlayMove | ask.PlayUndo]) -> None:
        for message in messages:
            await self._client._send(message)

    def _take_anew(self, error: OutOfStep) -> None:
        """Ask for everything from the deal on, once: if that does not fit, no asking helps."""
        log.warning("race %s: %s; taking everything anew", self.id, error)
        self._is_anew = True
        self._own(self._resume(have=0))

    async def _resume(self, have: int) -> None:
        await self._client._send(ask.Resume(id=self._client._next_id(), race=self.id, have=have))

    def _happened(self, message: Any) -> None:
        model = self.model
        if isinstance(message, say.Progress):
            model.take_progress(message)
        elif isinstance(message, say.Go):
            model.take_view(message.race)
            if not model.has_begun:
                model.begin(message.board, message.hash)
        elif isinstance(message, say.Room | say.Closed):
            model.take_view(message.race)
        self._event(message)
        if isinstance(message, say.TakenOver):
            self._end(Refused(ErrorCode.TAKEN_OVER, message.sentence))

    def _event(self, event: Event) -> None:
        self._events.put_nowait(event)
        self._changed.set()

    def _own(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _end(self, error: Exception) -> None:
        if self._error is not None:
            return
        self._error = error
        self._events.put_nowait(None)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
        self._changed.set()
