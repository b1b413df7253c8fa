"""The four layouts of a race in two sizes, letter for letter."""

from pathlib import Path

import pytest

from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import cells, text_of
from samedeal_client.model.keys import Keys, Section
from samedeal_client.model.play import PlayModel
from samedeal_client.model.window import Window, header, key_bar, message
from scenes import playing

GOLDEN = Path(__file__).parent / "layouts"
LAYOUTS = {
    "sally": ("sally", 8, False),
    "acey-and-kingsley": ("acey-and-kingsley", 4, False),
    "daily": ("lanes", 1, True),
    "single-left": ("single-left", 2, False),
}


def drawn(play: PlayModel, width: int, height: int) -> str:
    """The whole screen, as the race screen puts it together."""
    window, faces = Window(width, height), Faces()
    board, beside = window.board(play, faces).rows, window.players(play, 161_000)
    lines = [text_of(header(play, 161_000, width))]
    lines += [f"{text_of(own)}│{text_of(other)}" for own, other in zip(board, beside, strict=True)]
    lines += ["─" * width, text_of(message(play, faces, width)[-1])]
    keys = Keys().on(Section.RACE)
    lines += [text_of(key_bar(play.table.rules, keys, width, is_alone=play.is_alone))]
    assert len(lines) == height
    assert all(cells(line) <= width for line in lines)
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.parametrize("name", list(LAYOUTS))
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_the_layout_is_the_one_that_was_looked_at(name: str, width: int, height: int) -> None:
    game_id, count, is_daily = LAYOUTS[name]
    play = playing(game_id, count, is_daily=is_daily)
    play.press(
        "1", Keys().on(Section.RACE).action("1"), Window(width, height).board(play, Faces()), 1.0
    )
    golden = GOLDEN / f"{name}-{width}x{height}.txt"
    assert drawn(play, width, height) == golden.read_text("utf-8")


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_a_narrow_window_folds_the_players_into_one_row(name: str) -> None:
    game_id, count, is_daily = LAYOUTS[name]
    window = Window(60, 20)
    (row,) = window.players(playing(game_id, count, is_daily=is_daily), 0)
    assert cells(text_of(row)) == 60
    if count == 8:
        assert "+" in text_of(row)


def test_a_long_refusal_is_whole_in_the_smallest_window() -> None:
    play = playing("lanes", 2)
    play.say("1>2 refused: 5D goes on a black 6; no pile takes it (no cost) " + "word " * 9)
    text = " ".join(text_of(row).strip() for row in message(play, Faces(), 60))
    assert text == Faces().sentence(play.sentence).strip()
