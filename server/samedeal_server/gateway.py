"""The door of the server: it listens, admits connections, and looks after quiet ones."""

import asyncio
import itertools
import random
from collections import OrderedDict

from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from samedeal.protocol import limits
from samedeal_server.desk import RaceDesk
from samedeal_server.errors import CannotServe
from samedeal_server.session import Session
from samedeal_server.wire import POLICY, RESTART, Wire

__all__ = ["Gateway"]

READ_LIMIT = 64 * 1024
"""Bytes of a frame that is read at all. Up to here one that is too long gets an answer."""
SPREAD_MS = 5000
"""Clients of a server that stops come back spread over this time."""
TICK_S = 0.25
PING_EVERY_S = 20.0


class Gateway:
    """Takes connections and gives each a session."""

    def __init__(self, desk: RaceDesk) -> None:
        self._desk = desk
        self._loop = asyncio.get_running_loop()
        self._server: asyncio.Server | None = None
        self._tick: asyncio.TimerHandle | None = None
        self._wires: dict[Wire, Session | None] = {}
        # Both in the order of their times: the intervals are the same for all.
        self._silent: OrderedDict[Wire, float] = OrderedDict()
        self._beats: OrderedDict[Wire, float] = OrderedDict()
        self._empty = asyncio.Event()

    async def open(self, host: str, port: int, *, reuse_port: bool = False) -> int:
        """Listen. Return the port. Raise CannotServe if the address cannot be had."""
        try:
            self._server = await self._loop.create_server(
                lambda: Wire(self), host, port, reuse_port=reuse_port or None, backlog=1024
            )
        except OSError as error:
            raise CannotServe(
                f"cannot listen on {host}:{port}: {error.strerror or error}"
            ) from None
        self._tick = self._loop.call_later(TICK_S, self._look_after)
        bound: int = next(iter(self._server.sockets)).getsockname()[1]
        return bound

    async def close(self) -> None:
        """Close every connection with a hint when to come back, each its own."""
        if self._server is None:
            return
        self._server.close()
        for wire in list(self._wires):
            wire.close(RESTART, f"retry_ms={random.randrange(200, SPREAD_MS)}")
        if self._wires:
            await self._empty.wait()
        if self._tick is not None:
            self._tick.cancel()

    # What follows is for the wires.

    def protocol(self) -> ServerProtocol:
        """Make the protocol of a new connection: no compression, our subprotocol if offered."""
        return ServerProtocol(
            subprotocols=[Subprotocol(limits.SUBPROTOCOL)],
            select_subprotocol=_choose,
            max_size=READ_LIMIT,
        )

    def opened(self, wire: Wire) -> None:
        """Give a new connection some time to say hello."""
        now = self._loop.time()
        self._wires[wire] = None
        self._silent[wire] = now + limits.HELLO_WITHIN_S
        self._beats[wire] = now + PING_EVERY_S

    def admit(self, wire: Wire, request: Request) -> Session | None:
        """Give a connection its session."""
        session = self._wires[wire] = Session(self._desk, wire)
        return session

    def ended(self, wire: Wire) -> None:
        """Forget a connection."""
        del self._wires[wire], self._beats[wire]
        self._silent.pop(wire, None)
        if not self._wires:
            self._empty.set()

    def _look_after(self) -> None:
        now = self._loop.time()
        for wire in _due(self._silent, now):
            del self._silent[wire]
            session = self._wires[wire]
            if session is None or session.account is None:
                wire.close(POLICY, "no hello in time")
        for wire in _due(self._beats, now):
            self._beats[wire] = now + PING_EVERY_S
            self._beats.move_to_end(wire)
            wire.beat()
        self._tick = self._loop.call_later(TICK_S, self._look_after)


def _due(times: "OrderedDict[Wire, float]", now: float) -> list[Wire]:
    """Return the first of `times`, as far as their time has come."""
    return [wire for wire, _ in itertools.takewhile(lambda item: item[1] <= now, times.items())]


def _choose(_protocol: ServerProtocol, offered: object) -> Subprotocol | None:
    """Take our subprotocol if it is offered; without it the connection is told why and closed."""
    names = offered if isinstance(offered, list | tuple) else ()
    return Subprotocol(limits.SUBPROTOCOL) if limits.SUBPROTOCOL in names else None
