"""What operators did, kept for good; who is banned until when; which runs look impossible."""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults

__all__ = ["FLAGS_KEPT_MS", "AuditStore", "Deed", "Flag"]

FLAGS_KEPT_MS = 400 * 24 * 3600 * 1000
"""So long a run is noted."""
_ENDLESS = "+inf"


@dataclass(frozen=True, slots=True)
class Deed:
    """One entry of the audit log."""

    who: str
    """The operator."""
    did: str
    what: str
    """The stable id of what it was done to."""
    why: str
    detail: str = ""
    """What it takes to undo it by hand: the name before, the end of a ban."""
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """A run that a person can hardly have played."""

    run: str
    player: str
    game: str
    at_ms: int
    why: str


@translates_faults
class AuditStore:
    """Write and read what operators need to know."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, deed: Deed) -> None:
        """Write a deed down."""
        fields: dict[Any, Any] = {
            "who": deed.who,
            "did": deed.did,
            "what": deed.what,
            "why": deed.why,
            "detail": deed.detail,
        }
        await self._redis.xadd(keys.audit(), fields)

    async def deeds(self, limit: int) -> list[Deed]:
        """The latest deeds, the last one first."""
        found: Any = await self._redis.xrevrange(keys.audit(), count=limit)
        return [Deed(**fields, at_ms=int(at.split("-")[0])) for at, fields in found]

    async def ban_ends(self, player: str, until_ms: int) -> None:
        """Note when a ban ends, 0 for never."""
        until: Any = until_ms or _ENDLESS
        await self._redis.zadd(keys.bans(), {player: until})

    async def ban_ended(self, player: str) -> bool:
        """Note that there is no ban any more. Return whether that was news."""
        return bool(await self._redis.zrem(keys.bans(), player))

    async def banned(self) -> list[str]:
        """Accounts that are banned."""
        found: Any = await self._redis.zrange(keys.bans(), 0, -1)
        return list(found)

    async def bans_over(self, now_ms: int) -> list[str]:
        """Accounts whose time of being banned is over."""
        found: Any = await self._redis.zrangebyscore(keys.bans(), 0, now_ms, start=0, num=50)
        return list(found)

    async def flag(self, flag: Flag) -> None:
        """Note a run, and drop what was noted too long ago. Again changes nothing."""
        text = f"{flag.run} {flag.player} {flag.game} {flag.why}"
        # The player's own first: whatever is in the list of all can be found by its player.
        for key in (keys.flags_of(flag.player), keys.flagged()):
            await self._redis.zadd(key, {text: flag.at_ms}, nx=True)
            await self._redis.zremrangebyscore(key, 0, flag.at_ms - FLAGS_KEPT_MS)
            await self._redis.pexpire(key, FLAGS_KEPT_MS)

    async def forget_flags(self, player: str) -> None:
        """Forget the noted runs of a player."""
        own = keys.flags_of(player)
        texts: Any = await self._redis.zrange(own, 0, -1)
        if texts:
            await self._redis.zrem(keys.flagged(), *texts)
            await self._redis.delete(own)

    async def flags(self) -> list[Flag]:
        """All noted runs, the latest first."""
        return await self._flags(keys.flagged())

    async def flags_of(self, player: str) -> list[Flag]:
        """The noted runs of a player, the latest first."""
        return await self._flags(keys.flags_of(player))

    async def _flags(self, key: str) -> list[Flag]:
        found: Any = await self._redis.zrevrange(key, 0, -1, withscores=True)
        flags = []
        for text, at_ms in found:
            run, player, game, why = text.split(" ", 3)
            flags.append(Flag(run, player, game, int(at_ms), why))
        return flags
