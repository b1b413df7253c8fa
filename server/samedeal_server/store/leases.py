"""Which nodes live: each renews a lease, and a seat is present while the lease of its node lasts.

One command for each node and beat, however many races: nothing is written for a seat. When no node
had a lease nobody could play: such an outage is written down once, and lengthens every open race.
"""

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["BEAT_S", "LEASE_S", "Leases", "Outage", "Outages"]

log = logging.getLogger(__name__)

BEAT_S = 2.0
LEASE_S = 6.0
"""Three beats, and far below the ping timeout of a connection."""
_REMEMBERED_MS = 3_600_000
"""A dead node is known as dead for so long; a node that is not known at all may be a new one."""
_OUTAGES = 32
"""Outages that are remembered: more than befall any one race."""

_BEAT = Script("beat")


class Outage(NamedTuple):
    """A time in which no node had a lease, by the store's clock; numbered from 1."""

    number: int
    from_ms: int
    to_ms: int


class Outages(NamedTuple):
    """The latest outages, and when they were read: one that ended later is not among them."""

    read_at_ms: int = 0
    all: tuple[Outage, ...] = ()


@translates_faults
class Leases:
    """This node's lease, and a picture of all of them as of the last beat."""

    def __init__(self, redis: Redis, node: str) -> None:
        self._redis = redis
        self._node = node
        self._live: set[str] = {node}
        self._dead: set[str] = set()
        self.outages = Outages()
        """As of the last beat."""

    async def beat(self) -> set[str]:
        """Renew the own lease and look at the others. Return the nodes that came or went."""
        args: list[str | int] = [self._node, int(LEASE_S * 1000), _REMEMBERED_MS, _OUTAGES]
        now, found_ms, outages, leases = await run(self._redis, _BEAT, keys.leases(), args)
        self._note(int(now), int(found_ms), outages)
        ends = dict(zip(leases[::2], map(int, leases[1::2]), strict=True))
        live = {node for node, end in ends.items() if end > int(now)}
        changed = live ^ self._live
        self._live, self._dead = live, self._dead - live | (ends.keys() - live)
        return changed

    def _note(self, now_ms: int, found_ms: int, outages: Any) -> None:
        """Take over what a beat read; who wrote an outage down says so, nobody else does."""
        if now_ms >= self.outages.read_at_ms or found_ms:
            numbers = map(int, outages)
            self.outages = Outages(now_ms, tuple(map(Outage, numbers, numbers, numbers)))
        if found_ms:
            log.warning(
                "nobody could play for %.1f s, the store or every node was away: "
                "every open race closes that much later",
                found_ms / 1000,
            )

    @property
    def dead(self) -> frozenset[str]:
        """Nodes that are known not to live any more, as of the last beat."""
        return frozenset(self._dead)

    async def live(self, nodes: Iterable[str]) -> set[str]:
        """Return those of `nodes` that live. One never heard of is looked up at once."""
        named = set(nodes)
        if not named <= self._live | self._dead:
            await self.beat()
            self._dead |= named - self._live
        return named & self._live
