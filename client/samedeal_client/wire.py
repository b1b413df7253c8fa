"""One websocket that has said hello: messages out in order, messages in. Knows websockets."""

import asyncio
import logging
import re
import socket
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.errors import BadFrame, UnknownMessage
from samedeal_client.errors import CannotConnect, Refused

__all__ = ["Wire", "addresses"]

log = logging.getLogger(__name__)

PING_EVERY_S: Final = 10
"""A connection that does not answer a ping within as much again is given up."""
_HINT = re.compile(r"retry_ms=(\d{1,6})")
_RESTART, _TRY_LATER = 1012, 1013


def addresses(text: str) -> tuple[str, ...]:
    """Read one or several addresses of a service, with commas between. Raise CannotConnect."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for address in found or ("",):
        try:
            parse_uri(address)
        except (InvalidURI, ValueError):
            raise CannotConnect(
                f"{address[:100]!r} is no address of a server; write ws://HOST:PORT"
            ) from None
    return found


def _why(error: Exception) -> str:
    """Say why nothing answers, without the numbers of the system where they say nothing."""
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, socket.gaierror):
        return "no machine of that name is known"
    return str(error) or "no answer in time"


class Wire:
    """Made by `dial`. Frames leave in the order of `send`, without waiting for one another."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self.since_s = self.heard_at_s = self._loop.time()
        """By the clock of the loop: when it was made, when anything came in last."""
        self.welcome: say.Welcome
        self._writer = asyncio.create_task(self._write())

    @classmethod
    async def dial(cls, url: str, hello: ask.Hello, within_s: float) -> "Wire":
        """Connect and say hello. Raise CannotConnect or Refused."""
        try:
            socket = await connect(
                url,
                subprotocols=[Subprotocol(limits.SUBPROTOCOL)],
                compression=None,
                max_size=limits.MAX_SERVER_FRAME,
                open_timeout=within_s,
                ping_interval=PING_EVERY_S,
                ping_timeout=PING_EVERY_S,
                close_timeout=2,
            )
        except (OSError, TimeoutError, WebSocketException) as error:
            raise CannotConnect(
                f"no samedeal server answers at {url} ({_why(error)}); start one with: "
                "samedeal serve, or samedeal play --local"
            ) from None
        wire = cls(socket)
        try:
            async with asyncio.timeout(within_s):
                wire.welcome = await wire._greeted(url, hello)
        except TimeoutError:
            await wire.close()
            raise CannotConnect(f"{url} does not answer within {within_s:g} s") from None
        except BaseException:
            await wire.close()
            raise
        return wire

    async def _greeted(self, url: str, hello: ask.Hello) -> say.Welcome:
        if self._socket.subprotocol != limits.SUBPROTOCOL:
            raise CannotConnect(f"what answers at {url} does not speak {limits.SUBPROTOCOL}")
        self.send(hello)
        while (answer := await self.receive()) is not None:
            match answer:
                case say.Welcome():
                    return answer
                case say.Refused():
                    raise Refused(answer.code, answer.sentence, retry_ms=answer.retry_ms)
                case UnknownMessage():
                    pass
                case _:
                    raise CannotConnect(f"what answers at {url} is no samedeal server")
        reason = self._socket.close_reason or "it said nothing"
        raise CannotConnect(f"{url} closed the connection: {reason}")

    def send(self, message: ask.ClientMessage) -> None:
        """Have a message written. Whether the connection still lives shows when it is read."""
        self._outgoing.put_nowait(encode(message))

    async def receive(self) -> say.ServerMessage | BadFrame | None:
        """Return what comes next: the error of a frame that cannot be read, None at the end."""
        try:
            frame = await self._socket.recv()
        except ConnectionClosed:
            return None
        self.heard_at_s = self._loop.time()
        try:
            return decode_server(frame)
        except BadFrame as error:
            return error

    @property
    def retry_ms(self) -> int | None:
        """The pause that the server asked for when it closed the connection."""
        hint = _HINT.search(self._socket.close_reason or "")
        asked = self._socket.close_code in (_RESTART, _TRY_LATER)
        return int(hint[1]) if hint and asked else None

    async def close(self) -> None:
        """Disconnect; what was not written yet is lost."""
        self._writer.cancel()
        await asyncio.gather(self._writer, return_exceptions=True)
        await self._socket.close()

    def drop(self) -> None:
        """Break the connection at once, for it seems to lead nowhere."""
        self._socket.transport.abort()

    async def _write(self) -> None:
        while True:
            frame = await self._outgoing.get()
            try:
                await self._socket.send(frame)
            except ConnectionClosed:
                log.debug("a frame was not sent: the connection is gone")
                return
