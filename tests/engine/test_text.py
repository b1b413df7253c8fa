"""Cards, moves, seeds and positions as text: one form each, and a reason for all that is not."""

from __future__ import annotations

import doctest
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.engine import moves
from samedeal.engine.cards import RANKS, SUITS, card_text, parse_card
from samedeal.engine.deals import commitment, parse_seed, shuffled
from samedeal.engine.errors import AmbiguousMove, EngineError, Unreadable
from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.table import Table

PILES = ["W", *(f"{kind}{number}" for kind in "FTR" for number in range(1, 20))]


def test_the_examples_in_the_documentation_run() -> None:
    assert doctest.testmod(moves).failed == 0


# Cards


def test_every_card_has_its_number_and_its_text() -> None:
    texts = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
    assert [card_text(card) for card in range(52)] == texts
    assert [parse_card(text) for text in texts] == list(range(52))
    assert (SUITS, RANKS) == ("CDHS", "A23456789TJQK")


@pytest.mark.parametrize("text", ["", "10H", "1H", "th", "TH ", "HT", "T", "TX", "TH-", "?"])
def test_nothing_else_is_a_card(text: str) -> None:
    with pytest.raises(Unreadable) as error:
        parse_card(text)
    assert error.value.part == text


# Moves


@given(source=st.sampled_from(PILES), target=st.sampled_from(PILES), count=st.integers(1, 99))
def test_a_move_is_read_back_as_it_was_written(source: str, target: str, count: int) -> None:
    move = Move(source, target, count)
    assert Move.parse(str(move)) == move
    assert ":1>" not in str(move)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("draw", DRAW),
        ("W>T1", Move("W", "T1")),
        ("T2:3>T1", Move("T2", "T1", 3)),
        ("F3>T1", Move("F3", "T1")),
        ("R1>F2", Move("R1", "F2")),
        ("T12:13>T10", Move("T12", "T10", 13)),
    ],
)
def test_a_move_in_its_one_form(text: str, move: Move) -> None:
    assert Move.parse(text) == move
    assert str(move) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "Draw", "draw ", " draw", "draw\n", "W>T1\n", "T1 > T2", "t1>t2", "T1>T2>T3"),
        *("T1:1>T2", "T1:0>T2", "T1:03>T2", "T1:-2>T2", "T1:100>T2", "T1:\u0663>T2", "T1:2"),
        *("T01>T2", "T0>T2", "T>T2", "T20>T1", "T\u0661>T2", "W1>T2", "X1>T2", "T1->T2"),
        *("T1>", ">T1", "T1", "T1>" + "T" * 99),
    ],
)
def test_no_other_form_of_a_move_is_read(text: str) -> None:
    with pytest.raises(Unreadable, match="is not a move") as error:
        Move.parse(text)
    assert error.value.part == text[:20]


@pytest.mark.parametrize("count", [0, -1])
def test_a_move_without_cards_cannot_be_made(count: int) -> None:
    with pytest.raises(ValueError, match="one card or more"):
        Move("T1", "T2", count)


def test_moves_are_values() -> None:
    assert len({Move("T1", "T2"), Move.parse("T1>T2"), Move("T1", "T2", 2)}) == 2
    with pytest.raises(AttributeError):
        Move("T1", "T2").count = 2  # type: ignore[misc] # that it is frozen is what is tested


# Games and errors


def test_the_five_games_come_first_and_an_unknown_one_is_refused_by_name() -> None:
    five = ["sally", "sally-kings", "acey-and-kingsley", "lanes", "single-left"]
    assert list(GAMES)[:5] == five
    assert all(game(game_id).id == game_id for game_id in GAMES)
    with pytest.raises(Unreadable, match=r"no game 'bridge'; games: sally, sally-kings, .*lanes"):
        game("bridge")


def test_every_failure_of_the_engine_is_an_engine_error_and_reads_as_a_sentence() -> None:
    error = AmbiguousMove("7H>T2", ["T1>T2", "W>T2"])
    assert isinstance(error, EngineError)
    assert str(error) == "7H>T2 may mean T1>T2 or W>T2"


# Seeds


def test_64_lowercase_hex_digits_are_the_seed_itself() -> None:
    seed = parse_seed("0f" * 32)
    assert (seed.value, seed.is_practice) == (b"\x0f" * 32, False)


@pytest.mark.parametrize("text", ["moonlight", "0F" * 32, "0f" * 31, "0f" * 33, " ", "\u00fc"])
def test_any_other_text_is_hashed_and_for_practice(text: str) -> None:
    seed = parse_seed(text)
    assert (seed.value, seed.is_practice) == (hashlib.sha256(text.encode()).digest(), True)


@pytest.mark.parametrize("text", ["", "x" * 201, "\ud800"], ids=["empty", "long", "surrogate"])
def test_what_cannot_be_a_seed(text: str) -> None:
    with pytest.raises(Unreadable, match="a seed"):
        parse_seed(text)


def test_a_commitment_is_the_hash_that_the_rules_name() -> None:
    seed = bytes(range(32))
    whole = b"samedeal/commit/1\0lanes\0" + seed
    assert commitment(game("lanes"), seed) == hashlib.sha256(whole).hexdigest()


@pytest.mark.parametrize("use", [commitment, shuffled, Table.deal])
def test_a_seed_of_another_length_is_a_mistake_of_the_caller(use: object) -> None:
    assert callable(use)
    with pytest.raises(ValueError, match="32 bytes"):
        use(game("lanes"), b"short")


