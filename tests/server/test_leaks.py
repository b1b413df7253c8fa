"""Promise 2, piece by piece: the seed in views, and refusals over other hidden cards."""

from __future__ import annotations

import random

import pytest

from samedeal.engine.errors import IllegalMove
from samedeal.engine.games import GAMES
from samedeal.engine.moves import Move
from samedeal.engine.run import Run, UndoPolicy
from samedeal.engine.table import Table
from samedeal.protocol.fields import Phase, RaceOptions
from samedeal_server.race import RaceState, SeatState


def state(game: str, seed: bytes, phase: Phase) -> RaceState:
    seats = {1: SeatState(seat=1, player="a" * 16, name="ada", bot=False)}
    return RaceState(
        id="a" * 16, code="ABCDE", game=game, rules_version=1, seed=seed, commitment="0" * 64,
        practice=False, options=RaceOptions(), phase=phase, ver=1, round=1, host=1, seats=seats,
        now_ms=1000, go_at_ms=1000, deadline_at_ms=9000,
    )  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_p27_the_seed_is_in_the_view_only_after_the_close(game: str) -> None:
    seed = random.Random(game).randbytes(32)
    for phase in Phase:
        view = state(game, seed, phase).view()
        assert (view.seed == seed.hex()) == (phase is Phase.CLOSED)
        assert (view.seed is None) == (phase is not Phase.CLOSED)
    assert seed.hex() not in repr(state(game, seed, Phase.RUNNING))


def other_hidden_cards(table: Table) -> Table:
    """The same visible table over other hidden cards: they change places among each other."""
    text = str(table)
    head, _, stock = text.partition("; S=")
    stock, semicolon, rest = stock.partition(";")
    cards = stock.split(",")
    random.Random(1).shuffle(cards)
    return Table.parse(table.rules, f"{head}; S={','.join(cards)}{semicolon}{rest}")


@pytest.mark.parametrize("game", GAMES)
def test_p29_refusals_and_legal_moves_follow_from_visible_cards(game: str) -> None:
    table = Table.deal(GAMES[game], bytes(range(32)))
    runs = [Run(t, UndoPolicy.SAFE) for t in (table, other_hidden_cards(table))]
    names = [name for name, _ in table.rules.piles]
    for source in names:
        for target in names:
            for count in (1, 2, 3):
                answers = set()
                for run in runs:
                    try:
                        run.check(Move(source, target, count))
                        answers.add("legal")
                    except IllegalMove as error:
                        answers.add(str(error))
                assert len(answers) == 1, (source, target, count)
    assert runs[0].is_known_stuck == runs[1].is_known_stuck
