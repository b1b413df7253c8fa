"""A bot that sits in the player's room and goes on with it from deal to deal."""

import asyncio
import contextlib
import random
from contextlib import AsyncExitStack
from typing import Final

from samedeal.protocol import server_messages as say
from samedeal_client import bot
from samedeal_client.connection import Client, Race
from samedeal_client.errors import ClientError

__all__ = ["Companion"]

PACE_S: Final = 1.5
"""About what a person needs for a move."""
_NAMES: Final = ("greta", "hugo", "ida", "otto", "paula", "rudi")


class Companion:
    """One bot on a connection of its own."""

    def __init__(self, server: str) -> None:
        self._stack = AsyncExitStack()
        self._client = Client(server, name=random.choice(_NAMES), bot=True)
        self._task: asyncio.Task[None] | None = None

    async def join(self, code: str) -> None:
        """Take a seat, and play there until the room is left. Raise ClientError."""
        client = await self._stack.enter_async_context(self._client)
        race = await client.join(code)
        await race.ready()
        self._task = asyncio.create_task(self._play(client, race))

    async def close(self) -> None:
        """Stop playing and disconnect."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._stack.aclose()

    async def _play(self, client: Client, race: Race) -> None:
        with contextlib.suppress(ClientError):
            while True:
                await bot.play(race, pace_s=PACE_S)
                async for event in race.events():
                    if isinstance(event, say.Moved):
                        race = await client.resume(event.to)
                        await race.ready()
                        break
                else:
                    return
