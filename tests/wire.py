"""A raw connection that speaks the protocol and keeps every message, for tests of the server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, encode, pack
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from websockets.asyncio.client import ClientConnection

    from samedeal.protocol.fields import Message

__all__ = ["Wire", "race_of", "wired"]

_Kind = TypeVar("_Kind", bound=say.ServerMessage)


class Wire:
    """One connection, with what came over it in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._ids = 0
        self.heard: list[say.ServerMessage] = []
        self.token = ""
        self.name = ""
        self.is_closed = False

    async def read(self) -> None:
        """Keep all that comes, until the end."""
        try:
            async for frame in self.socket:
                assert isinstance(frame, bytes)
                self.heard.append(decode_server(frame))
        except ConnectionClosed:
            pass
        self.is_closed = True

    def abort(self) -> None:
        """Break the connection without a goodbye."""
        self.socket.transport.abort()

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    async def send(self, message: ask.ClientMessage) -> None:
        """Send and do not wait."""
        await self.socket.send(encode(message))

    async def post(self, kind: type[Message], **fields: Any) -> int:
        """Send a request of any fields, fitting or not, and do not wait. Return its number."""
        number = self.next_id()
        name = kind.model_fields["type"].default
        await self.socket.send(pack({"type": name, "id": number, **fields}))
        return number

    def answers(self, number: int) -> list[say.ServerMessage]:
        """What was answered to a request; one message, if all is well."""
        return [m for m in self.heard if getattr(m, "id", None) == number]

    async def answer(self, number: int) -> say.ServerMessage:
        """Wait for the one answer to a request."""
        await eventually(lambda: bool(self.answers(number)))
        (answer,) = self.answers(number)
        return answer

    async def get(self, answer: type[_Kind], kind: type[Message], **fields: Any) -> _Kind:
        """Ask for what must be granted, or must be refused."""
        got = await self.answer(await self.post(kind, **fields))
        assert isinstance(got, answer), got
        return got

    async def request(self, message: ask.ClientMessage) -> say.ServerMessage:
        """Send, and wait for the answer."""
        await self.send(message)
        return await self.answer(message.id)

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
async def wired(
    url: str, name: str = "", *, token: str | None = None, bot: bool = False
) -> AsyncIterator[Wire]:
    """A connection that has said hello, unless it has neither a name nor a token to say."""
    async with connect(
        url, subprotocols=[Subprotocol(limits.SUBPROTOCOL)], compression=None, close_timeout=1
    ) as socket:
        wire = Wire(socket)
        reading = asyncio.create_task(wire.read())
        if name or token:
            who = None if token else name
            hello = ask.Hello(
                id=wire.next_id(),
                name=who,
                or_like=token is None,
                token=token,
                bot=bot and not token,
            )
            welcome = await wire.request(hello)
            assert isinstance(welcome, say.Welcome)
            wire.token, wire.name = welcome.token or token or "", welcome.name
        yield wire
    await reading


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
        await eventually(lambda w=wire: bool(w.all(say.Go)))  # type: ignore[misc]
    return seated.race.id
