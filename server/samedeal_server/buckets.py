"""How fast may somebody ask? Token buckets: pure, told the time, no clock of their own."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Bucket", "Buckets", "Limits", "Rate"]

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Rate:
    """So much at once, and so much a second in the long run."""

    burst: float
    per_s: float


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast clients may ask; None for no limit."""

    actions: Rate | None = Rate(400, 200)
    """Moves and undos of one connection."""
    requests: Rate | None = Rate(100, 20)
    """Other requests of one account, over all its connections to this node; pings are free."""
    hellos: Rate | None = Rate(500, 10)
    """New accounts, and tokens nobody holds, from one address."""


class Bucket:
    """Tokens of one asker. It starts full."""

    __slots__ = ("_at", "_rate", "_tokens")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._tokens = rate.burst
        self._at = now

    def take(self, now: float) -> float:
        """Take one token. Return 0, or the seconds until there is one; then nothing is taken."""
        rate = self._rate
        tokens = self._tokens + (now - self._at) * rate.per_s
        self._tokens = tokens = min(tokens, rate.burst)
        self._at = now
        if tokens >= 1:
            self._tokens = tokens - 1
            return 0.0
        return (1 - tokens) / rate.per_s

    def is_full(self, now: float) -> bool:
        """Whether forgetting this bucket would change nothing."""
        return self._tokens + (now - self._at) * self._rate.per_s >= self._rate.burst


class Buckets(Generic[Key]):
    """A bucket for each of many askers; those that are full again are forgotten."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._buckets: OrderedDict[Key, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: Key, now: float) -> float:
        """Take one token of `key`; see `Bucket.take`."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, now)
        self._buckets.move_to_end(key)
        # Two a call, from those that asked longest ago: it never grows faster than it is swept.
        for _ in range(2):
            oldest = next(iter(self._buckets))
            if oldest == key or not self._buckets[oldest].is_full(now):
                break
            del self._buckets[oldest]
        return bucket.take(now)
