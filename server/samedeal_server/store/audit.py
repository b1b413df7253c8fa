"""What operators did, kept for good; who is banned until when; which runs look impossible."""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults

__all__ = ["AuditStore", "Deed", "Flag"]

_FLAGS_KEPT_MS = 400 * 24 * 3600 * 1000
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
        """Note a run. Again changes nothing."""
        text = f"{flag.player} {flag.game} {flag.at_ms} {flag.why}"
        await self._redis.hsetnx(keys.flags(), flag.run, text)
        await self._redis.pexpire(keys.flags(), _FLAGS_KEPT_MS)

    async def forget_flags(self, player: str) -> None:
        """Forget the noted runs of a player."""
        for flag in await self.flags():
            if flag.player == player:
                await self._redis.hdel(keys.flags(), flag.run)

    async def flags(self) -> list[Flag]:
        """All noted runs, the latest first."""
        found: Any = await self._redis.hgetall(keys.flags())
        all_ = []
        for run, text in found.items():
            player, game, at_ms, why = text.split(" ", 3)
            all_.append(Flag(run, player, game, int(at_ms), why))
        return sorted(all_, key=lambda flag: (-flag.at_ms, flag.run))
