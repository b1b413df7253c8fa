"""Friends of an account: a list of its own, kept as long as it is used."""

from typing import Any

from redis.asyncio import Redis

from samedeal_server.names import skeleton
from samedeal_server.store import keys
from samedeal_server.store.accounts import LIFETIME_MS
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.names import NameStore
from samedeal_server.store.scripts import Script, run

__all__ = ["MAX_FRIENDS", "FriendStore"]

MAX_FRIENDS = 100

_FRIEND = Script("friend")


@translates_faults
class FriendStore:
    """Name friends, forget them, list them."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._names = NameStore(redis)

    async def who(self, name: str) -> str | None:
        """The account that has a name, in whatever spelling that reads alike."""
        return await self._names.owner(skeleton(name))

    async def add(self, player: str, friend: str) -> bool:
        """Put a friend on the list. Return False if it is full."""
        args: list[str | int] = [friend, MAX_FRIENDS, LIFETIME_MS]
        return bool(await run(self._redis, _FRIEND, [keys.friends(player)], args))

    async def remove(self, player: str, friend: str) -> None:
        """Take a friend off the list."""
        await self._redis.srem(keys.friends(player), friend)

    async def of(self, player: str) -> list[tuple[str, str]]:
        """The friends of an account, by name, each with its id; forget those that are gone."""
        friends: Any = await self._redis.smembers(keys.friends(player))
        if not friends:
            return []
        await self._redis.pexpire(keys.friends(player), LIFETIME_MS)
        pipe = self._redis.pipeline(transaction=False)
        for friend in friends:
            pipe.hget(keys.account(friend), "name")
        named = dict(zip(friends, await pipe.execute(), strict=True))
        for friend in [one for one, name in named.items() if not name]:
            await self._redis.srem(keys.friends(player), friend)
        return sorted(
            ((friend, name) for friend, name in named.items() if name),
            key=lambda one: (one[1], one[0]),
        )
