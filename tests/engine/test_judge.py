"""The rules once more, slowly, on texts and game by game: an independent judge of the engine.

The judge shares nothing with the engine: cards are texts, piles are lists of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import Move
from samedeal.engine.table import Table

RANKS = "A23456789TJQK"
TWO_PACKS = {"sally", "sally-kings", "acey-and-kingsley", "double-klondike", "gargantua"}
FOUNDATIONS = dict.fromkeys(TWO_PACKS, 8)
COLUMNS = {
    "sally": 9,
    "sally-kings": 9,
    "double-klondike": 9,
    "gargantua": 9,
    "acey-and-kingsley": 4,
    "lanes": 6,
}
NEVER_TAKES_BACK = {"sally", "single-left"}
ONE_AT_A_TIME = {"acey-and-kingsley", "lanes"}
ENDLESS = {"sally", "sally-kings", "klondike", "klondike-3", "double-klondike"}


class Position:
    """A position as text, taken apart."""

    def __init__(self, game: str, text: str) -> None:
        self.game = game
        parts = dict(part.split("=") for part in text.split("; ") if part)
        self.base = parts.pop("base", None)
        self.passes = int(parts.pop("passes", 0))
        self.piles = {name: cards.split(",") for name, cards in parts.items()}

    def __getitem__(self, pile: str) -> list[str]:
        return self.piles.get(pile, [])

    def foundations(self) -> list[str]:
        return [f"F{number}" for number in range(1, FOUNDATIONS.get(self.game, 4) + 1)]

    def columns(self) -> list[str]:
        return [f"T{number}" for number in range(1, COLUMNS.get(self.game, 7) + 1)]

    def sources(self) -> list[str]:
        reserves = ["R1", "R2"] if self.game == "acey-and-kingsley" else []
        taken_back = [] if self.game in NEVER_TAKES_BACK else self.foundations()
        return ["W", *self.columns(), *reserves, *taken_back]


def legal_moves(game: str, text: str) -> set[str]:
    """Every legal move, found by trying each pair of piles with each number of cards."""
    position = Position(game, text)
    moves = set()
    for source in position.sources():
        for target in position.foundations() + position.columns():
            if source == target:
                continue
            for count in range(1, len(position[source]) + 1):
                if is_legal(position, source, count, target):
                    moves.add(f"{source}>{target}" if count == 1 else f"{source}:{count}>{target}")
    waste_turns = position["W"] and (game in ENDLESS or position.passes > 0)
    if position["S"] or waste_turns:
        moves.add("draw")
    return moves


def is_legal(position: Position, source: str, count: int, target: str) -> bool:
    cards = position[source][-count:]
    if any(card.endswith("-") for card in cards):
        return False
    if count > 1:
        if position.game in ONE_AT_A_TIME or source[0] != "T" or target[0] != "T":
            return False
        if not all(lies_on(position, upper, lower) for lower, upper in pairwise(cards)):
            return False
    if target[0] == "F":
        return goes_home(position, cards[0], target)
    if not position[target]:
        return fills_space(position, cards[0])
    return lies_on(position, cards[0], position[target][-1])


def red(card: str) -> bool:
    return card[1] in "DH"


def order(position: Position) -> str:
    """The ranks, low to high, that columns are built in."""
    if position.game != "sally":
        return RANKS
    assert position.base
    start = RANKS.index(position.base)
    return RANKS[start:] + RANKS[:start]


def lies_on(position: Position, card: str, under: str) -> bool:
    if position.game == "acey-and-kingsley" or red(card) == red(under):
        return False
    return card[0] + under[0] in order(position)


def fills_space(position: Position, card: str) -> bool:
    return position.game in ONE_AT_A_TIME or card[0] == order(position)[-1]


def goes_home(position: Position, card: str, target: str) -> bool:
    pile = position[target]
    downwards = position.game == "acey-and-kingsley" and int(target[1:]) > 4
    first = position.base or ("K" if downwards else "A")
    if not pile:
        return card[0] == first
    if len(pile) == 13:
        return False
    if position.game != "acey-and-kingsley" and card[1] != pile[-1][1]:
        return False
    start = RANKS.index(first)
    upwards = RANKS[start:] + RANKS[:start]
    pair = card[0] + pile[-1][0] if downwards else pile[-1][0] + card[0]
    return pair in (RANKS if downwards else upwards)


def automatic_moves(text: str) -> Iterator[str]:
    """Cards of a Single Left position that must go up by themselves: none once all have."""
    position = Position("single-left", text)
    home = [card for name in position.foundations() for card in position[name]]
    for name in ["W", *position.columns()]:
        if not position[name]:
            continue
        card = position[name][-1]
        below = RANKS[RANKS.index(card[0]) - 1] if card[0] != "A" else None
        others = "CS" if red(card) else "DH"
        is_spent = below is None or all(below + suit in home for suit in others)
        if is_spent and any(goes_home(position, card, target) for target in position.foundations()):
            yield card


def has_progress(game: str, text: str) -> bool:
    """Whether a legal move is neither a draw nor null."""
    position = Position(game, text)
    for move in legal_moves(game, text) - {"draw"}:
        source, target = move.split(">")
        source, _, count = source.partition(":")
        pile = position[source]
        if source[0] == target[0] == "T":
            whole = len(pile) == int(count or 1) and not pile[0].endswith("-")
            if whole and not position[target]:
                continue
        if source[0] == target[0] == "F":
            both = {int(source[1:]) > 4, int(target[1:]) > 4}
            if game != "acey-and-kingsley" or len(both) == 1:
                continue
        return True
    return False


def is_stuck(game: str, text: str) -> bool:
    """Follow the draws until a position comes again or none is left."""
    draw = 3 if game in {"sally", "sally-kings", "klondike-3", "double-klondike"} else 1
    position = Position(game, text)
    stock, waste, passes = position["S"][:], position["W"][:], position.passes
    others = [part for part in text.split("; ") if part[:2] not in ("S=", "W=")]
    seen = set()
    while (key := (tuple(stock), tuple(waste), passes)) not in seen:
        seen.add(key)
        parts = [*others]
        if stock:
            parts.append(f"S={','.join(stock)}")
        if waste:
            parts.append(f"W={','.join(waste)}")
        if has_progress(game, "; ".join(parts)):
            return False
        if stock:
            waste += [stock.pop() for _ in range(min(draw, len(stock)))]
        elif waste and (game in ENDLESS or passes):
            stock, waste, passes = waste[::-1], [], passes - (game not in ENDLESS)
    return True


# The engine against the judge


def dealt(game_id: str, number: int) -> Table:
    note(f"seed {number.to_bytes(32, 'big').hex()}")
    return Table.deal(game(game_id), number.to_bytes(32, "big"))


def some_move(table: Table, rng: random.Random) -> Move | None:
    """Choose a legal move, rather one that brings a card home."""
    moves = sorted(table.legal_moves, key=str)
    home = [move for move in moves if move.target[0] == "F" and move.source[0] != "F"]
    if not moves or table.is_won:
        return None
    return rng.choice(home if home and rng.random() < 0.5 else moves)


@pytest.mark.parametrize("game_id", GAMES)
@settings(max_examples=12, deadline=None)
@given(number=st.integers(0, 2**32))
def test_the_legal_moves_are_those_that_the_judge_finds(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    names = [name for name, _ in table.rules.piles]
    for _ in range(40):
        found = [str(legal) for legal in table.legal_moves]
        assert sorted(found) == sorted(legal_moves(game_id, str(table)))
        assert (len(table.legal_moves), bool(table.legal_moves)) == (len(found), bool(found))
        for _ in range(8):
            wild = Move(rng.choice(names), rng.choice(names), rng.choice((1, 1, 1, 2, 3)))
            assert (wild in table.legal_moves) == (str(wild) in found)
            assert (table.refusal(wild) is None) == (str(wild) in found)
        move = some_move(table, rng)
        if move is None:
            return
        table.push(move)


@settings(max_examples=60, deadline=None)
@given(number=st.integers(0, 2**32))
def test_after_every_action_no_card_is_left_that_goes_up_by_itself(number: int) -> None:
    table, rng = dealt("single-left", number), random.Random(number)
    for _ in range(80):
        assert list(automatic_moves(str(table))) == []
        move = some_move(table, rng)
        if move is None:
            return
        table.push(move)


@pytest.mark.parametrize("game_id", [game_id for game_id in GAMES if game_id != "single-left"])
@settings(max_examples=40, deadline=None)
@given(number=st.integers(0, 2**32))
def test_stuck_is_what_following_every_draw_finds(game_id: str, number: int) -> None:
    rng = random.Random(number)
    rules = game(game_id)
    deck = [rank + suit for rank in RANKS for suit in "CDHS"]
    rng.shuffle(deck)
    parts = [f"base={rng.choice(RANKS)}"] if rules.has_base else []
    if rules.passes == 2 and rng.random() < 0.5:
        parts.append("passes=1")
    for column in range(1, len(rules.columns) + 1):
        top = deck.pop()
        if rng.random() < 0.9:
            down = not rules.open_columns and rng.random() < 0.5
            parts.append(f"T{column}={deck.pop()}-,{top}" if down else f"T{column}={top}")
    for pile in "SW":
        if cards := [deck.pop() for _ in range(rng.randrange(5))]:
            parts.append(f"{pile}={','.join(cards)}")
    table = Table.parse(rules, "; ".join(parts))
    before = str(table)
    note(before)
    assert table.is_stuck == is_stuck(game_id, before)
    assert (str(table), len(table.history)) == (before, 0)
    if table.is_stuck_visibly:
        assert table.is_stuck
    view = table.view()
    assert view.is_stuck_visibly == table.is_stuck_visibly
    assert table.is_stuck or not view.is_stuck