# Positions

KING_PILE = ",".join(f"{rank}C" for rank in "A23456789TJQK")


@pytest.mark.parametrize(
    ("game_id", "position", "part"),
    [
        ("lanes", "T7=5C", "T7"),
        ("lanes", "R1=5C", "R1"),
        ("lanes", "X=5C", "X"),
        ("lanes", "T1=5C; T1=6C", "T1"),
        ("lanes", "T1=5C; T2=5C", "5C"),
        ("sally", "base=7; T1=5C; T2=5C; W=5C", "5C"),
        ("lanes", "T1=5X", "5X"),
        ("lanes", "T1=", "T1="),
        ("lanes", "T1", "T1"),
        ("lanes", "T1=5C,", ""),
        ("lanes", "T1=5C;", ""),
        ("lanes", "T1=5C; ; T2=6C", ""),
        ("lanes", "T1=5C-,6C", "5C-"),
        ("sally", "base=7; T1=5C,6C-", "6C-"),
        ("sally", "base=7; T1=5C-", "T1"),
        ("sally", "base=7; W=5C-", "5C-"),
        ("sally", "base=7; S=5C-", "5C-"),
        ("sally", "T1=5C", "base"),
        ("sally", "base=7; base=7", "base"),
        ("sally", "base=1", "1"),
        ("sally", "base=77", "77"),
        ("lanes", "base=A", "base"),
        ("lanes", "passes=1", "1"),
        ("sally", "base=A; passes=1", "passes"),
        ("gargantua", "passes=2", "2"),
        ("gargantua", "passes=01", "01"),
        ("gargantua", "passes=-1", "-1"),
        ("lanes", "F1=AC,2D", "F1"),
        ("lanes", "F1=AC,3C", "F1"),
        ("lanes", "F1=KC,AC", "F1"),
        ("sally", "base=7; F2=6C,7C", "F2"),
        ("acey-and-kingsley", "F5=QC,KC", "F5"),
        ("double-klondike", f"F1={KING_PILE},AC", "F1"),
        ("acey-and-kingsley", f"R1={KING_PILE},AD", "R1"),
        ("sally", "base=7; S=3?,5C", "S"),
        ("sally", "base=7; S=5C; T1=2?,5C", "S"),
        ("sally", "base=7; T1=2?,5C; T2=5C-,6C", "T2"),
        ("sally", "base=7; F1=?", "F1"),
        ("sally", "base=7; S=105?", "cards"),
        ("lanes", "T1=" + "5C," * 700, "T1=5C,5C,5C,5C,5C,5C"),
    ],
)
def test_a_position_that_cannot_be_is_refused_by_the_part_that_is_wrong(
    game_id: str, position: str, part: str
) -> None:
    with pytest.raises(Unreadable) as error:
        Table.parse(game(game_id), position)
    assert error.value.part == part
    assert str(error.value)


@pytest.mark.parametrize(
    ("game_id", "written", "position"),
    [
        ("lanes", "", ""),
        ("lanes", "W=5C;T1=KD , 2C;F1=AC", "F1=AC; T1=KD,2C; W=5C"),
        ("sally", "S=5D,4D; base=7; T2=9C-,8D", "base=7; T2=9C-,8D; S=5D,4D"),
        ("gargantua", "S=5D; passes=0", "S=5D"),
        ("gargantua", "S=5D; passes=1", "passes=1; S=5D"),
        ("acey-and-kingsley", "S=5D; R2=5D; R1=6D", "R1=6D; R2=5D; S=5D"),
    ],
)
def test_a_position_is_written_in_one_order(game_id: str, written: str, position: str) -> None:
    assert str(Table.parse(game(game_id), written)) == position


@given(st.text(alphabet="STFRW1239=;:,-?ACDHK base", max_size=40))
def test_whatever_is_read_is_written_in_a_form_that_is_read_again(text: str) -> None:
    try:
        table = Table.parse(game("sally"), "base=7; " + text)
    except Unreadable:
        return
    assert str(Table.parse(game("sally"), str(table))) == str(table)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"piles": []}, "piles"),
        ({"pile": (0, (0, (5,)))}, "S"),
        ({"pile": (1, (2, ()))}, "W"),
        ({"pile": (2, (0, (0, 2)))}, "F1"),
        ({"pile": (6, (0, (53,)))}, "T1"),
        ({"pile": (6, (-1, (5,)))}, "T1"),
        ({"pile": (6, (2, ()))}, "T1"),
        ({"pile": (6, (0, (5, 5)))}, "6C"),
        ({"base": 3}, "base"),
        ({"passes": None}, "passes"),
        ({"passes": 1}, "passes"),
        ({"lows": [0] * 6}, "lows"),
        ({"lows": [0] * 6 + [9]}, "lows"),
        ({"best": 53}, "best"),
    ],
)
def test_a_view_that_came_as_numbers_is_checked(changes: dict[str, object], part: str) -> None:
    piles: list[tuple[int, tuple[int, ...]]] = [(0, ()) for _ in range(13)]
    values = {"piles": piles, "base": None, "passes": 0, **changes}
    match values.pop("pile", None):
        case (int(at), (int(dark), tuple(cards))):
            piles[at] = (dark, cards)
    with pytest.raises(Unreadable) as error:
        Table.from_piles(game("single-left"), **values)  # type: ignore[arg-type] # by hand
    assert error.value.part == part
