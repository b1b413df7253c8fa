"""A bare connection to a server: requests without a client library, and all that was said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, pack
from samedeal.protocol.fields import Message
from samedeal.protocol.limits import MAX_SERVER_FRAME, SUBPROTOCOL
from support import eventually

__all__ = ["Wire", "race_of", "wired"]

_Answer = TypeVar("_Answer")


class Wire:
    """What was said on one connection, in order; requests are numbered by it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.said: list[say.ServerMessage] = []
        self.token = ""
        self._ids = 0

    async def read(self) -> None:
        """Keep what the server says, until the connection ends."""
        with suppress(ConnectionClosed):
            async for frame in self.socket:
                self.said.append(decode_server(frame))

    async def send(self, kind: type[Message], **fields: Any) -> int:
        """Send a request without waiting. Return its number."""
        self._ids += 1
        name = kind.model_fields["type"].default
        await self.socket.send(pack({"type": name, "id": self._ids, **fields}))
        return self._ids

    def answers(self, request: int) -> list[say.ServerMessage]:
        """What was answered to a request; one message, if all is well."""
        return [message for message in self.said if getattr(message, "id", None) == request]

    async def ask(self, kind: type[Message], **fields: Any) -> say.ServerMessage:
        """Send a request and return the one answer."""
        request = await self.send(kind, **fields)
        await eventually(lambda: bool(self.answers(request)), 10)
        (answer,) = self.answers(request)
        return answer

    async def get(self, answer: type[_Answer], kind: type[Message], **fields: Any) -> _Answer:
        """Ask for what must be granted, or must be refused."""
        got = await self.ask(kind, **fields)
        assert isinstance(got, answer), got
        return got

    def events(self, kind: type[_Answer]) -> list[_Answer]:
        return [message for message in self.said if isinstance(message, kind)]

    async def until(self, condition: Callable[[], bool], within_s: float = 10) -> None:
        await eventually(condition, within_s)


@asynccontextmanager
async def wired(
    url: str, name: str = "", *, token: str = "", bot: bool = False
) -> AsyncIterator[Wire]:
    """A connection: greeted as a new guest, or by the token of an account, or not yet."""
    async with connect(
        url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, max_size=MAX_SERVER_FRAME
    ) as socket:
        wire = Wire(socket)
        reader = asyncio.create_task(wire.read())
        if name or token:
            hello = {"token": token} if token else {"name": name, "bot": bot}
            welcome = await wire.get(say.Welcome, ask.Hello, **hello)
            wire.token = token or welcome.token or ""
        yield wire
        await socket.close()
        await reader


async def race_of(*wires: Wire, game: str = "lanes", seed: str = "", **options: Any) -> str:
    """A race that runs, the first connection its host. Return its id."""
    host, *others = wires
    fields: dict[str, Any] = {"seed": seed} if seed else {}
    options = {"seats": len(wires), "countdown_s": 0, **options}
    seated = await host.get(say.Seated, ask.Create, game=game, options=options, **fields)
    for wire in others:
        await wire.get(say.Seated, ask.Join, code=seated.race.code)
    for wire in (*others, host):
        await wire.get(say.Done, ask.Ready, race=seated.race.id)
    for wire in wires:
        await wire.until(lambda w=wire: bool(w.events(say.Go)))  # type: ignore[misc]
    return seated.race.id
