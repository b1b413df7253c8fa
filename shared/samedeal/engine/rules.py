"""What a game of this family is made of: rules as values, and the tables computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final

from samedeal.engine.cards import EMPTY, HIDDEN, is_red, rank, suit

__all__ = ["Base", "Kind", "Rules", "Space", "Tables"]

UP: Final = 1
DOWN: Final = -1


class Base(Enum):
    """Which rank the foundations start from."""

    FIXED = "an ace where it goes up, a King where it goes down"
    FIRST_CARD = "the rank of the first card, which is dealt to the first foundation"
    WHOLE_RANK = "the rank of the first card; all cards of it are dealt to the foundations"


class Space(Enum):
    """What an empty column takes."""

    ANY = "any card"
    KING = "only a King"
    HIGH = "only the rank just below the base"


class Kind(Enum):
    """What a pile is."""

    STOCK = "S"
    WASTE = "W"
    FOUNDATION = "F"
    COLUMN = "T"
    RESERVE = "R"


@dataclass(frozen=True)
class Rules:
    """A game. Ranks are 0 to 12, pile sizes in cards."""

    id: str
    title: str
    summary: str
    columns: tuple[int, ...]
    """Cards dealt to each column."""
    packs: int = 1
    foundations: tuple[int, ...] = (UP, UP, UP, UP)
    """Direction of each: 1 up, -1 down."""
    in_suit: bool = True
    """Whether a foundation holds one suit."""
    base: Base = Base.FIXED
    dealt_home: tuple[int, ...] = ()
    """Cards taken out before the shuffle, one onto each foundation in turn."""
    takes_back: bool = False
    """Whether the top of a foundation may go to any pile that accepts it."""
    open_columns: bool = False
    """Whether all cards of a column lie face up; else only the top one."""
    builds: bool = True
    """Whether columns are built down in alternate colours; else they take no second card."""
    wraps: bool = False
    """Whether the rank order of columns and foundations starts at the base and runs round."""
    moves_runs: bool = True
    """Whether an ordered run moves as one; else one card at a time."""
    space: Space = Space.KING
    reserves: int = 0
    reserve_size: int = 0
    draw: int = 1
    passes: int | None = None
    """Times the stock may be gone through; None for no limit."""
    plays_home: bool = False
    """Whether cards that nothing can be built on any more go up by themselves."""
    version: int = 1
    """Grows when a ruling changes; a replay names the one it was played under."""

    @property
    def total(self) -> int:
        """Cards in the game."""
        return 52 * self.packs

    @property
    def has_base(self) -> bool:
        """Whether a position has to name its base rank."""
        return self.base is not Base.FIXED

    @property
    def dealt_to_foundations(self) -> int:
        """Cards on foundations that do not count as brought home."""
        if self.base is Base.FIRST_CARD:
            return 1
        return len(self.foundations) if self.base is Base.WHOLE_RANK else len(self.dealt_home)

    @cached_property
    def piles(self) -> tuple[tuple[str, Kind], ...]:
        """Name and kind of every pile, in the fixed order S, W, F, T, R."""
        counts = (
            (Kind.FOUNDATION, len(self.foundations)),
            (Kind.COLUMN, len(self.columns)),
            (Kind.RESERVE, self.reserves),
        )
        numbered = [
            (f"{kind.value}{number}", kind)
            for kind, count in counts
            for number in range(1, count + 1)
        ]
        return (("S", Kind.STOCK), ("W", Kind.WASTE), *numbered)

    def tables(self, base: int) -> Tables:
        """What accepts what, with foundations that start from rank `base` (0 where it is fixed)."""
        return _tables(self, base)

    def __hash__(self) -> int:
        return hash((self.id, self.version))


@dataclass(frozen=True, slots=True)
class Tables:
    """`accepts[pile][top * 54 + card]`: whether that pile takes `card` on `top`, or on EMPTY."""

    accepts: tuple[bytes, ...]
    builds: bytes
    """The same for two cards of a column: whether they are in order."""
    foundations: Mapping[int, bytes]
    """The same for a foundation of each direction."""


@lru_cache(maxsize=256)
def _tables(rules: Rules, base: int) -> Tables:
    columns = bytes(
        _column_takes(rules, base, top, card) for top in range(54) for card in range(54)
    )
    foundations = {
        way: bytes(
            _foundation_takes(rules, base, way, top, card)
            for top in range(54)
            for card in range(54)
        )
        for way in set(rules.foundations)
    }
    nothing = bytes(54 * 54)
    accepts = tuple(
        foundations[rules.foundations[int(name[1:]) - 1]]
        if kind is Kind.FOUNDATION
        else columns
        if kind is Kind.COLUMN
        else nothing
        for name, kind in rules.piles
    )
    return Tables(accepts, columns, foundations)


def start_rank(rules: Rules, base: int, way: int) -> int:
    """The rank that an empty foundation takes."""
    if rules.has_base:
        return base
    return 0 if way == UP else 12


def _foundation_takes(rules: Rules, base: int, way: int, top: int, card: int) -> bool:
    if card >= HIDDEN or top == HIDDEN:
        return False
    start = start_rank(rules, base, way)
    if top == EMPTY:
        return rank(card) == start
    if rules.in_suit and suit(card) != suit(top):
        return False
    # Coming round to the rank it started from, a foundation is full.
    return rank(card) == (rank(top) + way) % 13 and rank(card) != start


def _column_takes(rules: Rules, base: int, top: int, card: int) -> bool:
    if card >= HIDDEN or top == HIDDEN:
        return False
    lowest = base if rules.wraps else 0
    height = (rank(card) - lowest) % 13
    if top == EMPTY:
        return rules.space is Space.ANY or height == 12
    if not rules.builds or is_red(card) == is_red(top):
        return False
    return height + 1 == (rank(top) - lowest) % 13
