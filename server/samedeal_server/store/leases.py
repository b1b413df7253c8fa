"""Which nodes live: each renews a lease, and a seat is present while the lease of its node lasts.

One command for each node and beat, however many races: nothing is written for a seat.
"""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["BEAT_S", "LEASE_S", "Leases"]

BEAT_S = 2.0
LEASE_S = 6.0
"""Three beats, and far below the ping timeout of a connection."""
_REMEMBERED_MS = 3_600_000
"""A dead node is known as dead for so long; a node that is not known at all may be a new one."""

_BEAT = Script("beat")


@translates_faults
class Leases:
    """This node's lease, and a picture of all of them as of the last beat."""

    def __init__(self, redis: Redis, node: str) -> None:
        self._redis = redis
        self._node = node
        self._live: set[str] = {node}
        self._dead: set[str] = set()

    async def beat(self) -> set[str]:
        """Renew the own lease and look at the others. Return the nodes that came or went."""
        args: list[str | int] = [self._node, int(LEASE_S * 1000), _REMEMBERED_MS]
        reply: Any = await run(self._redis, _BEAT, [keys.leases()], args)
        now = int(reply[0])
        ends = dict(zip(reply[1::2], map(int, reply[2::2]), strict=True))
        live = {node for node, end in ends.items() if end > now}
        changed = live ^ self._live
        self._live, self._dead = live, self._dead - live | (ends.keys() - live)
        return changed

    async def live(self, nodes: Iterable[str]) -> set[str]:
        """Return those of `nodes` that live. One never heard of is looked up at once."""
        named = set(nodes)
        if not named <= self._live | self._dead:
            await self.beat()
            self._dead |= named - self._live
        return named & self._live
