"""The four layouts of a race in two sizes, letter for letter."""

import itertools
from pathlib import Path

import pytest

from samedeal.engine.deals import parse_seed
from samedeal.engine.games import game
from samedeal.engine.run import Run
from samedeal.engine.table import Table
from samedeal.greedy import Greedy
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import (
    BoardView,
    DayTag,
    Phase,
    PlayerView,
    RaceOptions,
    RaceView,
    Status,
)
from samedeal_client.model import RaceModel
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import cells, text_of
from samedeal_client.model.keys import Keys
from samedeal_client.model.play import PlayModel
from samedeal_client.model.window import Window, header, key_bar, message

GOLDEN = Path(__file__).parent / "layouts"
NAMES = ("tom", "ada", "you", "mei", "grete", "bot-7", "ivo", "zoe")
SEED = parse_seed("layouts").value
PLAYED = {"sally": 70, "acey-and-kingsley": 60, "lanes": 34, "single-left": 41}


def players(count: int, best: int, moves: int) -> tuple[PlayerView, ...]:
    """Players of a race that is well under way; the third, or the last, is the own one."""
    statuses = {0: Status.BANKED}
    return tuple(
        PlayerView(
            seat=seat,
            name=name,
            bot=name.startswith("bot"),
            present=name != "ivo",
            status=statuses.get(seat, Status.PLAYING),
            home=max(0, best + 6 - 2 * seat),
            best=max(0, best + 6 - 2 * seat + (seat == 4) * 2),
            opened=seat,
            moves=moves + seat,
            t_ms=1000 * seat,
            series=0,
        )
        for seat, name in enumerate(NAMES[:count], start=1)
    )


def playing(game_id: str, count: int, *, is_daily: bool = False) -> PlayModel:
    """A race some moves on, as the greedy bot plays it."""
    rules = game(game_id)
    full, view = Table.deal(rules, SEED), Table.deal(rules, SEED).view()
    options = RaceOptions(seats=max(2, count))
    run, chooser, log = Run(full, options.undo), Greedy(1), []
    for seq in range(1, PLAYED[game_id] + 1):
        move = chooser.choose(full.view())
        if move is None:
            break
        step = run.play(move, 1000 * seq)
        log.append(say.LogEntry(seq=seq, t_ms=1000 * seq, move=str(move), reveals=step.reveals))
    own = min(3, count)
    race = RaceView(
        id="r" * 16,
        code="K7QX9",
        game=game_id,
        rules_version=rules.version,
        commitment="0" * 64,
        practice=False,
        options=options,
        phase=Phase.RUNNING,
        ver=1,
        round=1,
        host=1,
        players=players(count, run.best, run.moves),
        clock_ms=0,
        deadline_ms=900_000,
        day=DayTag(number=142, date="2026-05-22", label="certified") if is_daily else None,
    )
    seated = say.Seated(
        id=0,
        race=race,
        seat=own,
        seq=run.seq,
        hash=run.table.hash,
        board=BoardView(piles=tuple(view.piles()), base=view.base, passes=view.passes),
        log=tuple(log),
    )
    play = PlayModel(RaceModel(seated, itertools.count(1).__next__), Keys().name)
    play.link_ms = 34.0
    return play


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
    lines += ["─" * width, text_of(message(play, faces))]
    lines += [text_of(key_bar(play.table.rules, Keys(), width))]
    assert len(lines) == height
    assert all(cells(line) <= width for line in lines)
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.parametrize("name", list(LAYOUTS))
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_the_layout_is_the_one_that_was_looked_at(name: str, width: int, height: int) -> None:
    game_id, count, is_daily = LAYOUTS[name]
    play = playing(game_id, count, is_daily=is_daily)
    play.press("1", Keys().action("1"), Window(width, height).board(play, Faces()), 1.0)
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
