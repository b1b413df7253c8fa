"""In which order do the players of a race finish?

Won comes before not won. Winners: earlier time, then fewer moves. The others: more cards home
(`best`), then more opened (`opened`), then the earlier time and the fewer moves at which that
state was reached. Who never moved is last. Times count in steps of 10 ms; players equal in all
of it share a place, and the places they fill are left out after them (1-2-2-4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

TIME_STEP_MS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a race needs to know of one player's run to rank it."""

    seat: int
    has_moved: bool
    has_won: bool
    t_ms: int
    """Time of the win; 0 without one."""
    moves: int
    best: int
    opened: int
    t_best_ms: int
    """Time at which the present pair of `best` and `opened` was reached."""
    m_best: int
    """Number of moves made when the present pair of `best` and `opened` was reached."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A seat and the place it took, the first being 1."""

    place: int
    seat: int


def final_order(outcomes: Iterable[Outcome]) -> tuple[Placed, ...]:
    """Rank the runs of a race, first place first; those who share a place stand by seat."""
    placed: list[Placed] = []
    place, last_rank = 0, None
    for rank, seat in sorted((_rank(outcome), outcome.seat) for outcome in outcomes):
        if rank != last_rank:
            place, last_rank = len(placed) + 1, rank
        placed.append(Placed(place, seat))
    return tuple(placed)


def _rank(outcome: Outcome) -> tuple[int, ...]:
    """Give what decides the place: smaller is better, equal is shared."""
    if outcome.has_won:
        return (0, outcome.t_ms // TIME_STEP_MS, outcome.moves)
    if outcome.has_moved:
        step = outcome.t_best_ms // TIME_STEP_MS
        return (1, -outcome.best, -outcome.opened, step, outcome.m_best)
    return (2,)
