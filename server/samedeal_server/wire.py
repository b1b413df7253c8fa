"""One WebSocket: the sans-I/O protocol of websockets under an asyncio transport, without a task.

A connection of `websockets.asyncio` keeps two tasks, queues and futures, and wakes one of them for
each frame. Here a frame is handed over where it is read: an echo costs two thirds, its memory is a
third (`samedeal bench` measures against the former).
"""

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Coroutine
from typing import Any, Protocol, cast

from websockets.frames import (  # type: ignore[attr-defined] # apply_mask: the C one, if built
    Frame,
    Opcode,
    apply_mask,
)
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from samedeal.protocol import limits

__all__ = ["INTERNAL_ERROR", "POLICY", "RESTART", "TRY_LATER", "Owner", "Wire", "framed"]

log = logging.getLogger(__name__)

POLICY, INTERNAL_ERROR, RESTART, TRY_LATER = 1008, 1011, 1012, 1013
"""Close codes (RFC 6455 and its registry)."""

_OPEN = State.OPEN

MAX_BACKLOG = 256 * 1024
"""Bytes a client may leave unread; then it is closed, and may resume."""
MAX_OFFERED = 16 * 1024
"""Bytes a watcher may leave unread; what is new is kept from it until it has read them."""
MAX_WAITING = 16
"""Frames that may wait while an earlier one is worked on; then reading stops for a while."""
SLICE = 512
"""Bytes of one connection that are worked on before the others have their turn."""
REST_S = 0.05
"""How long a connection that asks too fast is not read."""
CLOSE_WITHIN_S = 2.0
"""How long a closing handshake may take before the connection is cut."""


class Receiver(Protocol):
    """What takes the frames of one connection."""

    def receive(self, frame: bytes | str) -> Coroutine[Any, Any, None] | None:
        """Take one frame. Return what is left to await, if anything."""

    async def settled(self) -> None:
        """Wait until what was taken is answered."""

    async def leave(self) -> None:
        """The connection is gone."""


class Owner(Protocol):
    """What a connection is opened by, and told of."""

    def protocol(self) -> ServerProtocol:
        """Make the protocol of a new connection."""

    def admit(self, wire: "Wire", request: Request) -> Receiver | None:
        """Give the receiver of a connection whose handshake is asked for; None turns it away."""

    def opened(self, wire: "Wire") -> None:
        """A connection is there, before its handshake."""

    def ended(self, wire: "Wire") -> None:
        """A connection is gone, and so is what its receiver did."""


