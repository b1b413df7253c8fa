"""How many days in a row has somebody played? A function of the days alone, so it can be redone."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Final

__all__ = ["MIN_MOVES", "DaysInARow", "days_in_a_row"]

MIN_MOVES: Final = 10
"""Moves that make a day one that was played."""
FREEZE_EVERY: Final = 7
"""Days in a row that earn a freeze."""
MAX_FREEZES: Final = 2


@dataclass(frozen=True, slots=True)
class DaysInARow:
    """A streak: the days of the present one, the best ever, and the missed days it can stand."""

    days: int = 0
    best: int = 0
    freezes: int = 0


def days_in_a_row(played: Set[int], void: Set[int], open_from: int) -> DaysInARow:
    """Count the streak of who played these days.

    A missed day takes a freeze, or ends the streak where there is none. Void days count neither
    way; neither do days from `open_from` on that are not played: they can still be.
    """
    if not played:
        return DaysInARow()
    days = best = freezes = 0
    for day in range(min(played), max(*played, open_from) + 1):
        if day in void or (day >= open_from and day not in played):
            continue
        if day in played:
            days += 1
            best = max(best, days)
            if days % FREEZE_EVERY == 0:
                freezes = min(MAX_FREEZES, freezes + 1)
        elif freezes:
            freezes -= 1
        else:
            days = 0
    return DaysInARow(days, best, freezes)
