"""A replay file whose seed is not public yet: what can be checked of it, and what then."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from samedeal.engine.deals import commitment
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.replay import (
    Header,
    LogEntry,
    Player,
    ReplayError,
    compose,
    standings,
    verify,
)
from samedeal.engine.run import Run, UndoPolicy
from samedeal.engine.table import Table

SEED = bytes(range(32))
HEADER = Header(
    game="lanes", rules_version=1, seed="", commitment=commitment(game("lanes"), SEED),
    race="0123456789abcdef", code="ABCDE", is_practice=False,
    options={"ranked": True, "time_limit_s": 60, "undo": "safe"},
    players=(Player(1, "ada", False),), started="2026-11-30T12:00:00Z",
)  # fmt: skip


def written(*moves: str, header: Header = HEADER, moves_said: int | None = None) -> list[str]:
    run = Run(Table.deal(game("lanes"), SEED), UndoPolicy.SAFE)
    actions = []
    for seq, text in enumerate(moves, start=1):
        move = Move.parse(text)
        if run.table.refusal(move) is None:
            run.act(move, seq * 1000)
        actions.append(LogEntry(1, seq, seq * 1000, move))
    (row,) = standings({1: run})
    said = len(moves) if moves_said is None else moves_said
    return compose(header, actions, [replace(row, moves=said)])


def test_a_sealed_file_holds_no_seed_and_is_checked_as_far_as_it_goes() -> None:
    lines = written("draw", "draw")
    assert json.loads(lines[0])["seed"] is None
    checked = verify(lines)
    assert checked.is_sealed
    assert [str(entry.action) for entry in checked.actions] == ["draw", "draw"]
    assert checked.order[0].moves == 2


def test_a_sealed_file_is_played_again_once_its_seed_is_there() -> None:
    lines = written("draw", "draw")
    checked = verify(lines, seed=SEED.hex())
    assert (checked.is_sealed, checked.seed) == (False, SEED.hex())
    with pytest.raises(ReplayError, match="line 1: the commitment was made to another deal"):
        verify(lines, seed="ab" * 32)
    illegal = written("draw", "T1:9>T2")
    assert verify(illegal).is_sealed
    with pytest.raises(ReplayError, match="line 3: seat 1 may not do this"):
        verify(illegal, seed=SEED.hex())


def test_what_is_wrong_with_a_sealed_file_is_found_without_its_seed() -> None:
    lines = written("draw", "draw")
    with pytest.raises(ReplayError, match=r"line 2: its check should be"):
        verify([lines[0], lines[1].replace("1000", "1001"), *lines[2:]])
    with pytest.raises(ReplayError, match="line 4: the order must have a row for each player"):
        verify(written("draw", "draw", moves_said=3))
    with pytest.raises(ReplayError, match="line 62: it comes after the time limit of 60 s"):
        verify(written(*["draw"] * 61))
    unsaid = compose(HEADER, [], [])
    with pytest.raises(ReplayError, match="line 2: the order must have a row for each player"):
        verify(unsaid)


def test_a_seed_that_is_handed_in_changes_nothing_about_an_open_file() -> None:
    lines = written("draw", header=replace(HEADER, seed=SEED.hex()))
    assert verify(lines, seed="ab" * 32).seed == SEED.hex()
