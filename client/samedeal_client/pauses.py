"""How long to wait before trying again: growing pauses with full jitter, never before a hint."""

import random
from typing import Final

__all__ = ["LAST_PAUSE_S", "LONGEST_HINT_S", "Pauses"]

FIRST_PAUSE_S: Final = 0.2
LAST_PAUSE_S: Final = 8.0
LONGEST_HINT_S: Final = 60.0
"""A server that asks for more is asked earlier all the same."""


class Pauses:
    """The pauses between the tries of one thing."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._cap_s = FIRST_PAUSE_S

    def after(self, hint_ms: int | None) -> float:
        """Return the seconds until the next try, after a failure with or without a hint."""
        hint_s = min((hint_ms or 0) / 1000, LONGEST_HINT_S)
        # Many clients may have the same hint: spread them over half as much again.
        pause_s = hint_s + self._rng.uniform(0, max(self._cap_s, hint_s / 2))
        self._cap_s = min(LAST_PAUSE_S, self._cap_s * 2)
        return pause_s

    def reset(self) -> None:
        """It has worked: the next failure is the first one again."""
        self._cap_s = FIRST_PAUSE_S
