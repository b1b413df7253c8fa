"""A board as rows: whole in its window, and every pile where a click finds it."""

import pytest

from samedeal.engine.deals import parse_seed
from samedeal.engine.games import GAMES, game
from samedeal.engine.rules import Kind
from samedeal.engine.table import Table
from samedeal_client.model.board import Marks, Picture, draw
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import Canvas, cells, text_of
from seat import table

SMALL, LARGE = (48, 20), (68, 26)


def lines(picture: Picture) -> list[str]:
    return [text_of(row).rstrip() for row in picture.rows]


def dealt(game_id: str) -> Table:
    return Table.deal(game(game_id), parse_seed("board").value).view()


@pytest.mark.parametrize("game_id", list(GAMES))
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_every_pile_of_every_game_has_its_place(game_id: str, size: tuple[int, int]) -> None:
    board = dealt(game_id)
    picture = draw(board, *size, Faces(), boxes=size == LARGE)
    assert len(picture.rows) == size[1]
    assert all(cells(text_of(row)) == size[0] for row in picture.rows)
    kinds = dict(board.rules.piles)
    found = {spot.pile for spot in picture.spots}
    # Empty foundations of one kind share a place: it does not matter which one takes the card.
    started = {name for name, kind in kinds.items() if kind is not Kind.FOUNDATION}
    started |= {name for name in kinds if name.startswith("F") and board.pile(name)}
    assert started <= found
    assert picture.hidden_rows == 0


@pytest.mark.parametrize("game_id", list(GAMES))
def test_every_card_that_lies_open_in_a_column_is_written(game_id: str) -> None:
    board = dealt(game_id)
    text = "\n".join(lines(draw(board, *SMALL, Faces(is_ascii=True))))
    for name, kind in board.rules.piles:
        if kind is Kind.COLUMN:
            for card in board.pile(name)[board.face_down(name) :]:
                assert Faces(is_ascii=True).card(card) in text


def test_a_board_in_ascii_has_nothing_else() -> None:
    for game_id in GAMES:
        for size in (SMALL, LARGE):
            picture = draw(
                dealt(game_id), *size, Faces(is_ascii=True), Marks("T1", 1), boxes=size == LARGE
            )
            assert all(line.isascii() for line in lines(picture))


def test_the_foundations_tell_what_they_need_next() -> None:
    board = table("lanes", "F1=AC2C;F2=AD;F3=AH;F4=AS2S3S;T1=KD")
    home, following = lines(draw(board, *SMALL, Faces()))[1:3]
    assert home.split() == ["home", "♠", "3", "♥", "A", "♦", "A", "♣", "2", "3/48"]
    assert following.split() == ["next", "♠", "4", "♥", "2", "♦", "2", "♣", "3"]


def test_a_full_foundation_needs_nothing() -> None:
    spades = "".join(f"{rank}S" for rank in "A23456789TJQK")
    board = table("lanes", f"F1=AC;F2=AD;F3=AH;F4={spades};T1=KD")
    assert lines(draw(board, *SMALL, Faces()))[2].split()[2] == "*"


def test_what_is_picked_and_what_takes_it_is_told_by_signs() -> None:
    board = table("lanes", "F1=AC;F2=AD;F3=AH;F4=AS;T1=KD;T2=5C2C;T3=9H;W=3C")
    marks = Marks("T2", 1, frozenset({"F1"}), "T3")
    rows = lines(draw(board, *SMALL, Faces(), marks))
    assert ">home<" in rows[1]
    assert ">A<" in rows[1]
    assert "[2]" in rows[4]
    assert "{3}" in rows[4]
    assert "[2♣]" in rows[6]
    assert "[5♣]" not in rows[5]


def test_stock_waste_and_passes_are_told() -> None:
    board = table("gargantua", "S=2C3C;W=4C5C6C7C;passes=1")
    assert "stock 2 (by 1, pass 1/2)" in lines(draw(board, *SMALL, Faces()))[0]
    assert "(4) 5♣ 6♣ [7♣]" in lines(draw(board, *SMALL, Faces()))[0]


LONG = "T1=" + "KDQSJDTS9D8S7D6S5D4S3D2SADKSQDJSTD9S8D7S6D5S4D3S2D"


def test_a_column_of_25_cards_scrolls_with_a_mark() -> None:
    board = table("sally", f"{LONG};base=2")
    picture = draw(board, *SMALL, Faces())
    rows = lines(picture)
    assert picture.hidden_rows == 9
    assert rows[4].split()[0] == "^10"
    assert rows[-1].strip() == "2♦"
    pulled = lines(draw(board, *SMALL, Faces(), scroll=9))
    assert pulled[4].split()[0] == "K♦"
    assert pulled[-1].strip() == "v10"
    assert lines(draw(board, *SMALL, Faces(), scroll=99)) == pulled


def test_a_click_on_a_card_names_it_and_those_on_it() -> None:
    board = table("single-left", "T1=9D-KDQSJD;T2=5C")
    picture = draw(board, *SMALL, Faces())
    place = next(at for at, line in enumerate(lines(picture)) if "Q♠" in line)
    spot = picture.at(place, 2)
    assert spot is not None
    assert (spot.pile, spot.cards) == ("T1", 2)
    assert picture.at(19, 47) is None


def test_wide_letters_keep_the_rows_straight() -> None:
    canvas = Canvas(6, 1)
    canvas.put(0, 0, "王a")
    canvas.put(0, 3, "|")
    assert text_of(canvas.rows()[0]) == "王a|  "
    assert cells(text_of(canvas.rows()[0])) == 6
