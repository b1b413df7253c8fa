"""What the store knows about watching: who has watched a deal, and on which nodes how many do."""

from collections.abc import Iterable

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.races import LIFETIME_MS
from samedeal_server.store.scripts import Script, run

__all__ = ["WatchStore"]

_WATCH = Script("watch")
_EYES = Script("eyes")


@translates_faults
class WatchStore:
    """Watchers of races."""

    def __init__(self, redis: Redis, node: str) -> None:
        self._redis = redis
        self._node = node

    async def watch(self, race_id: str, player: str) -> str:
        """Note that a player watches. Return 'done', 'missing' or 'seated' in an open deal."""
        args: list[str | int] = [self._node, player, LIFETIME_MS]
        word: str = await run(
            self._redis, _WATCH, [*keys.race_keys(race_id), keys.watched(race_id)], args
        )
        return word

    async def look(self, race_id: str, count: int, dead: Iterable[str]) -> None:
        """Note how many watch on this node, which then hears of every change of the race."""
        args: list[str | int] = [self._node, count, *dead]
        await run(self._redis, _EYES, keys.race_keys(race_id), args)
