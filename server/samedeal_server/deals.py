"""The deal of a race, and what it has played by itself before anybody's first action."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from samedeal.engine.games import game
from samedeal.engine.table import Table

__all__ = ["Deal", "Start", "Starts", "deal", "starts"]

Deal = Callable[[str, bytes], Table]
"""Deals the cards of (game, seed), the same each time."""


class Start(NamedTuple):
    """How every run at a deal stands before its first action."""

    home: int
    best: int
    opened: int


Starts = Callable[[str, bytes], Start]
"""Says how runs at the deal of (game, seed) start."""


def deal(game_id: str, seed: bytes) -> Table:
    """Deal as the rules say: what every race is played on."""
    return Table.deal(game(game_id), seed)


def starts(dealt: Deal = deal) -> Starts:
    """Return what says how runs at a deal start; only automatic moves make more than nothing."""

    @lru_cache(maxsize=1024)
    def start(game_id: str, seed: bytes) -> Start:
        if not game(game_id).plays_home:
            return Start(0, 0, 0)
        table = dealt(game_id, seed)
        return Start(table.home, table.best, table.opened)

    return start
