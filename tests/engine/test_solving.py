"""The search agrees with going through every position without a thought, and keeps its budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from samedeal.engine.games import game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.solving import Dead, Unknown, Won, is_a_win, search
from samedeal.engine.table import Table
from samedeal_client.replays import Replay
from samedeal_client.replays.track import actions_of, fresh_run

FILES = Path(__file__).parents[1] / "replays" / "files"


def wins(table: Table, most: int = 3000) -> bool | None:
    """Whether a win is left, by the text of every position; None if there are too many."""
    seen, todo = {str(table)}, [str(table)]
    while todo:
        text = todo.pop()
        for move in Table.parse(table.rules, text).legal_moves:
            then = Table.parse(table.rules, text)
            then.push(move)
            if then.is_won:
                return True
            if (position := str(then)) not in seen:
                seen.add(position)
                todo.append(position)
        if len(seen) > most:
            return None
    return False


def late_positions(name: str, seat: int, backs: range) -> list[Table]:
    """The positions so many actions before the end of a run."""
    file = Replay.load(FILES / f"{name}.jsonl").file
    entries = list(actions_of(file, seat))
    tables = []
    for back in backs:
        run = fresh_run(file)
        for entry in entries[: len(entries) - back]:
            run.act(entry.action, entry.t_ms)
        tables.append(Table.parse(run.table.rules, str(run.table)))
    return tables


@pytest.mark.parametrize(
    ("name", "seat"),
    [
        ("single-left-stuck", 1),
        ("single-left-stuck", 2),
        ("lanes", 1),
        ("lanes", 2),
    ],
)
def test_the_search_finds_what_brute_force_finds(name: str, seat: int) -> None:
    decided = 0
    for table in late_positions(name, seat, range(0, 14, 2)):
        expected = wins(table, 400)
        if expected is None:
            continue
        decided += 1
        before = str(table)
        verdict = search(table, nodes=20_000)
        assert isinstance(verdict, Won if expected else Dead), before
        assert str(table) == before
    assert decided >= 3


def test_its_moves_win() -> None:
    for table in late_positions("single-left-won", 1, range(0, 20, 3)):
        verdict = search(table, nodes=5000)
        assert isinstance(verdict, Won)
        assert is_a_win(table, verdict.moves)


def test_it_never_looks_at_more_than_its_budget() -> None:
    table = Table.deal(game("klondike"), bytes(32))
    before = str(table)
    verdict = search(table, nodes=50)
    assert verdict == Unknown(50)
    assert str(table) == before
    assert search(table, nodes=50) == verdict


def test_a_view_cannot_be_searched() -> None:
    with pytest.raises(ValueError, match="hidden cards"):
        search(Table.deal(game("klondike"), bytes(32)).view(), nodes=1)


def test_moves_that_do_not_win_or_are_illegal_are_no_win() -> None:
    table = Table.deal(game("klondike"), bytes(32))
    before = str(table)
    assert not is_a_win(table, (DRAW,))
    assert not is_a_win(table, (DRAW, Move("F1", "F2")))
    assert str(table) == before
