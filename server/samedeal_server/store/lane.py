"""One connection of the commit path: what was sent on it, and what is owed to whom."""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import hiredis

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.address import Node, StoreAddress, Topology
from samedeal_server.store.discovery import pack, sign_in
from samedeal_server.store.scripts import Script

__all__ = ["Command", "Lane", "LaneSettings", "OnReply", "Shore"]

_log = logging.getLogger(__name__)

_MAX_IN_FLIGHT = 32
"""Commands sent and not answered on a lane: short batches keep the slowest reply near."""

_GREETING_TIMEOUT_S = 2.0
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.02, 1.0
_REPLICAS_MS = 1000
"""How long the store waits for its replicas before it says how many have the writes."""

_ELSEWHERE = ("READONLY ", "LOADING ", "MASTERDOWN ", "CLUSTERDOWN ")
"""Replies of a store that cannot serve now, although the next connection may find one that can."""

_REDIRECTED = ("MOVED ", "ASK ", "TRYAGAIN ")
"""Replies of a node of a cluster whose slot is elsewhere, or on its way."""

_ASKING = pack("ASKING")

OnReply = Callable[[Any], None]
"""Called once with the reply (bytes, int, list or None) or with StoreUnavailable."""


class Command:
    """One submitted command and whom to tell."""

    __slots__ = ("data", "deadline", "hops", "on_reply", "reloaded", "slot")

    def __init__(self, data: bytes, on_reply: OnReply, deadline: float, slot: int) -> None:
        self.data = data
        self.on_reply: OnReply | None = on_reply
        """None once the caller was told that the command is given up."""
        self.deadline = deadline
        self.slot = slot
        self.reloaded = False
        self.hops = 0
        """How many nodes sent it on to another one."""


class _Wait:
    """Stands in the order of replies for the question which replicas have what was sent so far."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What all lanes have in common."""

    address: StoreAddress
    scripts: Sequence[Script]
    stall_s: float
    min_replicas: int

    @property
    def loads(self) -> list[bytes]:
        """The commands that load every script, packed."""
        return [pack("SCRIPT", "LOAD", script.source) for script in self.scripts]


class Shore(Protocol):
    """Where a lane gets its commands from, and takes the replies to."""

    def flush_soon(self) -> None:
        """Places are free: have what is queued written."""

    def settle(self, command: Command, reply: Any) -> None:
        """Answer a command for good."""

    def requeue(self, commands: Sequence[Command]) -> None:
        """Take commands of a broken lane back, in order."""

    def lost(self) -> None:
        """Hear that a lane broke, or could not be connected."""

    def redirect(self, command: Command, told: str, node: Node) -> None:
        """Take a command that `node` sent on to another one, or put off."""


