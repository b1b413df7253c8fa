"""Moves as typed words: the keys of the terminal client, for pipes and screen readers."""

import random
from contextlib import suppress

import pytest

from samedeal.engine.errors import AmbiguousMove, EngineError
from samedeal.engine.games import GAMES
from samedeal.engine.table import Table
from samedeal_client.model.words import is_words, looked_at, spelled
from seat import table

HOMES = "F1=AC;F2=AD;F3=AH;F4=AS"


@pytest.mark.parametrize(
    ("game_id", "position", "line", "move"),
    [
        ("lanes", f"{HOMES};T1=9H;T2=8S", "2 1", "T2>T1"),
        ("lanes", f"{HOMES};T3=9H;W=8S", "w 3", "W>T3"),
        ("lanes", f"{HOMES};W=2S", "f", "W>F4"),
        ("lanes", f"{HOMES};T4=2H", "4 f", "T4>F3"),
        ("lanes", f"{HOMES};T4=2H;W=9C", "F", "T4>F3"),
        ("lanes", "F1=AC2C3C;F2=AD;F3=AH;F4=AS;T1=4D", "x 1", "F1>T1"),
        ("lanes", "F1=AC2C3C;F2=AD;F3=AH;F4=AS2S3S;T1=4D", "xs 1", "F4>T1"),
        ("single-left", "T1=9D-KSQDJSTD;T2=KC;T3=JC", "1 2", "T1:3>T2"),
        ("single-left", "T1=9D-KSQDJSTD;T2=KC;T3=JC", "1 3", "T1>T3"),
        ("single-left", "T1=9D-KSQDJSTD;T2=KC;T3=JC", "1:2 3", "T1:2>T3"),
        ("acey-and-kingsley", "F1=AC;F5=KC;R1=9D2H;R2=QC;T1=9S", "r f", "R1>F1"),
        ("acey-and-kingsley", "F1=AC;F5=KC;R1=9D2H;R2=QC;T1=9S", "t f", "R2>F5"),
        ("acey-and-kingsley", "F1=AC;F5=KCQCJCTC9C8C7C6C5C4C3C;W=2H;T1=9D", "w ]", "W>F5"),
    ],
)
def test_words_mean_a_move(game_id: str, position: str, line: str, move: str) -> None:
    assert is_words(line)
    assert str(spelled(table(game_id, position), line)) == move


def test_two_ways_home_are_named_both() -> None:
    position = "F1=AC;F5=KCQCJCTC9C8C7C6C5C4C3C;W=2H;T1=9D"
    with pytest.raises(AmbiguousMove, match="W>F1 or W>F5"):
        spelled(table("acey-and-kingsley", position), "f")


def test_illegal_words_are_a_move_to_be_refused() -> None:
    board = table("lanes", f"{HOMES};T1=4D;T2=9H")
    move = spelled(board, "1 2")
    assert move is not None
    assert board.refusal(move) == "4D goes on a black 5; column 3 takes it"
    assert spelled(board, "1 9") is not None
    assert spelled(board, "F") is None


def test_a_base_card_is_safe_only_where_nothing_is_built_on_it() -> None:
    position = "base=7;F1=7C;T1=7S"
    assert str(spelled(table("sally", position), "F")) == "T1>F2"
    # Taken back to build a six on it.
    assert spelled(table("sally-kings", position), "F") is None


@pytest.mark.parametrize("line", ["draw", "W>T1", "49", "4", "", "y 3", "4 w", "0 1", "ready"])
def test_other_lines_are_no_words(line: str) -> None:
    assert not is_words(line)


def test_a_pile_is_told_in_words() -> None:
    board = table("single-left", "T1=9D-KSQDTH;W=AC")
    assert looked_at(board, "T1") == (
        "column 1: 4 cards. 1 face down. King of spades, Queen of diamonds, 10 of hearts."
    )
    assert looked_at(board, "W") == "the waste: 1 card. ace of clubs."
    assert looked_at(board, "T2") == "column 2: 0 cards."


def test_from_an_empty_pile_the_refusal_says_that_it_is_empty() -> None:
    board = table("lanes", f"{HOMES};T1=4D;T2=9H")
    for line, told in (("w 1", "the waste is empty"), ("3 1", "column 3 is empty")):
        move = spelled(board, line)
        assert move is not None
        assert board.refusal(move) == told


@pytest.mark.parametrize("game_id", GAMES)
def test_all_words_mean_something_on_every_table(game_id: str) -> None:
    sources = ["", "w", "r", "t", "x", "xs", *"123456789", "1:2", "3:13", "w:2"]
    lines = [f"{source} {target}".strip() for source in sources for target in "f[]123456789"]
    lines = [line for line in [*lines, "F"] if is_words(line)]
    board, rng = Table.deal(GAMES[game_id], bytes(32)).view(), random.Random(1)
    full = Table.deal(GAMES[game_id], bytes(32))
    for _ in range(40):
        for line in lines:
            with suppress(EngineError):
                move = spelled(board, line)
                assert move is None or board.is_legal(move) or board.refusal(move)
        moves = list(full.legal_moves)
        if not moves:
            break
        full.push(rng.choice(moves))
        board = full.view()
