"""What every node has to do about its connections: a stream that each node reads for itself."""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults

__all__ = ["Announced", "News", "NewsStore"]

_KEPT = 10_000
"""Entries: far more than come while a node is frozen."""
_LIFETIME_MS = 30 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class News:
    """One entry."""

    kind: str
    """`dismiss`, `renamed` or `announced`."""
    player: str = ""
    text: str = ""
    """The sentence, or the new name."""
    but: str = ""
    """The one connection of the player that it is not about."""


@dataclass(frozen=True, slots=True)
class Announced:
    """What an operator has to say to everybody, until some time of the store's clock."""

    id: str
    until_ms: int
    text: str


@translates_faults
class NewsStore:
    """Post news, and read what came after a place in the stream."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def post(self, news: News) -> None:
        """Have every node hear of it. Heard twice is as good as once."""
        fields: dict[Any, Any] = {
            "kind": news.kind,
            "player": news.player,
            "text": news.text,
            "but": news.but,
        }
        await self._redis.xadd(keys.news(), fields, maxlen=_KEPT, approximate=True)
        await self._redis.pexpire(keys.news(), _LIFETIME_MS)

    async def place(self) -> str:
        """Where the stream ends now."""
        last: Any = await self._redis.xrevrange(keys.news(), count=1)
        return str(last[0][0]) if last else "0-0"

    async def after(self, place: str) -> tuple[str, list[News]]:
        """Return what came after a place, and the new place."""
        found: Any = await self._redis.xrange(keys.news(), min=f"({place}", count=1000)
        return (str(found[-1][0]) if found else place), [News(**fields) for _, fields in found]

    async def announce(self, said: Announced, lifetime_ms: int) -> None:
        """Keep an announcement for those who come later."""
        key = keys.announcements()
        await self._redis.hset(key, said.id, f"{said.until_ms} {said.text}")
        if await self._redis.pttl(key) < lifetime_ms:
            await self._redis.pexpire(key, lifetime_ms)

    async def announced(self) -> tuple[int, list[Announced]]:
        """The store's clock, and all that holds by it, the oldest first."""
        kept: Any = await self._redis.hgetall(keys.announcements())
        seconds, micros = await self._redis.time()
        now_ms = int(seconds) * 1000 + int(micros) // 1000
        all_ = [
            Announced(id_, int(text.split(" ", 1)[0]), text.split(" ", 1)[1])
            for id_, text in kept.items()
        ]
        return now_ms, sorted((a for a in all_ if a.until_ms > now_ms), key=lambda a: a.id)

    async def unsay(self, id_: str) -> bool:
        """Take an announcement back. Return whether there was one."""
        return bool(await self._redis.hdel(keys.announcements(), id_))
