"""The text form of positions, and the checks that every position has to pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from samedeal.engine.cards import HIDDEN, RANKS, card_text, parse_card
from samedeal.engine.errors import Unreadable
from samedeal.engine.rules import Kind, Rules

__all__ = ["ReadPosition", "check_piles", "parse_position", "write_position"]

MAX_POSITION: Final = 2000
_COUNT: Final = re.compile(r"([1-9][0-9]{0,2})\?")
_PASSES: Final = re.compile(r"0|[1-9][0-9]?")


@dataclass(slots=True)
class ReadPosition:
    """A position as it was read: piles in the game's order, hidden cards as HIDDEN in a view."""

    piles: list[list[int]]
    down: list[int]
    base: int | None
    passes: int
    is_view: bool


def write_position(
    rules: Rules,
    piles: Sequence[Sequence[int]],
    down: Sequence[int],
    base: int | None,
    passes: int,
    *,
    is_view: bool,
) -> str:
    """Write a position: base, passes, foundations, columns, reserves, stock, waste."""
    parts = [] if base is None else [f"base={RANKS[base]}"]
    if rules.passes is not None and passes:
        parts.append(f"passes={passes}")
    order = [*range(2, len(piles)), 0, 1]
    for at in order:
        if piles[at]:
            name, kind = rules.piles[at]
            cards = _write_pile(piles[at], kind, down[at], is_view=is_view)
            parts.append(f"{name}={cards}")
    return "; ".join(parts)


def _write_pile(pile: Sequence[int], kind: Kind, down: int, *, is_view: bool) -> str:
    if is_view and kind is Kind.STOCK:
        return f"{len(pile)}?"
    words = [f"{card_text(card)}-" for card in pile[:down]] if not is_view else []
    if is_view and down:
        words = [f"{down}?"]
    words += ["?" if card == HIDDEN else card_text(card) for card in pile[down:]]
    return ",".join(words)


def parse_position(rules: Rules, position: str) -> ReadPosition:
    """Read a position. Raise Unreadable, naming the part, if it is not one of this game."""
    if len(position) > MAX_POSITION:
        raise Unreadable(position[:20], f"a position has at most {MAX_POSITION} characters")
    names = {name: at for at, (name, _) in enumerate(rules.piles)}
    piles: list[list[int]] = [[] for _ in rules.piles]
    down = [0] * len(piles)
    base: int | None = None
    passes: int | None = None
    seen: set[str] = set()
    is_view = False
    parts = [part.strip(" ") for part in position.split(";")] if position.strip(" ") else []
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise Unreadable(part, f"{part[:30]!r} is not a pile and its cards, as in T1=9D-,8S")
        if name in seen:
            raise Unreadable(name, f"{name[:20]!r} stands twice")
        seen.add(name)
        if name == "base":
            base = _parse_base(rules, value)
        elif name == "passes":
            passes = _parse_passes(rules, value)
        elif name in names:
            at = names[name]
            hidden = _read_pile(rules, at, value, piles, down)
            is_view = is_view or hidden
        else:
            raise Unreadable(name, f"{rules.title} has no pile {name[:20]!r}")
    if is_view and (piles[0] and piles[0][0] != HIDDEN):
        raise Unreadable("S", "S shows its cards while other hidden cards are only counted")
    if is_view:
        for at, (name, _) in enumerate(rules.piles):
            if any(card != HIDDEN for card in piles[at][: down[at]]):
                raise Unreadable(name, f"{name} names a hidden card while others are counted")
    return _checked(rules, piles, down, base, passes or 0, is_view=is_view)


def check_piles(
    rules: Rules,
    piles: Sequence[tuple[int, Sequence[int]]],
    base: int | None,
    passes: int | None,
) -> ReadPosition:
    """Check a view that came as numbers. Raise Unreadable if it cannot be of this game."""
    if len(piles) != len(rules.piles):
        raise Unreadable("piles", f"{rules.title} has {len(rules.piles)} piles, not {len(piles)}")
    if base is not None and not 0 <= base <= 12:
        raise Unreadable("base", "a base is a rank, 0 to 12")
    if (passes is None) != (rules.passes is None) or not 0 <= (passes or 0) < (rules.passes or 1):
        raise Unreadable("passes", f"{passes} is no number of passes to come in {rules.title}")
    full: list[list[int]] = []
    down: list[int] = []
    for (name, kind), (dark, cards) in zip(rules.piles, piles, strict=True):
        if not 0 <= dark <= rules.total or any(not 0 <= card <= HIDDEN for card in cards):
            raise Unreadable(name, f"{name} has cards that do not exist")
        if dark and kind not in (Kind.STOCK, Kind.COLUMN):
            raise Unreadable(name, f"{name} has no hidden cards in this game")
        if kind is Kind.STOCK and cards:
            raise Unreadable(name, "the cards of the stock are hidden")
        full.append([HIDDEN] * dark + list(cards))
        down.append(dark if kind is Kind.COLUMN else 0)
    return _checked(rules, full, down, base, passes or 0, is_view=True)


