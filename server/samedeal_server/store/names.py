"""Names: each is held by one account, in every spelling that reads alike, while the account lives.

A name is claimed for a moment, then the account is written, then the claim is settled: whatever
stops in between, a name is never held twice, and one that leads to nobody is free again.
"""

from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["NameStore"]

_PENDING_MS = 60_000
"""How long a claim lasts that is not settled."""
_HOLD = Script("hold")
_RELEASE = Script("release")


@translates_faults
class NameStore:
    """Claim, settle and release names, by their skeletons."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def claim(self, skeleton: str, player: str) -> bool:
        """Hold a name for a moment, unless another account has it."""
        owner, left_ms = await self._claim(skeleton, player, _PENDING_MS)
        if owner == player:
            return True
        if left_ms <= _PENDING_MS or await self._holds(owner, skeleton):
            return False
        # Its account has another name by now, or is gone: whoever asked last was stopped half way.
        owner, _ = await self._claim(skeleton, player, _PENDING_MS, instead_of=owner)
        return owner == player

    async def settle(self, skeleton: str, player: str, lifetime_ms: int) -> bool:
        """Hold a name for as long as its account lives. Return whether it still can be had."""
        owner, _ = await self._claim(skeleton, player, lifetime_ms)
        return owner == player

    async def release(self, skeleton: str, player: str) -> None:
        """Give a name back, if this account has it."""
        await run(self._redis, _RELEASE, [keys.name(skeleton)], [player])

    async def is_free(self, skeleton: str) -> bool:
        """Whether nobody has a name, as it seems now."""
        return not await self._redis.exists(keys.name(skeleton))

    async def owner(self, skeleton: str) -> str | None:
        """The account that holds a name."""
        player: Any = await self._redis.get(keys.name(skeleton))
        return None if player is None else str(player)

    async def _claim(
        self, skeleton: str, player: str, lease_ms: int, *, instead_of: str = ""
    ) -> tuple[str, int]:
        args: list[str | int] = [player, lease_ms, instead_of]
        reply: Any = await run(self._redis, _HOLD, [keys.name(skeleton)], args)
        return str(reply[0]), int(reply[1])

    async def _holds(self, player: str, skeleton: str) -> bool:
        kept: Any = await self._redis.hget(keys.account(player), "skeleton")
        return bool(kept == skeleton)
