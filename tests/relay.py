"""A relay of whole messages between a client and a real server, to change what either says."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.limits import SUBPROTOCOL

__all__ = ["Edit", "Relay", "unchanged"]

Fields = dict[str, Any]
Edit = Callable[[Fields], list[Fields]]
"""What is passed on in place of one message."""


def unchanged(fields: Fields) -> list[Fields]:
    """Pass a message on as it is."""
    return [fields]


class Relay:
    """`async with Relay(server_url) as url`. `asked` and `said` edit what passes by."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._server: Server
        self.asked: Edit = unchanged
        self.said: Edit = unchanged
        self.accepted_at: list[float] = []

    async def __aenter__(self) -> str:
        self._server = await serve(
            self._relay, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None
        )
        port: int = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://127.0.0.1:{port}"

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def close_all(self, code: int, reason: str) -> None:
        """Close every connection to a client, as a server would."""
        await asyncio.gather(*(one.close(code, reason) for one in self._server.connections))

    async def say(self, frame: bytes | str) -> None:
        """Send every client a frame that the server never sent."""
        for connection in self._server.connections:
            await connection.send(frame)

    async def _relay(self, near: ServerConnection) -> None:
        self.accepted_at.append(asyncio.get_running_loop().time())
        protocols = [Subprotocol(SUBPROTOCOL)]
        with suppress(ConnectionClosed):
            async with connect(self._target, subprotocols=protocols, compression=None) as far:
                back = asyncio.create_task(self._pump(far, near, lambda f: self.said(f)))
                await self._pump(near, far, lambda f: self.asked(f))
                await far.close()
                await back

    async def _pump(self, source: Any, target: Any, edit: Edit) -> None:
        with suppress(ConnectionClosed):
            async for frame in source:
                for fields in edit(unpack(frame)):
                    await target.send(pack(fields))
        await target.close()
