"""A refused move says what is missing, in a sentence."""

from __future__ import annotations

import pytest

from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.table import Table

FULL = ",".join(f"{rank}C" for rank in "A23456789TJQK")

REFUSALS = [
    # The draw
    ("sally", "base=7", "draw", "stock and waste are both empty"),
    ("lanes", "W=5D", "draw", "the stock is empty and no pass is left: "
     "the waste cannot be turned over"),
    # The piles
    ("lanes", "T1=5D", "T1>T7", "Lanes has no pile T7"),
    ("lanes", "T1=5D", "R1>T1", "Lanes has no pile R1"),
    ("lanes", "T1=5D", "T1>T1", "a card cannot move to the pile it lies on"),
    ("lanes", "T1=5D", "T1>W", "nothing moves onto the waste"),
    ("lanes", "T1=5D", "T1>S", "nothing moves onto the stock"),
    ("acey-and-kingsley", "W=7D", "W>R1", "nothing moves onto reserve 1"),
    ("lanes", "S=5D", "S>T1", "cards leave the stock by draw only"),
    # The source
    ("lanes", "", "W>T1", "the waste is empty"),
    ("acey-and-kingsley", "", "R2>T1", "reserve 2 is empty"),
    ("sally", "base=5; F5=5H,6H; T1=7S", "F5>T1", "foundation cards never leave"),
    ("lanes", "T1=9H,8S; T2=TC", "T1:2>T2", "cards move one at a time in this game"),
    ("sally", "base=A; W=9H,8S; T2=TC", "W:2>T2", "only one card at a time leaves the waste"),
    ("sally", "base=A; T1=9H; T2=TC", "T1:2>T2", "column 1 has only 1 card"),
    ("sally", "base=A; T1=9H-,8S; T2=TC", "T1:2>T2", "column 1 has only 1 card face up"),
    ("sally", "base=A; F1=AC; T1=2C,AD", "T1:2>F1", "a foundation takes one card at a time"),
    ("sally", "base=A; T1=9H,8D; T2=TC", "T1:2>T2", "the 2 cards are not one run: 8D lies on 9H"),
    # A foundation as target
    ("lanes", "W=2C", "W>F1", "an empty foundation starts with an ace; column 1 takes it"),
    ("lanes", "F1=AC; W=2S", "W>F1",
     "2S does not follow AC; foundation 1 takes a 2 of clubs; column 1 takes it"),
    ("acey-and-kingsley", "F5=KC; T1=3C; T2=3D; T3=3H; T4=3S; W=7D", "W>F5",
     "7D does not follow KC; foundation 5 takes a Queen; no pile takes it"),
    ("acey-and-kingsley", "F5=KC; W=QH", "W>F8",
     "an empty foundation starts with a King; foundation 5 takes it"),
    ("klondike", f"F1={FULL}; T1=5D", "T1>F1", "foundation 1 is complete; no pile takes it"),
    ("sally", "base=7; W=6H", "W>F1", "an empty foundation starts with a 7; column 1 takes it"),
    # A column as target
    ("single-left", "T2=9H; T3=5S; W=4D", "W>T2", "4D goes on a black 5; column 3 takes it"),
    ("single-left", "W=QH", "W>T1", "an empty column takes only a King; no pile takes it"),
    ("sally", "base=A; F5=AH; T1=AS; W=KH", "W>T1",
     "KH goes on no other card, only into an empty column; column 2 takes it"),
    ("sally", "base=9; T1=AS; W=KH", "W>T2",
     "an empty column takes only an 8; column 1 takes it"),
    ("sally", "base=5; T1=5S; W=4H", "W>T1",
     "4H goes on no other card, only into an empty column; column 2 takes it"),
    ("lanes", "T1=TS; T2=JS; T3=QS; T4=KS; T5=9S; T6=8S; W=TC", "W>T2",
     "TC goes on a red Jack; no pile takes it"),
    ("acey-and-kingsley", "T1=8S; W=7D", "W>T1",
     "nothing is built in the columns of this game; only an empty one takes a card; "
     "column 2 takes it"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("game_id", "position", "move", "sentence"),
    REFUSALS,
    ids=lambda value: value if ">" in value or value == "draw" else "",
)
def test_a_refusal_says_what_is_missing(
    game_id: str, position: str, move: str, sentence: str
) -> None:
    table = Table.parse(game(game_id), position)
    assert table.refusal(Move.parse(move)) == sentence
    assert table.view().refusal(Move.parse(move)) == sentence


def test_a_legal_move_is_not_refused() -> None:
    assert Table.parse(game("lanes"), "T1=9H; W=8S").refusal(Move.parse("W>T1")) is None
