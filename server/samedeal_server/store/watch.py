"""What the store knows about watching: who has watched a deal, and on which nodes how many do."""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import Redis

from samedeal.protocol.fields import Phase
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.races import LIFETIME_MS, OPEN_AT_MOST_MS
from samedeal_server.store.scripts import Script, run

__all__ = ["WatchStore"]

_WATCH = Script("watch")
_EYES = Script("eyes")
_WATCHED_DEAL = Script("watched_deal")


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

    async def note_deal(self, race_id: str, commitment: str, player: str) -> None:
        """Note that a player watches an open race on a deal that others may be on."""
        where = [keys.watched_deal(commitment, player)]
        await run(self._redis, _WATCHED_DEAL, where, [race_id, OPEN_AT_MOST_MS])

    async def plays_deal(self, race_id: str, commitment: str, player: str) -> bool:
        """Whether a player sits, or is sitting down, in another open race on a deal."""
        others = [other for other in await self._sat_in(player) if other != race_id]
        pipe = self._redis.pipeline(transaction=False)
        for other in others:
            pipe.hmget(keys.race(other), ["commitment", "phase", f"p:{player}"])
        for found, phase, seat in await pipe.execute():
            # In a lobby it may be on its way to a seat: that is noted before the seat is.
            is_in = seat is not None or phase == Phase.LOBBY
            if found == commitment and phase != Phase.CLOSED and is_in:
                return True
        return False

    async def _sat_in(self, player: str) -> list[str]:
        """The races that an account took a seat in and that may be open."""
        seconds, _ = await self._redis.time()
        since = seconds * 1000 - OPEN_AT_MOST_MS
        found: Any = await self._redis.zrangebyscore(keys.seated(player), since, "+inf")
        return [str(race_id) for race_id in found]
