"""Where a win was lost: the move is named if a solver can tell, and nothing is claimed if not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from samedeal.engine.moves import DRAW, Move
from samedeal.engine.replay import Header, LogEntry, Verified, compose, standings
from samedeal.engine.solving import Dead, Solve, Unknown, Verdict, Won, search
from samedeal.engine.table import Table
from samedeal_client.replays import Replay
from samedeal_client.replays.lost import Lost, LostAtDeal, Never, Undecided, where_lost
from samedeal_client.replays.track import actions_of, fresh_run
from support import run_cli

FILES = Path(__file__).parent / "files"
KLONDIKE = Replay.load(FILES / "klondike.jsonl").file
LANES = Replay.load(FILES / "lanes.jsonl").file


def by_depth(judge: Callable[[int], Verdict]) -> Solve:
    """A solver that goes by the number of moves that were made."""

    def solve(table: Table, *, nodes: int) -> Verdict:
        return judge(len(table.history))

    return solve


def standing_moves(seat: int) -> list[tuple[int, Move]]:
    """What stood at the end of a run of lanes, with the numbers of the actions."""
    run, seqs = fresh_run(LANES), []
    for entry in actions_of(LANES, seat):
        step = run.act(entry.action, entry.t_ms)
        if isinstance(entry.action, Move):
            seqs.append((entry.seq, step.move))
        else:
            seqs.pop()
    return seqs


def squandered() -> Verified:
    """Single Left, played well for a while; then the stock, which can be seen once, is wasted."""
    good = Replay.load(FILES / "single-left-won.jsonl").file
    fields = {key: getattr(good, key) for key in Header.__dataclass_fields__}
    header = Header(**{**fields, "players": good.players[:1]})
    entries = list(actions_of(good, 1))[:24]
    run = fresh_run(good)
    for entry in entries:
        run.act(entry.action, entry.t_ms)
    while DRAW in run.table.legal_moves:
        run.act(DRAW, run.t_last_ms + 10)
        entries.append(LogEntry(1, run.seq, run.t_last_ms, DRAW))
    return Replay.verify(compose(header, entries, standings({1: run}))).file


def test_the_move_that_lost_the_win_is_named_and_a_solver_agrees() -> None:
    file = squandered()
    found = where_lost(file, 1)
    assert isinstance(found, Lost)
    assert found.is_exact
    run = fresh_run(file)
    for entry in actions_of(file, 1):
        if entry.seq == found.seq:
            assert isinstance(search(run.table, nodes=20_000), Won)
            assert (entry.action, found.could_win) == (found.move, found.seq - 1)
        run.act(entry.action, entry.t_ms)
        if entry.seq == found.seq:
            assert isinstance(search(run.table, nodes=20_000), Dead)


def test_a_won_run_lost_nothing_without_asking_a_solver() -> None:
    def solve(table: Table, *, nodes: int) -> Verdict:
        raise AssertionError

    assert where_lost(KLONDIKE, 2, solve=solve) == Never(won=True)


def test_a_run_that_gave_up_too_early_could_still_have_won() -> None:
    assert where_lost(KLONDIKE, 3, nodes=5000) == Never(won=False)


@pytest.mark.parametrize("lost_at", [1, 2, 7, 20, 30])
def test_the_exact_move_is_found_among_those_that_stood(lost_at: int) -> None:
    line = standing_moves(1)
    assert len(line) < len(list(actions_of(LANES, 1))), "nothing was taken back"
    asked = []

    def solve(table: Table, *, nodes: int) -> Verdict:
        asked.append(len(table.history))
        if len(table.history) >= lost_at:
            return Dead(1)
        return search_back(table)

    def search_back(table: Table) -> Verdict:
        # The engine has to play it; a win of this deal is not at hand, so it is not believed.
        return Won(())

    found = where_lost(LANES, 1, solve=solve)
    seq, move = line[lost_at - 1]
    assert found == Lost(seq=seq, move=move, could_win=None, is_exact=False)
    assert len(asked) <= 14


def test_what_cannot_be_decided_is_not_claimed() -> None:
    assert where_lost(LANES, 1, solve=by_depth(lambda _: Unknown(9))) == Undecided()
    assert where_lost(LANES, 1, nodes=1) == Undecided()
    line = standing_moves(1)
    found = where_lost(LANES, 1, solve=by_depth(lambda n: Dead(1) if n >= 9 else Unknown(9)))
    assert found == Lost(seq=line[8][0], move=line[8][1], could_win=None, is_exact=False)


def test_a_dead_deal_is_named_as_such() -> None:
    assert where_lost(LANES, 1, solve=by_depth(lambda _: Dead(1))) == LostAtDeal()


def test_the_command_line_says_it_for_each_player(tmp_path: Path) -> None:
    path = tmp_path / "race.jsonl"
    file = squandered()
    path.write_text("".join(compose(file, file.actions, file.order)), "utf-8")
    found = where_lost(file, 1)
    assert isinstance(found, Lost)
    code, out, err = run_cli("replay", str(path), "--lost")
    assert (code, err) == (0, "")
    assert out == (
        f"ada: action {found.seq}, {found.move}, lost the win: before it there was one, "
        "after it none\n"
    )
    code, out, _ = run_cli("replay", str(path), "--lost", "--json")
    told = json.loads(out)
    assert (told["verdict"], told["seq"], told["exact"]) == ("lost", found.seq, True)
    code, out, _ = run_cli("replay", str(FILES / "klondike.jsonl"), "--lost", "--positions", "2000")
    undecided = "whether a win was left at the end could not be decided within 2000 positions"
    assert out.splitlines() == [
        "bot-7 (bot): won",
        f"ada: {undecided}",
        "eva: a win was still there at the end",
    ]
