"""The open rooms in the store: one small hash, so that any node can show them all."""

from typing import Any, NamedTuple

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["KEEP_MS", "LobbyStore", "OpenRoom"]

KEEP_MS = 45_000
"""A room that no node confirms for so long is not shown any more: three looks of the sweep."""
_LOBBY = Script("lobby")


class OpenRoom(NamedTuple):
    """A room: how long it has been open, and what it looks like."""

    race: str
    waited_ms: int
    text: str


@translates_faults
class LobbyStore:
    """Notes rooms and reads them back. The newest version of a room counts, whoever notes it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, race: str, ver: int, text: str) -> None:
        """Note what a room looks like in this version; empty if it is not open."""
        await run(self._redis, _LOBBY, keys.lobby(), [KEEP_MS, race, ver, text])

    async def rooms(self) -> tuple[int, list[OpenRoom]]:
        """Read all rooms, the newest first, and the number of changes that brought them here."""
        reply: Any = await run(self._redis, _LOBBY, keys.lobby(), [KEEP_MS])
        now, number, *flat = reply
        rooms = [
            OpenRoom(race, max(0, int(now) - int(since)), text)
            for race, since, text in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        ]
        return int(number), sorted(rooms, key=lambda room: room.waited_ms)
