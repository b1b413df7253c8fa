"""A raw connection that speaks the protocol and keeps every message, for tests of the server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, encode
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from websockets.asyncio.client import ClientConnection

__all__ = ["Wire", "wired"]

_Kind = TypeVar("_Kind", bound=say.ServerMessage)


class Wire:
    """One connection, with what came over it in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = 0
        self.heard: list[say.ServerMessage] = []
        self.token = ""
        self.is_closed = False

    async def read(self) -> None:
        """Keep all that comes, until the end."""
        try:
            async for frame in self._socket:
                assert isinstance(frame, bytes)
                self.heard.append(decode_server(frame))
        except ConnectionClosed:
            pass
        self.is_closed = True

    def abort(self) -> None:
        """Break the connection without a goodbye."""
        self._socket.transport.abort()

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    async def send(self, message: ask.ClientMessage) -> None:
        """Send and do not wait."""
        await self._socket.send(encode(message))

    async def request(self, message: ask.ClientMessage) -> say.ServerMessage:
        """Send, and wait for the answer."""
        await self.send(message)

        def answers() -> list[say.ServerMessage]:
            return [m for m in self.heard if getattr(m, "id", None) == message.id]

        await eventually(lambda: bool(answers()), 20)
        (answer,) = answers()
        return answer

    async def done(self, message: ask.ClientMessage) -> None:
        """Send, and see it done."""
        answer = await self.request(message)
        assert isinstance(answer, say.Done), answer

    async def seated(self, message: ask.ClientMessage) -> say.Seated:
        """Send, and see the seat given."""
        answer = await self.request(message)
        assert isinstance(answer, say.Seated), answer
        return answer

    def all(self, kind: type[_Kind]) -> list[_Kind]:
        """What came of one kind."""
        return [message for message in self.heard if isinstance(message, kind)]

    def vers(self) -> list[int]:
        """The versions of the race in all that came, in order."""
        found = []
        for message in self.heard:
            if isinstance(message, say.Progress):
                found.append(message.ver)
            elif isinstance(message, say.Seated | say.Room | say.Go | say.Closed):
                found.append(message.race.ver)
        return found


@asynccontextmanager
async def wired(url: str, name: str, *, token: str | None = None) -> AsyncIterator[Wire]:
    """A connection that has said hello."""
    async with connect(
        url, subprotocols=[Subprotocol(limits.SUBPROTOCOL)], compression=None, close_timeout=1
    ) as socket:
        wire = Wire(socket)
        reading = asyncio.create_task(wire.read())
        who = None if token else name
        welcome = await wire.request(ask.Hello(id=wire.next_id(), name=who, token=token))
        assert isinstance(welcome, say.Welcome)
        wire.token = welcome.token or token or ""
        yield wire
    await reading