def _parse_base(rules: Rules, value: str) -> int:
    if not rules.has_base:
        raise Unreadable("base", f"{rules.title} has no base to name")
    if len(value) != 1 or value not in RANKS:
        raise Unreadable(value, f"base={value[:20]} is not a rank of {RANKS}")
    return RANKS.index(value)


def _parse_passes(rules: Rules, value: str) -> int:
    if rules.passes is None:
        raise Unreadable("passes", f"{rules.title} has no limit of passes to name")
    if not _PASSES.fullmatch(value) or int(value) >= rules.passes:
        most = rules.passes - 1
        raise Unreadable(value, f"passes={value[:20]} is not a number from 0 to {most}")
    return int(value)


def _read_pile(rules: Rules, at: int, value: str, piles: list[list[int]], down: list[int]) -> bool:
    """Read the cards of one pile. Return whether some are only counted."""
    name, kind = rules.piles[at]
    pile, counted = piles[at], False
    for place, word in enumerate(value.split(",")):
        word = word.strip(" ")
        count = _COUNT.fullmatch(word)
        if count and place == 0 and kind in (Kind.STOCK, Kind.COLUMN):
            cards = min(int(count[1]), rules.total + 1)
            pile += [HIDDEN] * cards
            down[at] = cards if kind is Kind.COLUMN else 0
            counted = True
        elif word == "?" and kind is not Kind.STOCK:
            pile.append(HIDDEN)
            counted = True
        elif word.endswith("-"):
            if kind is not Kind.COLUMN or rules.open_columns:
                raise Unreadable(word, f"{name} has no face-down cards in this game")
            if down[at] != len(pile):
                raise Unreadable(word, f"{name} has a face-down card above a face-up one")
            pile.append(parse_card(word[:-1]))
            down[at] += 1
        else:
            pile.append(parse_card(word))
    if kind is Kind.STOCK and counted and len(set(pile)) > 1:
        raise Unreadable(name, f"{name} counts its cards or shows them, not both")
    return counted


def _checked(
    rules: Rules, piles: list[list[int]], down: list[int], base: int | None, passes: int,
    *, is_view: bool,
) -> ReadPosition:  # fmt: skip
    if rules.has_base and base is None:
        raise Unreadable("base", f"{rules.title} needs base=, the rank its foundations start from")
    if not rules.has_base and base is not None:
        raise Unreadable("base", f"{rules.title} has no base to name")
    for card, count in Counter(card for pile in piles for card in pile).items():
        if card != HIDDEN and count > rules.packs:
            most = "once" if rules.packs == 1 else "twice"
            raise Unreadable(
                card_text(card), f"{card_text(card)} stands {count} times; a card is there {most}"
            )
    if sum(map(len, piles)) > rules.total:
        raise Unreadable("cards", f"{rules.title} has {rules.total} cards, this position has more")
    ways = iter(rules.foundations)
    for at, (name, kind) in enumerate(rules.piles):
        pile = piles[at]
        if kind is Kind.COLUMN and pile and down[at] == len(pile):
            raise Unreadable(name, f"the top card of {name} lies face up")
        if kind is Kind.RESERVE and len(pile) > rules.reserve_size:
            raise Unreadable(name, f"{name} has at most {rules.reserve_size} cards")
        if kind is Kind.FOUNDATION:
            _check_foundation(rules, name, pile, base or 0, next(ways))
    return ReadPosition(piles, down, base, passes, is_view)


def _check_foundation(rules: Rules, name: str, pile: list[int], base: int, way: int) -> None:
    if len(pile) > 13:
        raise Unreadable(name, f"{name} has {len(pile)} cards; a foundation holds 13")
    if HIDDEN in pile:
        raise Unreadable(name, f"{name} has no hidden cards")
    takes = rules.tables(base).foundations[way]
    for under, card in pairwise(pile):
        if not takes[under * 54 + card]:
            raise Unreadable(
                name, f"{name} has {card_text(card)} on {card_text(under)}, which is not its order"
            )
