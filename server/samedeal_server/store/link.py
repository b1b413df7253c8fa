"""The connection of the commit path: many small scripts, one write a loop turn, no task each.

A redis-py pipeline costs more than the commit itself, so this path packs commands and reads
replies on transports of its own. Everything else goes through redis-py.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.scripts import Script

__all__ = ["CommitLink", "OnReply", "pack"]

_log = logging.getLogger(__name__)

_MAX_IN_FLIGHT = 32
"""Commands sent and not answered on a lane: short batches keep the slowest reply near."""

_GREETING_TIMEOUT_S = 2.0
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.02, 1.0

_ELSEWHERE = ("READONLY ", "LOADING ", "MASTERDOWN ", "CLUSTERDOWN ")
"""Replies of a store that cannot serve now, although the next connection may find one that can."""

OnReply = Callable[[Any], None]
"""Called once with the reply (bytes, int, list or None) or with StoreUnavailable."""


def pack(*args: str | int | bytes) -> bytes:
    """Return a command as it goes over the wire."""
    packed: bytes = hiredis.pack_command(args)  # type: ignore[arg-type] # its stub wants one item
    return packed


class _Command:
    """One submitted command and whom to tell."""

    __slots__ = ("data", "deadline", "on_reply", "reloaded")

    def __init__(self, data: bytes, on_reply: OnReply, deadline: float) -> None:
        self.data = data
        self.on_reply: OnReply | None = on_reply
        """None once the caller was told that the command is given up."""
        self.deadline = deadline
        self.reloaded = False


class CommitLink:
    """Send idempotent scripts to the store and hand each reply to its callback.

    What is unanswered when a connection breaks is sent again on the next one, in order. A command
    that stays unanswered for `give_up_s` is answered StoreUnavailable: it may still take effect.
    A lane that owes a reply and says nothing for `stall_s` counts as broken. Two lanes carry half
    as much again as one when saturated, and cost no more at low load.
    """

    def __init__(
        self,
        address: StoreAddress,
        scripts: Sequence[Script],
        *,
        lanes: int = 2,
        give_up_s: float = 8.0,
        stall_s: float = 3.0,
        max_pending: int = 10_000,
    ) -> None:
        self._give_up_s = give_up_s
        self._max_pending = max_pending
        self._patrol_s = min(give_up_s, stall_s) / 4
        self._loads = b"".join(pack("SCRIPT", "LOAD", script.source) for script in scripts)
        self._load_count = len(scripts)
        self._lanes = [_Lane(self, address, stall_s) for _ in range(lanes)]
        self._queue: deque[_Command] = deque()
        self._pending = 0
        self._flush_is_due = False
        self._patrol: asyncio.TimerHandle | None = None
        self._closed = True
        self._idle = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop

    @property
    def pending(self) -> int:
        """Commands that were submitted and not answered yet."""
        return self._pending

    async def open(self) -> None:
        """Connect every lane. Raise StoreUnavailable if that takes longer than `give_up_s`."""
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._idle.set()
        for lane in self._lanes:
            lane.start()
        try:
            async with asyncio.timeout(self._give_up_s):
                for lane in self._lanes:
                    await lane.is_up.wait()
        except TimeoutError:
            why = self._lanes[0].failure or "no answer"
            await self.close(0)
            raise StoreUnavailable(f"the store cannot be reached: {why}") from None

    async def close(self, limit_s: float = 2.0) -> None:
        """Take no more commands, wait for the replies under way, give the rest up."""
        if self._closed:
            return
        self._closed = True
        try:
            async with asyncio.timeout(limit_s):
                await self._idle.wait()
        except TimeoutError:
            _log.warning("closing the link to the store with %d commands open", self._pending)
        finally:
            for lane in self._lanes:
                await lane.stop()
            if self._patrol is not None:
                self._patrol.cancel()
                self._patrol = None
            while self._queue:
                self._give_up(self._queue.popleft(), "the server is closing")

    def submit(self, command: bytes, on_reply: OnReply) -> None:
        """Send a packed command in this turn of the loop; `on_reply` is called in a later one.

        The callbacks of the replies that arrive together run in one turn, in the order of the
        replies. Never raises: a full or closed link answers StoreUnavailable.
        """
        if self._closed or self._pending >= self._max_pending:
            why = "the server is closing" if self._closed else "too many moves wait for the store"
            self._loop.call_soon(_tell, on_reply, StoreUnavailable(why))
            return
        if not self._pending:
            self._idle.clear()
        self._pending += 1
        self._queue.append(_Command(command, on_reply, self._loop.time() + self._give_up_s))
        self.flush_soon()
        if self._patrol is None:
            self._patrol = self._loop.call_later(self._patrol_s, self._look_after)

    # What follows is for the lanes.

    @property
    def loads(self) -> tuple[bytes, int]:
        """The commands that load every script, packed, and their number."""
        return self._loads, self._load_count

    def flush_soon(self) -> None:
        """Write what is queued at the end of this turn, in one go for each lane."""
        if not self._flush_is_due and self._queue:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def settle(self, command: _Command, reply: Any) -> None:
        """Answer a command for good."""
        on_reply, command.on_reply = command.on_reply, None
        if on_reply is None:
            return
        self._pending -= 1
        if not self._pending:
            self._idle.set()
        _tell(on_reply, reply)

    def requeue(self, commands: Sequence[_Command]) -> None:
        """Put commands of a broken lane back to the front, in order."""
        self._queue.extendleft(command for command in reversed(commands) if command.on_reply)
        self.flush_soon()

    def _flush(self) -> None:
        self._flush_is_due = False
        queue = self._queue
        for lane in self._lanes:
            room = lane.room
            if room <= 0 or not queue:
                continue
            if len(queue) <= room:
                batch = list(queue)
                queue.clear()
            else:
                batch = [queue.popleft() for _ in range(room)]
            lane.send(batch)

    def _look_after(self) -> None:
        """Give up what waited too long, and break the lanes that fell silent."""
        now = self._loop.time()
        while self._queue and self._queue[0].deadline <= now:
            self._give_up(self._queue.popleft(), "the store does not answer")
        for lane in self._lanes:
            for command in lane.overdue(now):
                self._give_up(command, "the store does not answer")
            lane.break_if_silent(now)
        # Dead commands still in flight keep the patrol on: their lane may be a silent one.
        if self._pending or any(lane.owes for lane in self._lanes):
            self._patrol = self._loop.call_later(self._patrol_s, self._look_after)
        else:
            self._patrol = None

    def _give_up(self, command: _Command, why: str) -> None:
        self.settle(command, StoreUnavailable(why))


class _Lane(asyncio.Protocol):
    """One connection, made again for as long as the link is open."""

    def __init__(self, link: CommitLink, address: StoreAddress, stall_s: float) -> None:
        self.is_up = asyncio.Event()
        self.failure: str | None = None
        """Why the last attempt to connect came to nothing."""
        self._link = link
        self._address = address
        self._stall_s = stall_s
        self._in_flight: deque[_Command | None] = deque()
        """Sent and unanswered, in order; None is a command of the lane itself."""
        self._own = 0
        self._served = False
        self._heard_at = 0.0
        self._reader = hiredis.Reader()
        self._transport: asyncio.Transport | None = None
        self._down = asyncio.Event()
        """No transport is left, not even one that was dropped and has yet to say goodbye."""
        self._down.set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connect, and again after each break, until `stop`."""
        self._task = asyncio.create_task(self._keep_up(), name="commit lane")

    async def stop(self) -> None:
        """Disconnect and forget the address."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._break("the server is closing")
        await self._down.wait()

    @property
    def owes(self) -> bool:
        """Whether the store owes this lane a reply."""
        return bool(self._in_flight)

    @property
    def room(self) -> int:
        """How many commands may be sent now."""
        return _MAX_IN_FLIGHT - len(self._in_flight) if self.is_up.is_set() else 0

    def send(self, batch: list[_Command]) -> None:
        """Write commands at once."""
        if not self._in_flight:
            self._heard_at = self._now()
        self._in_flight.extend(batch)
        self._write(b"".join([command.data for command in batch]))

    def overdue(self, now: float) -> list[_Command]:
        """Return commands in flight whose time is over; their places in the order stay."""
        return [command for command in self._in_flight if command and command.deadline <= now]

    def break_if_silent(self, now: float) -> None:
        """Break a connection that owes a reply and has not said a word for too long."""
        if self.is_up.is_set() and self._in_flight and now - self._heard_at >= self._stall_s:
            self._break(f"no word from the store for {self._stall_s:g} s")

    async def _keep_up(self) -> None:
        failures = 0
        while True:
            self._served = False
            try:
                await self._address.connect(lambda: self)
                async with asyncio.timeout(_GREETING_TIMEOUT_S):
                    await self._either_way()
            except TimeoutError:
                self.failure = "no answer in time"
                self._break(self.failure)
            except OSError as error:
                self.failure = error.strerror or str(error)
            await self._down.wait()
            # A store that greets and then refuses every command is not back yet.
            failures = 0 if self._served else failures + 1
            pause_s = min(_FIRST_PAUSE_S * 2 ** min(failures, 10), _LAST_PAUSE_S)
            _log.log(
                logging.WARNING if failures <= 1 else logging.DEBUG,
                "the link to the store %s is down: %s",
                self._address.shown,
                self.failure,
            )
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))

    async def _either_way(self) -> None:
        """Wait until the greeting is over: the lane is up, or broken again."""
        waits = [asyncio.create_task(event.wait()) for event in (self.is_up, self._down)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet: sign in, choose the database, load the scripts; PING tells if it can serve."""
        # A stream's transport; uvloop's does not inherit from asyncio's class.
        self._transport = cast("asyncio.Transport", transport)
        self._down.clear()
        self._reader = hiredis.Reader()
        address = self._address
        greeting = [pack("PING")]
        if address.database:
            greeting.insert(0, pack("SELECT", address.database))
        if address.password is not None:
            user = [address.username] if address.username else []
            greeting.insert(0, pack("AUTH", *user, address.password))
        loads, count = self._link.loads
        self._own = len(greeting) + count
        self._in_flight.extend([None] * self._own)
        self._write(b"".join(greeting) + loads)

    def data_received(self, data: bytes) -> None:
        """Hand every complete reply to its callback, then have the freed places filled."""
        self._heard_at = self._now()
        self._reader.feed(data)
        try:
            while self._in_flight and (reply := self._reader.gets()) is not False:
                self._answer(self._in_flight[0], reply)
        except hiredis.ProtocolError as error:
            self._break(f"not the protocol of a store: {error}")
        self._link.flush_soon()

    def connection_lost(self, error: Exception | None) -> None:
        """Take it up from the point where it broke."""
        self._break(str(error) if error else "the store closed the connection")
        self._down.set()

    def _answer(self, command: _Command | None, reply: Any) -> None:
        text = str(reply) if isinstance(reply, hiredis.ReplyError) else None
        if command is None:
            if text is not None:
                self._break(f"the store answered {text}")
                return
            self._in_flight.popleft()
            self._own -= 1
            if not self._own:
                self.is_up.set()
        elif text is None:
            self._served = True
            self._in_flight.popleft()
            self._link.settle(command, reply)
        elif _must_go_elsewhere(text):
            # The command is still in flight, so it is sent again first of all.
            self._break(f"the store answered {text}")
        elif text.startswith("NOSCRIPT") and not command.reloaded:
            self._in_flight.popleft()
            self._load_and_resend(command)
        else:
            self._in_flight.popleft()
            self._link.settle(command, StoreUnavailable(f"the store answered {text}"))

    def _load_and_resend(self, command: _Command) -> None:
        command.reloaded = True
        if not self._own:
            loads, count = self._link.loads
            self._own = count
            self._in_flight.extend([None] * count)
            self._write(loads)
        self._in_flight.append(command)
        self._write(command.data)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _break(self, why: str) -> None:
        """Drop the connection and give what it owes back to the link."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        self.failure = why
        self.is_up.clear()
        self._own = 0
        unanswered = [command for command in self._in_flight if command is not None]
        self._in_flight.clear()
        transport.abort()
        self._link.requeue(unanswered)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _must_go_elsewhere(error: str) -> bool:
    # Stores before version 7 wrap what a command in a script ran into.
    return error.startswith(_ELSEWHERE) or "-READONLY " in error


def _tell(on_reply: OnReply, reply: Any) -> None:
    try:
        on_reply(reply)
    except Exception:
        _log.exception("a callback of the link to the store failed")
