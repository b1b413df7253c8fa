"""Where the piles of a game are, and every move that can ever be made between them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from samedeal.engine.moves import Move
from samedeal.engine.rules import Kind, Rules

__all__ = ["STOCK", "WASTE", "Layout", "layout"]

STOCK: Final = 0
WASTE: Final = 1


class Layout:
    """Where the piles of a game are, computed once per game."""

    def __init__(self, rules: Rules) -> None:
        kinds = [kind for _, kind in rules.piles]

        def where(*wanted: Kind) -> tuple[int, ...]:
            return tuple(at for at, kind in enumerate(kinds) if kind in wanted)

        self.index: Final = {name: at for at, (name, _) in enumerate(rules.piles)}
        self.foundations: Final = where(Kind.FOUNDATION)
        self.columns: Final = range(min(where(Kind.COLUMN)), max(where(Kind.COLUMN)) + 1)
        self.reserves: Final = where(Kind.RESERVE)
        self.opening: Final = where(Kind.COLUMN, Kind.RESERVE)
        self.feeders: Final = (*where(Kind.COLUMN), WASTE)
        self.is_home: Final = [int(kind is Kind.FOUNDATION) for kind in kinds]
        self.is_opening: Final = [kind in (Kind.COLUMN, Kind.RESERVE) for kind in kinds]
        self.may_leave: Final = [
            kind in (Kind.WASTE, Kind.COLUMN, Kind.RESERVE)
            or (kind is Kind.FOUNDATION and rules.takes_back)
            for kind in kinds
        ]
        self.sources: Final = [at for at, leaves in enumerate(self.may_leave) if leaves]
        self.targets: Final = (*self.foundations, *self.columns)
        self.first_column_target: Final = len(self.foundations)
        self.moves_runs: Final = rules.moves_runs
        self.ways: Final = dict(zip(self.foundations, rules.foundations, strict=True))
        self.most_home: Final = rules.total - rules.dealt_to_foundations
        sizes = (*rules.columns, *(rules.reserve_size,) * rules.reserves)
        self.dealt: Final = dict(zip(self.opening, sizes, strict=True))
        names = [name for name, _ in rules.piles]
        longest = 13 if rules.moves_runs else 1
        self.moves: Final = {
            (source, count, target): Move(names[source], names[target], count)
            for source in self.sources
            for count in range(1, longest + 1 if source in self.columns else 2)
            for target in self.targets
        }


@lru_cache(maxsize=64)
def layout(rules: Rules) -> Layout:
    """Return the layout of a game."""
    return Layout(rules)
