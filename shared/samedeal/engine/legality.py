"""Why a move is refused, as a sentence that says what is missing; from visible cards only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Protocol

from samedeal.engine.cards import HIDDEN, card_text, is_red, rank, suit
from samedeal.engine.counts import counted
from samedeal.engine.moves import Move
from samedeal.engine.rules import Kind, Rules, start_rank

__all__ = ["Visible", "refusal"]

_SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")
_RANK_NAMES: Final = ("ace", *map(str, range(2, 11)), "Jack", "Queen", "King")


class Visible(Protocol):
    """What a refusal may look at."""

    @property
    def rules(self) -> Rules: ...
    @property
    def base(self) -> int | None: ...
    @property
    def passes(self) -> int | None: ...
    def pile(self, name: str) -> Sequence[int]: ...
    def face_down(self, name: str) -> int: ...
    def is_legal(self, move: Move) -> bool: ...


def refusal(table: Visible, move: Move) -> str:
    """Say what is missing for a move that is not legal."""
    if move.count == 0:
        if table.pile("W"):
            return "the stock is empty and no pass is left: the waste cannot be turned over"
        return "stock and waste are both empty"
    kinds = dict(table.rules.piles)
    return (
        _wrong_piles(table, move, kinds)
        or _wrong_source(table, move, kinds)
        or _wrong_target(table, move, kinds)
    )


def _wrong_piles(table: Visible, move: Move, kinds: dict[str, Kind]) -> str | None:
    for name in (move.source, move.target):
        if name not in kinds:
            return f"{table.rules.title} has no pile {name}"
    if move.source == move.target:
        return "a card cannot move to the pile it lies on"
    if kinds[move.target] in (Kind.STOCK, Kind.WASTE, Kind.RESERVE):
        return f"nothing moves onto {_called(move.target, kinds)}"
    if kinds[move.source] is Kind.STOCK:
        return "cards leave the stock by draw only"
    return None


def _wrong_source(table: Visible, move: Move, kinds: dict[str, Kind]) -> str | None:
    rules, pile = table.rules, table.pile(move.source)
    name = _called(move.source, kinds)
    if not pile:
        return f"{name} is empty"
    if kinds[move.source] is Kind.FOUNDATION and not rules.takes_back:
        return "foundation cards never leave"
    if move.count == 1:
        return f"the top card of {name} is not known yet" if pile[-1] == HIDDEN else None
    if not rules.moves_runs:
        return "cards move one at a time in this game"
    if kinds[move.source] is not Kind.COLUMN:
        return f"only one card at a time leaves {name}"
    if move.count > len(pile):
        return f"{name} has only {_cards(len(pile))}"
    if move.count > len(pile) - table.face_down(move.source):
        return f"{name} has only {_cards(len(pile) - table.face_down(move.source))} face up"
    if kinds[move.target] is Kind.FOUNDATION:
        return "a foundation takes one card at a time"
    builds = rules.tables(table.base or 0).builds
    run = pile[-move.count :]
    for under, card in pairwise(run):
        if not builds[under * 54 + card]:
            return f"the {move.count} cards are not one run: {_text(card)} lies on {_text(under)}"
    return None


def _wrong_target(table: Visible, move: Move, kinds: dict[str, Kind]) -> str:
    card = table.pile(move.source)[-move.count]
    if kinds[move.target] is Kind.FOUNDATION:
        missing = _for_foundation(table, move.target, card)
    else:
        missing = _for_column(table, move.target, card)
    return f"{missing}; {_who_takes_it(table, move, kinds)}"


def _for_foundation(table: Visible, name: str, card: int) -> str:
    rules, pile = table.rules, table.pile(name)
    way = rules.foundations[int(name[1:]) - 1]
    start = start_rank(rules, table.base or 0, way)
    if not pile:
        return f"an empty foundation starts with {_rank(start)}"
    top = pile[-1]
    following = (rank(top) + way) % 13
    if following == start:
        return f"foundation {name[1:]} is complete"
    wanted = _rank(following)
    if rules.in_suit:
        wanted += f" of {_SUIT_NAMES[suit(top)]}"
    return (
        f"{card_text(card)} does not follow {card_text(top)}; foundation {name[1:]} takes {wanted}"
    )


def _for_column(table: Visible, name: str, card: int) -> str:
    rules, pile = table.rules, table.pile(name)
    lowest = (table.base or 0) if rules.wraps else 0
    if not pile:
        high = (lowest + 12) % 13
        return f"an empty column takes only {_rank(high)}"
    if not rules.builds:
        return "nothing is built in the columns of this game; only an empty one takes a card"
    if (rank(card) - lowest) % 13 == 12:
        return f"{card_text(card)} goes on no other card, only into an empty column"
    colour = "black" if is_red(card) else "red"
    return f"{card_text(card)} goes on a {colour} {_RANK_NAMES[(rank(card) + 1) % 13]}"


def _who_takes_it(table: Visible, move: Move, kinds: dict[str, Kind]) -> str:
    takers = [
        name
        for name, kind in table.rules.piles
        if kind in (Kind.FOUNDATION, Kind.COLUMN)
        and table.is_legal(Move(move.source, name, move.count))
    ]
    # A space takes almost anything: name it only where no card is waiting for this one.
    takers.sort(key=lambda name: not table.pile(name))
    return f"{_called(takers[0], kinds)} takes it" if takers else "no pile takes it"


def _called(name: str, kinds: dict[str, Kind]) -> str:
    kind, number = kinds[name], name[1:]
    return {
        Kind.STOCK: "the stock",
        Kind.WASTE: "the waste",
        Kind.FOUNDATION: f"foundation {number}",
        Kind.COLUMN: f"column {number}",
        Kind.RESERVE: f"reserve {number}",
    }[kind]


def _rank(value: int) -> str:
    name = _RANK_NAMES[value]
    return f"an {name}" if name[0] in "a8" else f"a {name}"


def _cards(count: int) -> str:
    return counted(count, "card")


def _text(card: int) -> str:
    return "an unknown card" if card == HIDDEN else card_text(card)