class Lane(asyncio.Protocol):
    """One connection, made again until it is stopped."""

    def __init__(
        self, shore: Shore, find: Callable[[], Awaitable[Node]], settings: LaneSettings
    ) -> None:
        self.is_up = asyncio.Event()
        self.failure: str | None = None
        """Why the last attempt to connect came to nothing."""
        self._shore = shore
        self._find = find
        self._address = settings.address
        self._stall_s = settings.stall_s
        self._loads = settings.loads
        self._wait = b""
        self._min_replicas = settings.min_replicas
        if settings.min_replicas:
            self._wait = pack("WAIT", settings.min_replicas, _REPLICAS_MS)
        self._node: Node | None = None
        self._in_flight: deque[Command | _Wait | None] = deque()
        """Sent and unanswered, in order; None is a command of the lane itself."""
        self._held: list[tuple[Command, Any]] = []
        """Answered, but not yet known to be on enough replicas."""
        self._own = 0
        self._served = False
        self._heard_at = 0.0
        self._now = asyncio.get_running_loop().time
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

    def send_if_idle(self, command: Command) -> bool:
        """Write a command at once if the store owes nothing here. Return whether it is written."""
        if self._in_flight or not self.is_up.is_set():
            return False
        self.send([command])
        return True

    def send(self, batch: list[Command]) -> None:
        """Write commands at once."""
        if not self._in_flight:
            self._heard_at = self._now()
        self._in_flight.extend(batch)
        data = batch[0].data if len(batch) == 1 else b"".join([one.data for one in batch])
        if self._wait:
            self._in_flight.append(_Wait())
            data += self._wait
        self._write(data)

    def send_asking(self, command: Command) -> None:
        """Write a command whose slot is on its way to this node."""
        self._own += 1
        self._in_flight.append(None)
        self._write(_ASKING)
        self.send([command])

    def overdue(self, now: float) -> list[Command]:
        """Return commands in flight whose time is over; their places in the order stay."""
        commands = [command for command, _ in self._held]
        commands += [command for command in self._in_flight if isinstance(command, Command)]
        return [command for command in commands if command.deadline <= now]

    def break_if_silent(self, now: float) -> None:
        """Break a connection that owes a reply and has not said a word for too long."""
        if self.is_up.is_set() and self._in_flight and now - self._heard_at >= self._stall_s:
            self._break(f"no word from the store for {self._stall_s:g} s")

    def leave_unless(self, primary: Node) -> None:
        """Break a connection to any other store."""
        if self._node != primary:
            self._break(f"the sentinels name another primary, {primary}")

    async def _keep_up(self) -> None:
        failures = 0
        while True:
            self._served = False
            try:
                self._node = await self._find()
                await self._address.connect(self._node, lambda: self)
                async with asyncio.timeout(_GREETING_TIMEOUT_S):
                    await self._either_way()
            except TimeoutError:
                self.failure = "no answer in time"
                self._break(self.failure)
            except OSError as error:
                self.failure = error.strerror or str(error)
            await self._down.wait()
            self._shore.lost()
            # A store that greets and then refuses every command is not back yet.
            failures = 0 if self._served else failures + 1
            pause_s = min(_FIRST_PAUSE_S * 2 ** min(failures, 10), _LAST_PAUSE_S)
            _log.log(
                logging.WARNING if failures <= 1 else logging.DEBUG,
                "the link to the store %s is down: %s",
                self._node or self._address.shown,
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
        greeting = sign_in(self._address.login)
        if self._address.database:
            greeting.append(pack("SELECT", self._address.database))
        greeting.append(pack("PING"))
        if self._address.topology is Topology.SENTINEL:
            # Sentinels may be late: what they name is a primary only if it says so itself.
            greeting.append(pack("ROLE"))
        greeting += self._loads
        self._own = len(greeting)
        self._in_flight.extend([None] * self._own)
        self._write(b"".join(greeting))

    def data_received(self, data: bytes) -> None:
        """Hand every complete reply to its callback, then have the freed places filled."""
        self._heard_at = self._now()
        self._reader.feed(data)
        try:
            while self._in_flight and (reply := self._reader.gets()) is not False:
                self._answer(self._in_flight[0], reply)
        except hiredis.ProtocolError as error:
            self._break(f"not the protocol of a store: {error}")
        self._shore.flush_soon()

    def connection_lost(self, error: Exception | None) -> None:
        """Take it up from the point where it broke."""
        self._break(str(error) if error else "the store closed the connection")
        self._down.set()

    def _answer(self, command: Command | _Wait | None, reply: Any) -> None:
        if isinstance(command, Command) and not isinstance(reply, hiredis.ReplyError):
            self._served = True
            self._in_flight.popleft()
            if self._wait:
                self._held.append((command, reply))
            else:
                self._shore.settle(command, reply)
        elif isinstance(command, Command):
            self._fail(command, str(reply))
        elif isinstance(reply, hiredis.ReplyError):
            self._break(f"the store answered {reply}")
        elif command is None:
            self._own_answer(reply)
        elif reply < self._min_replicas:
            # What is unknown stays unanswered: it is sent again, and asked for again.
            self._break(f"{reply} replicas have the last moves, not {self._min_replicas}")
        else:
            self._in_flight.popleft()
            held, self._held = self._held, []
            for command, reply in held:
                self._shore.settle(command, reply)

    def _own_answer(self, reply: Any) -> None:
        if isinstance(reply, list) and reply[0] != b"master":
            self._break("the sentinels named a store that is no primary")
            return
        self._in_flight.popleft()
        self._own -= 1
        if not self._own:
            self.is_up.set()

    def _fail(self, command: Command, told: str) -> None:
        if _must_go_elsewhere(told):
            # The command is still in flight, so it is sent again first of all.
            self._break(f"the store answered {told}")
            return
        self._in_flight.popleft()
        if told.startswith("NOSCRIPT") and not command.reloaded:
            self._load_and_resend(command)
        elif told.startswith(_REDIRECTED):
            self._served = True
            assert self._node is not None
            self._shore.redirect(command, told, self._node)
        else:
            self._shore.settle(command, StoreUnavailable(f"the store answered {told}"))

    def _load_and_resend(self, command: Command) -> None:
        command.reloaded = True
        if not self._own:
            self._own = len(self._loads)
            self._in_flight.extend([None] * self._own)
            self._write(b"".join(self._loads))
        self.send([command])

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _break(self, why: str) -> None:
        """Drop the connection and give what it owes back to its shore."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        self.failure = why
        self.is_up.clear()
        self._own = 0
        unanswered = [command for command, _ in self._held]
        unanswered += [command for command in self._in_flight if isinstance(command, Command)]
        self._held.clear()
        self._in_flight.clear()
        transport.abort()
        self._shore.requeue(unanswered)


def _must_go_elsewhere(error: str) -> bool:
    # Stores before version 7 wrap what a command in a script ran into.
    return error.startswith(_ELSEWHERE) or "-READONLY " in error
