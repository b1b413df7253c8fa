"""The door of the server: it listens, admits connections, and looks after quiet ones."""

import asyncio
import itertools
import random
import ssl
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress

from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

from samedeal.protocol import limits
from samedeal_server.desk import RaceDesk
from samedeal_server.door import Door, Proxies, Visitor
from samedeal_server.errors import CannotServe
from samedeal_server.pause import is_set_within
from samedeal_server.session import Session
from samedeal_server.wire import POLICY, RESTART, Wire

__all__ = ["Gateway"]

READ_LIMIT = 64 * 1024
"""Bytes of a frame that is read at all. Up to here one that is too long gets an answer."""
MIN_SPREAD_MS, MAX_SPREAD_MS, SPREAD_EACH_MS = 3000, 20_000, 10
"""Clients of a server that stops come back spread over a time that grows with their number."""
DRAIN_S = 8.0
"""How long a server that stops waits for what is under way, and then for everyone's goodbye."""
TICK_S = 0.25
PING_EVERY_S = 20.0


class Gateway:
    """Takes connections and gives each a session."""

    def __init__(
        self,
        desk: RaceDesk,
        door: Door[Wire],
        proxies: Proxies,
        origins: Sequence[Origin | None],
        *,
        max_connections: int,
    ) -> None:
        self._desk = desk
        self._door = door
        self._proxies = proxies
        self._origins = origins
        self._max_connections = max_connections
        self._loop = asyncio.get_running_loop()
        self._server: asyncio.Server | None = None
        self._tick: asyncio.TimerHandle | None = None
        self._wires: dict[Wire, str] = {}
        """Every connection, and its client's address as far as the handshake has told it."""
        # In the order of the times: the interval is the same for all.
        self._beats: OrderedDict[Wire, float] = OrderedDict()
        self._empty = asyncio.Event()

    async def open(
        self, host: str, port: int, tls: ssl.SSLContext | None = None, *, reuse_port: bool = False
    ) -> int:
        """Listen. Return the port. Raise CannotServe if the address cannot be had."""
        try:
            self._server = await self._loop.create_server(
                lambda: Wire(self),
                host,
                port,
                ssl=tls,
                # Until it is done the door does not know of the connection.
                ssl_handshake_timeout=None if tls is None else limits.HELLO_WITHIN_S,
                reuse_port=reuse_port or None,
                backlog=1024,
            )
        except OSError as error:
            raise CannotServe(
                f"cannot listen on {host}:{port}: {error.strerror or error}"
            ) from None
        self._tick = self._loop.call_later(TICK_S, self._look_after)
        bound: int = next(iter(self._server.sockets)).getsockname()[1]
        return bound

    async def close(self) -> None:
        """Take nothing more, finish what is under way, then close everyone.

        Each is told when to come back, spread over seconds: all at once would be a flood.
        """
        if self._server is None:
            return
        self._server.close()
        wires = list(self._wires)
        for wire in wires:
            wire.hush()
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                for wire in wires:
                    await wire.settled()
        spread_ms = min(max(MIN_SPREAD_MS, len(wires) * SPREAD_EACH_MS), MAX_SPREAD_MS)
        for wire in wires:
            wire.close(RESTART, f"retry_ms={random.randrange(200, spread_ms)}")
        if self._wires:
            await is_set_within(self._empty, DRAIN_S)
        if self._tick is not None:
            self._tick.cancel()

    # What follows is for the wires.

    def protocol(self) -> ServerProtocol:
        """Make the protocol of a new connection: no compression, our subprotocol if offered."""
        return _Protocol(
            subprotocols=[Subprotocol(limits.SUBPROTOCOL)],
            origins=self._origins,
            max_size=READ_LIMIT,
        )

    def opened(self, wire: Wire) -> None:
        """Give a new connection some time to say hello."""
        now = self._loop.time()
        self._empty.clear()
        self._wires[wire] = ""
        self._beats[wire] = now + PING_EVERY_S
        self._show_out(self._door.arrived(wire, now))

    def admit(self, wire: Wire, request: Request) -> Session | None:
        """Give a connection its session, if there is room for one more."""
        if len(self._wires) > self._max_connections:
            return None
        address = self._wires[wire] = self._proxies.client(wire.address, request.headers)
        self._show_out(self._door.came_from(wire, address))
        return Session(self._desk, wire, Visitor(self._door, wire, address, self._loop.time()))

    def ended(self, wire: Wire) -> None:
        """Forget a connection."""
        self._door.passed(wire, self._wires.pop(wire))
        del self._beats[wire]
        if not self._wires:
            self._empty.set()

    def _show_out(self, wire: Wire | None, why: str = "too many connections say nothing") -> None:
        if wire is not None:
            self._door.passed(wire, self._wires[wire])
            wire.close(POLICY, why)

    def _look_after(self) -> None:
        now = self._loop.time()
        for wire in self._door.overdue(now, limits.HELLO_WITHIN_S):
            self._show_out(wire, "no hello in time")
        for wire in _due(self._beats, now):
            self._beats[wire] = now + PING_EVERY_S
            self._beats.move_to_end(wire)
            wire.beat()
        self._tick = self._loop.call_later(TICK_S, self._look_after)


def _due(times: "OrderedDict[Wire, float]", now: float) -> list[Wire]:
    """Return the first of `times`, as far as their time has come."""
    return [wire for wire, _ in itertools.takewhile(lambda item: item[1] <= now, times.items())]


class _Protocol(ServerProtocol):
    """A function given as an argument would be kept bound to the protocol: a cycle for each."""

    def select_subprotocol(self, subprotocols: Sequence[Subprotocol]) -> Subprotocol | None:
        """Take ours if it is offered; without it the connection is told why and closed."""
        return Subprotocol(limits.SUBPROTOCOL) if limits.SUBPROTOCOL in subprotocols else None
