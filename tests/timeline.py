"""An offset to the store's clock that a test can hold: the days go by at its word."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from samedeal_server.almanac import Calendar

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["Timeline", "utc_ms"]

_STAMPS = ("created", "go_at", "deadline", "closed_at", "day_ends_at")


def utc_ms(text: str) -> int:
    """Return a time as in 2028-02-29T23:59:58 in milliseconds since 1970."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


class Timeline:
    """The calendars of the nodes, and the times that are noted in the store, move together."""

    def __init__(self, redis: Redis, at: str, *, nodes: int = 1) -> None:
        self._redis = redis
        self._start_ms = utc_ms(at)
        self.calendars = [Calendar() for _ in range(nodes)]

    async def begin(self) -> None:
        """Have it be the time that the timeline begins at."""
        for calendar in self.calendars:
            calendar.ahead_ms = self._start_ms - await self.store_ms()

    async def store_ms(self) -> int:
        """The clock of the store."""
        seconds, micros = await self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def go_on(self, *, seconds: float) -> None:
        """Let time pass."""
        by_ms = int(seconds * 1000)
        for calendar in self.calendars:
            calendar.ahead_ms += by_ms
        async for key in self._redis.scan_iter(match="{r:*}"):
            for stamp in _STAMPS:
                if await self._redis.hexists(key, stamp):
                    await self._redis.hincrby(key, stamp, -by_ms)