class Wire(asyncio.Protocol):
    """Reads frames for a receiver, one at a time and in order, and writes without waiting."""

    __slots__ = (
        "_closing",
        "_deadline",
        "_fragments",
        "_heard",
        "_is_between_frames",
        "_loop",
        "_owner",
        "_paused",
        "_pinged",
        "_protocol",
        "_receiver",
        "_resting",
        "_transport",
        "_turn",
        "_unread",
        "_waiting",
        "_work",
    )

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._protocol = owner.protocol()
        self._receiver: Receiver | None = None
        self._transport: asyncio.Transport
        self._work: asyncio.Task[None] | None = None
        self._waiting: deque[bytes | str] | None = None
        self._fragments: list[bytes] | None = None
        self._unread = bytearray()
        self._deadline: asyncio.TimerHandle | None = None
        self._resting: asyncio.TimerHandle | None = None
        self._turn: asyncio.Handle | None = None
        """The next slice of what is unread. Never two: that would be more than a fair share."""
        self._closing = self._paused = self._pinged = False
        self._is_between_frames = False
        """Whether the protocol holds no part of a frame or message: the next one may pass it by."""
        self._heard = True

    @property
    def is_open(self) -> bool:
        """Whether the handshake is done and nobody has begun to close."""
        return self._protocol.state is State.OPEN

    @property
    def address(self) -> str:
        """The far end as the socket knows it: an IP address, or empty for a unix socket."""
        peer = self._transport.get_extra_info("peername")
        return str(peer[0]) if isinstance(peer, tuple) else ""

    # The way out

    def send(self, frame: bytes) -> None:
        """Write a frame now. Who leaves too much unread is closed."""
        self.write(framed(frame))

    def write(self, framed: bytes) -> None:
        """Write frames, as `framed` made them, in one go. Who leaves too much unread is closed."""
        if self._protocol.state is not _OPEN:
            return
        if self._transport.get_write_buffer_size() > MAX_BACKLOG:
            self._close_slow()
            return
        self._transport.write(framed)

    def offer(self, framed: bytes) -> bool:
        """Write a frame, as `framed` made it, unless much is left unread. Return whether it is out.

        For what somebody may miss: it is encoded once for many, and waits for nobody.
        """
        if self._protocol.state is not State.OPEN:
            return True
        if self._transport.get_write_buffer_size() > MAX_OFFERED:
            return False
        self._transport.write(framed)
        return True

    def keep_little(self) -> None:
        """Have the system hold little of what is unsent, so that who does not read is noticed."""
        sock = self._transport.get_extra_info("socket")
        if (
            sock is not None
            and not self._transport.is_closing()
            and hasattr(socket, "TCP_NOTSENT_LOWAT")
        ):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MAX_OFFERED)

    def close(self, code: int, reason: str) -> None:
        """Close soon; nothing more is sent, and nothing more is read."""
        self._closing = True
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, reason)
            self._flush()
        elif self._protocol.state is State.CONNECTING:
            self._transport.abort()

    def _close_slow(self) -> None:
        self.close(TRY_LATER, "too slow: frames were left unread; resume when you can")

    def beat(self) -> None:
        """Look after a quiet connection: ping it, and cut it if it left the last ping unanswered.

        To be called in steady intervals. A connection that said anything since costs nothing.
        """
        if self._heard:
            self._heard = self._pinged = False
        elif self._pinged:
            self.close(INTERNAL_ERROR, "keepalive: a ping went unanswered")
            self._transport.abort()
        elif self._protocol.state is State.OPEN:
            self._pinged = True
            self._protocol.send_ping(b"")
            self._flush()

    def hush(self) -> None:
        """Take nothing more from this connection; what it still asks for stays unanswered."""
        self._closing = True

    async def settled(self) -> None:
        """Wait until everything that was taken is answered."""
        if self._work is not None:
            await asyncio.wait([self._work])
        if self._receiver is not None:
            await self._receiver.settled()

    def rest(self) -> None:
        """Read nothing for a moment: whoever asks too fast is slowed down at the source."""
        if self._resting is None:
            self._resting = self._loop.call_later(REST_S, self._rested)
            self._steady()

    def _rested(self) -> None:
        self._resting = None
        self._read_soon()
        self._steady()

    @property
    def _is_held(self) -> bool:
        """Whether what has come in has to wait."""
        return self._resting is not None or len(self._waiting or ()) >= MAX_WAITING

    def _steady(self) -> None:
        """Read from the network just when there is nothing left to work on."""
        pause = bool(self._unread) or self._is_held
        if pause != self._paused and not self._transport.is_closing():
            self._paused = pause
            (self._transport.pause_reading if pause else self._transport.resume_reading)()

    # The transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the handshake."""
        # A stream's transport; uvloop's does not inherit from asyncio's class.
        self._transport = cast("asyncio.Transport", transport)
        self._owner.opened(self)

    def data_received(self, data: bytes) -> None:
        """Hand over every complete frame in order."""
        self._heard = True
        if self._is_between_frames and not self._unread and (frame := _lone(data)) is not None:
            self._receive(frame)
            return
        if self._unread or len(data) > SLICE:
            self._unread += data
            self._steady()
            self._read_soon()
            return
        self._read(data)

    def _read_soon(self) -> None:
        if self._turn is None and self._unread:
            self._turn = self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        """Work on the next slice of what has come in, unless the connection has to wait."""
        self._turn = None
        if self._unread and not self._is_held:
            data = bytes(self._unread[:SLICE])
            del self._unread[:SLICE]
            self._read(data)
            self._read_soon()
        self._steady()

    def _read(self, data: bytes) -> None:
        protocol = self._protocol
        while protocol.state is State.CONNECTING and not protocol.close_expected():
            # Line by line: what follows the request is nothing to read before it is answered.
            end = data.find(b"\n") + 1
            if not 0 < end < len(data):
                break
            self._feed(data[:end])
            data = data[end:]
        self._feed(data)

    def _feed(self, data: bytes) -> None:
        protocol = self._protocol
        protocol.receive_data(data)
        events = protocol.events_received()
        if protocol.writes:
            self._flush()
            # What answers pings piles up like anything else, and goes on while closing.
            backlog = self._transport.get_write_buffer_size()
            if backlog > MAX_BACKLOG and protocol.state is State.OPEN:
                self._close_slow()
            elif backlog > 2 * MAX_BACKLOG:
                self._transport.abort()
        self._is_between_frames = (
            protocol.state is State.OPEN
            and not protocol.reader.buffer
            and protocol.current_size is None
        )
        for event in events:
            if isinstance(event, Frame):
                self._take(event)
            elif isinstance(event, Request):
                self._shake_hands(event)

    def eof_received(self) -> None:
        """The far end is done: the transport closes by itself."""
        self._unread.clear()
        self._protocol.receive_eof()
        self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        """Let what was read be done with, then leave."""
        self._protocol.receive_eof()
        self._unread.clear()
        for timer in (self._deadline, self._resting):
            if timer is not None:
                timer.cancel()
        if self._work is None:
            self._work = self._loop.create_task(self._go_on(None))

    # Frames

    def _shake_hands(self, request: Request) -> None:
        protocol = self._protocol
        self._receiver = self._owner.admit(self, request)
        if self._receiver is None:
            response = protocol.reject(503, "Too many connections; come back in a moment.\n")
        else:
            response = protocol.accept(request)
        protocol.send_response(response)
        # The protocol keeps the request for as long as the connection lives, for nothing.
        request.headers.clear()
        self._flush()
        if self.is_open and protocol.subprotocol is None:
            self.close(POLICY, f"speak the subprotocol {limits.SUBPROTOCOL}")

    def _take(self, frame: Frame) -> None:
        opcode = frame.opcode
        if opcode is Opcode.BINARY and frame.fin:
            self._receive(bytes(frame.data))
        elif opcode is Opcode.TEXT:
            # Not a frame of ours; its fragments, if there are more, mean nothing either.
            self._receive(str(frame.data, "utf-8", "replace"))
        elif opcode is Opcode.BINARY:
            self._fragments = [bytes(frame.data)]
        elif opcode is Opcode.CONT and self._fragments is not None:
            # The protocol bounds the bytes; an empty fragment adds nothing.
            if frame.data:
                self._fragments.append(bytes(frame.data))
            if frame.fin:
                whole, self._fragments = b"".join(self._fragments), None
                self._receive(whole)

    def _receive(self, frame: bytes | str) -> None:
        if self._closing or self._receiver is None:
            return
        if self._work is None:
            work = self._receiver.receive(frame)
            if work is not None:
                self._work = self._loop.create_task(self._go_on(work))
            return
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(frame)
        self._steady()

    async def _go_on(self, work: Coroutine[Any, Any, None] | None) -> None:
        """Await work, then do what waited for it; at the end of the connection, leave."""
        try:
            while True:
                if work is not None:
                    await work
                    work = None
                while self._waiting and work is None and self._receiver is not None:
                    work = self._receiver.receive(self._waiting.popleft())
                if work is None:
                    break
        except Exception:
            log.exception("a connection failed")
            self.close(INTERNAL_ERROR, "the server failed on this; it is in its log")
        self._work = self._waiting = None
        if self._protocol.state is State.CLOSED:
            self._work = self._loop.create_task(self._leave())
        else:
            self._read_soon()
            self._steady()

    async def _leave(self) -> None:
        try:
            if self._receiver is not None:
                await self._receiver.leave()
        except Exception:
            log.exception("leaving a connection failed")
        finally:
            self._owner.ended(self)
            # What refers to itself would stay until the collector comes, and to what has lived
            # for a while it hardly ever does: the receiver by its way out, the protocol by its
            # parser and by the frames in the traceback of why it ended.
            self._receiver = self._work = None
            protocol = self._protocol
            protocol.parser.close()
            protocol.parser_exc = protocol.handshake_exc = None

    def _flush(self) -> None:
        """Write what the protocol has to say; where that is the end, give the far end a moment."""
        transport = self._transport
        for data in self._protocol.data_to_send():
            if data:
                transport.write(data)
            elif transport.can_write_eof():
                transport.write_eof()
            else:
                transport.close()
        if self._deadline is None and self._protocol.close_expected():
            self._deadline = self._loop.call_later(CLOSE_WITHIN_S, transport.abort)


def _lone(data: bytes) -> bytes | None:
    """Return the payload if `data` is just one whole, short, masked binary frame (RFC 6455, 5.2).

    Nearly everything that players send is; anything else is for the protocol to judge.
    """
    size = len(data)
    # Two bytes, the second with the mask bit and the length, and four of the mask come before it.
    if 6 <= size <= 131 and data[0] == 0x82 and data[1] == 0x80 + size - 6:
        payload: bytes = apply_mask(data[6:], data[2:6])
        return payload
    return None


def framed(payload: bytes) -> bytes:
    """Return a whole binary frame, unmasked as a server's are (RFC 6455, 5.2)."""
    size = len(payload)
    if size < 126:
        return b"\x82%c%b" % (size, payload)
    if size < 1 << 16:
        return b"\x82\x7e%b%b" % (size.to_bytes(2, "big"), payload)
    return Frame(Opcode.BINARY, payload).serialize(mask=False)
