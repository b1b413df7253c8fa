"""The websocket side of the server: handshake, frames in, frames out, closing. Knows websockets."""

import asyncio
import logging
import random

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol import limits
from samedeal_server.desk import RaceDesk
from samedeal_server.errors import CannotServe
from samedeal_server.session import Session

__all__ = ["Gateway"]

log = logging.getLogger(__name__)

MAX_BACKLOG = 256 * 1024
"""Bytes a client may leave unread; then it is closed, and may resume."""
READ_LIMIT = 64 * 1024
"""Bytes of a frame that is read at all. Up to here one that is too long gets an answer."""
RESTART, POLICY, TRY_LATER = 1012, 1008, 1013
SPREAD_MS = 5000


class SocketOutbox:
    """Writes to one connection without waiting."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._closing: asyncio.Task[None] | None = None

    def send(self, frame: bytes) -> None:
        """Write a frame now. Who leaves too much unread is closed."""
        if self._closing is not None:
            return
        if self._connection.transport.get_write_buffer_size() > MAX_BACKLOG:
            self.close(TRY_LATER, "too slow: frames were left unread; resume when you can")
            return
        broadcast((self._connection,), frame)

    def close(self, code: int, reason: str) -> None:
        """Close soon; nothing more is sent."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._connection.close(code, reason))


class Gateway:
    """Takes connections and gives each a session."""

    def __init__(self, desk: RaceDesk) -> None:
        self._desk = desk
        self._server: Server | None = None

    async def open(self, host: str, port: int, *, reuse_port: bool = False) -> int:
        """Listen. Return the port. Raise CannotServe if the address cannot be had."""
        try:
            self._server = await serve(
                self._serve_one,
                host,
                port,
                subprotocols=[Subprotocol(limits.SUBPROTOCOL)],
                select_subprotocol=_choose,
                compression=None,
                max_size=READ_LIMIT,
                max_queue=16,
                close_timeout=2,
                server_header=None,
                reuse_port=reuse_port or None,
            )
        except OSError as error:
            raise CannotServe(
                f"cannot listen on {host}:{port}: {error.strerror or error}"
            ) from None
        bound: int = next(iter(self._server.sockets)).getsockname()[1]
        return bound

    async def close(self) -> None:
        """Close every connection with a hint when to come back, each its own."""
        if self._server is None:
            return
        self._server.close(close_connections=False)
        closings = [
            connection.close(RESTART, f"retry_ms={random.randrange(200, SPREAD_MS)}")
            for connection in self._server.connections
        ]
        await asyncio.gather(*closings, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve_one(self, connection: ServerConnection) -> None:
        outbox = SocketOutbox(connection)
        if connection.subprotocol is None:
            outbox.close(POLICY, f"speak the subprotocol {limits.SUBPROTOCOL}")
            return
        session = Session(self._desk, outbox)
        try:
            if await self._greeted(connection, session):
                receive = session.receive
                async for frame in connection:
                    if (work := receive(frame)) is not None:
                        await work
        except ConnectionClosed:
            pass
        finally:
            await session.leave()

    async def _greeted(self, connection: ServerConnection, session: Session) -> bool:
        """Wait for a hello that is accepted. Who does not say it in time is closed."""
        try:
            async with asyncio.timeout(limits.HELLO_WITHIN_S):
                while session.account is None:
                    work = session.receive(await connection.recv())
                    if work is not None:
                        await work
        except TimeoutError:
            await connection.close(POLICY, "no hello in time")
            return False
        return True


def _choose(_connection: ServerConnection, offered: object) -> Subprotocol | None:
    """Take our subprotocol if it is offered; without it the connection is told why and closed."""
    names = offered if isinstance(offered, list | tuple) else ()
    return Subprotocol(limits.SUBPROTOCOL) if limits.SUBPROTOCOL in names else None
