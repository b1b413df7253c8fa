"""A WebSocket client over a plain socket: it decides which bytes leave, and in which write."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import Event
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from samedeal.protocol import server_messages as say
from samedeal.protocol.client_messages import ClientMessage, Hello
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.limits import SUBPROTOCOL
from support import PATIENCE_S

__all__ = ["Raw", "binary", "opened", "raw"]


class Raw:
    """A WebSocket client that decides which bytes leave in which write."""

    def __init__(self, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.protocol = ClientProtocol(parse_uri(url), subprotocols=[Subprotocol(SUBPROTOCOL)])
        self.reader, self.writer = reader, writer
        self._events: list[Event] = []

    def frames(self, *frames: Frame) -> bytes:
        return b"".join(frame.serialize(mask=True) for frame in frames)

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def pause(self) -> None:
        """Leave unread what comes."""
        self.writer.transport.pause_reading()  # type: ignore[attr-defined] # a stream's transport

    def resume(self) -> None:
        """Read on."""
        self.writer.transport.resume_reading()  # type: ignore[attr-defined] # a stream's transport

    async def event(self, within_s: float = PATIENCE_S) -> Event:
        async with asyncio.timeout(within_s):
            while not self._events:
                data = await self.reader.read(65536)
                if data:
                    self.protocol.receive_data(data)
                else:
                    self.protocol.receive_eof()
                self._events += self.protocol.events_received()
                for reply in self.protocol.data_to_send():
                    if reply:
                        await self.write(reply)
        return self._events.pop(0)

    async def answer(self) -> say.ServerMessage:
        frame = await self.event()
        assert isinstance(frame, Frame)
        assert frame.opcode is Opcode.BINARY
        return decode_server(bytes(frame.data))

    async def close_code(self) -> int:
        frame = await self.event()
        assert isinstance(frame, Frame)
        assert frame.opcode is Opcode.CLOSE
        return Close.parse(bytes(frame.data)).code

    async def apart(self) -> None:
        """Let what was written leave before more is: the server reads it by itself."""
        await asyncio.sleep(0.02)


async def opened(url: str, room: int = 0) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A socket to a server, and nothing said yet; with little `room` for what is not read."""
    host, _, port = url.removeprefix("ws://").partition(":")
    end = socket.socket()
    end.setblocking(False)
    if room:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    await asyncio.get_running_loop().sock_connect(end, (host, int(port)))
    return await asyncio.open_connection(sock=end)


@asynccontextmanager
async def raw(url: str, *, token: str | None = None, room: int = 0) -> AsyncIterator[Raw]:
    """A connection that has said hello, as a new guest or by a token."""
    client = Raw(url, *await opened(url, room))
    client.protocol.send_request(client.protocol.connect())
    await client.write(b"".join(client.protocol.data_to_send()))
    assert isinstance(await client.event(), Response)
    hello = Hello(id=0, token=token, name=None if token else "raw", or_like=token is None)
    await client.write(client.frames(binary(hello)))
    assert isinstance(await client.answer(), say.Welcome)
    try:
        yield client
    finally:
        client.writer.close()


def binary(message: ClientMessage) -> Frame:
    """A message as it travels."""
    return Frame(Opcode.BINARY, encode(message))
