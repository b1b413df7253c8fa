"""Races that are well under way, the same each time: for layouts and the picture of the README."""

import itertools

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
from samedeal_client.model.keys import Keys
from samedeal_client.model.play import PlayModel

__all__ = ["PLAYED", "playing"]

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


def playing(
    game_id: str, count: int, *, is_daily: bool = False, is_fresh: bool = False
) -> PlayModel:
    """A race some moves on, as the greedy bot plays it, or as dealt."""
    rules = game(game_id)
    full, view = Table.deal(rules, SEED), Table.deal(rules, SEED).view()
    options = RaceOptions(seats=max(2, count))
    run, chooser, log = Run(full, options.undo), Greedy(1), []
    for seq in range(1, 1 if is_fresh else PLAYED[game_id] + 1):
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
    play = PlayModel(RaceModel(seated, itertools.count(1).__next__), Keys())
    play.link_ms = 34.0
    return play
