"""Which keys may stay in the store for good; everything else goes away by itself."""

import re

from redis.asyncio import Redis

from samedeal_server.store import keys

__all__ = ["everything_expires"]

_KEPT = re.compile(
    "|".join(
        [
            keys.due(),
            keys.erasures(),
            keys.bans(),
            keys.audit(),
            re.escape(keys.leases()[1]),
            r"\{b:.*\}:(names|hidden|days|runs:.*|[a-z]+:all(:bots)?(:of)?)",
            r"\{rated:.*",
            r"\{days\}:.*",
        ]
    )
)


async def everything_expires(redis: Redis) -> None:
    """Raise AssertionError for a key that would stay for ever, though nobody wants it so."""
    async for key in redis.scan_iter():
        assert _KEPT.fullmatch(key) or await redis.pttl(key) > 0, f"{key} never expires"
