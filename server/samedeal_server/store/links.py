"""Link codes: each leads once, for some minutes, to the account that asked for it."""

from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["LinkStore"]

_NOTE = Script("link_note")
_USE = Script("link_use")
_BACK = Script("link_back")


@translates_faults
class LinkStore:
    """Give out and use link codes."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, player: str, code: str, most: int, in_ms: int) -> int:
        """Count a code of an account. Return 0, or how many ms it comes too early."""
        args: list[str | int] = [code, most, in_ms]
        return int(await run(self._redis, _NOTE, [keys.links(player)], args))

    async def put(self, code: str, player: str, lasts_ms: int) -> None:
        """Have a code lead to an account."""
        await self._redis.hset(keys.link(code), "player", player)
        await self._redis.pexpire(keys.link(code), lasts_ms)

    async def use(self, code: str, who: str) -> str:
        """Return the account a code leads to; '' if it leads nowhere or was used by another."""
        player: str = await run(self._redis, _USE, [keys.link(code)], [who])
        return player

    async def give_back(self, code: str, who: str) -> None:
        """Have a code lead there once more, for it served nothing."""
        await run(self._redis, _BACK, [keys.link(code)], [who])

    async def drop(self, player: str) -> None:
        """Forget all codes of an account."""
        codes: Any = await self._redis.zrange(keys.links(player), 0, -1)
        for code in codes:
            await self._redis.delete(keys.link(code))
        await self._redis.delete(keys.links(player))
