"""Games beyond the five, each a few lines of data: that the core plays them, too."""

from __future__ import annotations

import pytest

from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.rules import Kind
from samedeal.engine.table import Table


def is_legal(game_id: str, position: str, move: str) -> bool:
    return Move.parse(move) in Table.parse(game(game_id), position).legal_moves


@pytest.mark.parametrize(
    ("game_id", "columns", "stock", "turned", "passes"),
    [
        ("klondike", 7, 24, 1, None),
        ("klondike-3", 7, 24, 3, None),
        ("double-klondike", 9, 59, 3, None),
        ("gargantua", 9, 59, 1, 1),
    ],
)
def test_what_is_dealt_and_turned(
    game_id: str, columns: int, stock: int, turned: int, passes: int | None
) -> None:
    table = Table.deal(game(game_id), bytes(32))
    heights = [len(table.pile(name)) for name, kind in table.rules.piles if kind is Kind.COLUMN]
    assert heights == list(range(1, columns + 1))
    assert (len(table.pile("S")), table.passes, table.base) == (stock, passes, None)
    assert len(table.push(DRAW).reveals) == turned


@pytest.mark.parametrize("game_id", ["klondike", "klondike-3", "double-klondike", "gargantua"])
def test_the_rules_of_the_klondikes(game_id: str) -> None:
    assert is_legal(game_id, "W=AC", "W>F1")
    assert not is_legal(game_id, "W=2C", "W>F1")
    assert is_legal(game_id, "W=KC", "W>T1")
    assert not is_legal(game_id, "W=QC", "W>T1")
    assert is_legal(game_id, "T1=9H,8S; T2=TC", "T1:2>T2")
    assert is_legal(game_id, "F1=AC,2C; T1=3H", "F1>T1")
    assert not is_legal(game_id, "T1=AH; W=KC", "W>T1")


def test_a_double_klondike_has_eight_foundations_with_an_ace_of_any_suit_each() -> None:
    assert is_legal("double-klondike", "F1=AC; W=AC", "W>F8")
    assert not is_legal("double-klondike", "F1=AC; W=AC", "W>F1")


@pytest.mark.parametrize("game_id", GAMES)
def test_a_game_has_as_many_places_as_its_cards_need(game_id: str) -> None:
    rules = game(game_id)
    assert len(rules.foundations) * 13 == rules.total
    assert rules.title
    assert rules.summary
    assert rules.version == 1


@pytest.mark.parametrize(
    ("game_id", "most"),
    [
        ("acey-and-kingsley", 96),
        ("lanes", 48),
        ("sally", 103),
        ("sally-kings", 96),
        ("single-left", 52),
    ],
)
def test_the_most_cards_that_can_come_home(game_id: str, most: int) -> None:
    rules = game(game_id)
    assert rules.total - rules.dealt_to_foundations == most


@pytest.mark.parametrize(
    ("game_id", "most"),
    [
        ("sally", 45),
        ("sally-kings", 45),
        ("single-left", 28),
        ("lanes", 18),
        ("acey-and-kingsley", 30),
    ],
)
def test_the_most_that_can_be_opened(game_id: str, most: int) -> None:
    base = 0 if game(game_id).has_base else None
    empty = [(0, ()) for _ in game(game_id).piles]
    passes = None if game(game_id).passes is None else 0
    assert Table.from_piles(game(game_id), empty, base=base, passes=passes).opened == most
