"""A move and its text: `W>T1`, `T2:3>T1`, `draw`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from samedeal.engine.errors import Unreadable

__all__ = ["DRAW", "Move"]

_TEXT: Final = re.compile(
    r"(S|W|[FTR](?:[1-9]|1[0-9]))(?::([2-9]|[1-9][0-9]))?>(S|W|[FTR](?:[1-9]|1[0-9]))"
)


@dataclass(frozen=True, slots=True)
class Move:
    """The top `count` cards of pile `source` go to pile `target`; `DRAW` is the one move without.

    >>> str(Move.parse("T2:3>T1"))
    'T2:3>T1'
    """

    source: str
    target: str
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1 and (self.source, self.target, self.count) != ("S", "W", 0):
            raise ValueError(f"a move carries one card or more, not {self.count}")

    def __str__(self) -> str:
        if self.count == 0:
            return "draw"
        cards = f":{self.count}" if self.count > 1 else ""
        return f"{self.source}{cards}>{self.target}"

    @staticmethod
    def parse(text: str) -> Move:
        """Read the one text form of a move. Raise Unreadable for anything else."""
        return _parse(text)


DRAW: Final = Move("S", "W", 0)
"""Turn the stock, or turn the waste over."""


@lru_cache(maxsize=8192)
def _parse(text: str) -> Move:
    if text == "draw":
        return DRAW
    match = _TEXT.fullmatch(text)
    if match is None:
        raise Unreadable(
            text[:20], f"{text[:20]!r} is not a move: write draw, W>T1 or T2:3>T1 (three cards)"
        )
    source, count, target = match.groups()
    return Move(source, target, int(count or 1))
