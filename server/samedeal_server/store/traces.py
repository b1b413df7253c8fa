"""Which races an account sat in, which of its days count, and which accounts are being deleted."""

from typing import Any

from redis.asyncio import Redis

from samedeal.protocol import days
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults

__all__ = ["TraceStore"]


@translates_faults
class TraceStore:
    """List and drop what belongs to an account."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def races(self, player: str) -> list[str]:
        """The races an account sat in, the latest first."""
        return [str(one) for one in await self._redis.zrevrange(keys.seated(player), 0, -1)]

    async def friends(self, player: str) -> list[str]:
        """The accounts that an account named as friends."""
        friends: Any = await self._redis.smembers(keys.friends(player))
        return sorted(friends)

    async def drop(self, player: str) -> None:
        """Forget what is kept under the account's own keys."""
        for game in days.DAILY_GAMES:
            await self._redis.delete(keys.days_played(player, game))
        await self._redis.delete(keys.friends(player))
        await self._redis.delete(keys.seated(player))
        await self._redis.delete(keys.opened(player))

    async def begin(self, player: str) -> None:
        """Note that an account is to be deleted; again does not make it later."""
        seconds, _ = await self._redis.time()
        await self._redis.zadd(keys.erasures(), {player: int(seconds)}, nx=True)

    async def unfinished(self, after_s: int) -> list[str]:
        """Accounts whose deletion began so long ago and is not done."""
        seconds, _ = await self._redis.time()
        last = int(seconds) - after_s
        found: Any = await self._redis.zrangebyscore(keys.erasures(), 0, last, start=0, num=50)
        return list(found)

    async def done(self, player: str) -> None:
        """An account is deleted."""
        await self._redis.zrem(keys.erasures(), player)
