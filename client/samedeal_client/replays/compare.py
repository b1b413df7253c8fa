"""Where two runs of one deal part: their boards, and the number of their cards home."""

from collections.abc import Iterator
from typing import NamedTuple

from samedeal_client.replays.track import Track

__all__ = ["Parting", "next_difference", "parting"]


class Parting(NamedTuple):
    """From `t_ms` on, `ahead` had more cards home than `behind`, to the end."""

    t_ms: int
    ahead: Track
    behind: Track
    home_ahead: int
    home_behind: int


def next_difference(one: Track, other: Track, after: int = 0) -> int | None:
    """Number of the first action after `after` that takes two runs from one position to two.

    A run that has ended stays as it is. None if there is no such action.
    """
    for seq in range(after + 1, max(one.last, other.last) + 1):
        were_equal = _hash(one, seq - 1) == _hash(other, seq - 1)
        if were_equal and _hash(one, seq) != _hash(other, seq):
            return seq
    return None


def parting(one: Track, other: Track) -> Parting | None:
    """Find when the home counts of two runs parted for good; None if they end equal."""
    parted: Parting | None = None
    for t_ms, first, second in _homes(one, other):
        if first == second:
            parted = None
        elif first > second:
            if parted is None or parted.ahead is other:
                parted = Parting(t_ms, one, other, first, second)
        elif parted is None or parted.ahead is one:
            parted = Parting(t_ms, other, one, second, first)
    return parted


def _homes(one: Track, other: Track) -> Iterator[tuple[int, int, int]]:
    """Cards home of both at each time at which one of them acted, after all of that time."""
    for t_ms in sorted({frame.t_ms for track in (one, other) for frame in track.frames}):
        yield (
            t_ms,
            one.frames[one.seq_at(t_ms)].home,
            other.frames[other.seq_at(t_ms)].home,
        )


def _hash(track: Track, seq: int) -> int:
    return track.frames[min(seq, track.last)].hash
