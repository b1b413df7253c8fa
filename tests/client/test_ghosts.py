"""Ghosts: recorded runs at a time of the race, and the order at the end."""

from __future__ import annotations

from pathlib import Path

from samedeal.engine.scoring import Outcome
from samedeal_client.ghosts import Ghosts
from samedeal_client.replays import Replay, ReplayModel

FILES = Path(__file__).parents[1] / "replays" / "files"
WON = Replay.load(FILES / "single-left-won.jsonl")
KLONDIKE = Replay.load(FILES / "klondike.jsonl")


def outcome(*, best: int, won_ms: int = 0, moves: int = 50) -> Outcome:
    return Outcome(
        seat=1,
        has_moved=moves > 0,
        has_won=won_ms > 0,
        t_ms=won_ms,
        moves=moves,
        best=best,
        opened=0,
        t_best_ms=5,
        m_best=3,
    )


def test_ghosts_stand_where_the_runs_stood_at_that_time() -> None:
    ghosts, (one, other) = Ghosts(WON.tracks), WON.tracks
    for t_ms in range(0, one.end_ms + 50, 20):
        shown = {ghost.name: ghost for ghost in ghosts.at(t_ms)}
        for track in (one, other):
            frame = track.frames[track.seq_at(t_ms)]
            ghost = shown[f"ghost of {track.name}"]
            assert (ghost.home, ghost.best, ghost.moves) == (frame.home, frame.best, frame.seq)
            assert ghost.is_done == (t_ms >= track.end_ms)
            assert ghost.won == (t_ms >= track.end_ms and track is one)


def test_before_go_nothing_is_done() -> None:
    assert {ghost.moves for ghost in Ghosts(WON.tracks).at(-3000)} == {0}


def test_every_ghost_is_marked_and_told_apart() -> None:
    tracks = ReplayModel([WON.tracks[0], WON.tracks[0], KLONDIKE.tracks[0]][:2]).tracks
    assert Ghosts(tracks).names == ("ghost of ada #1", "ghost of ada #2")
    assert Ghosts(KLONDIKE.tracks).names[0] == "ghost of bot-7 (bot)"


def test_each_end_comes_once_and_in_order() -> None:
    ghosts, ends, t_ms = Ghosts(KLONDIKE.tracks), [], -1
    while (end_ms := ghosts.next_end_ms(t_ms)) is not None:
        ends += [(end_ms, ghost.name) for ghost in ghosts.ended_at(end_ms)]
        t_ms = end_ms
    by_end = sorted((track.end_ms, f"ghost of {track.name}") for track in KLONDIKE.tracks)
    assert ends == by_end


def places(name: str, own: Outcome) -> list[tuple[int, str, bool]]:
    rows = Ghosts(WON.tracks).compared(name, own)
    return [(row.place, row.name, row.is_ghost) for row in rows]


def test_the_live_run_is_ranked_among_them_by_the_order_of_a_race() -> None:
    won_ms = WON.tracks[0].standing.t_ms
    ada, ivo = (1, "ghost of ada", True), (2, "ghost of ivo", True)
    assert places("eva", outcome(best=52, won_ms=won_ms - 10))[0] == (1, "eva", False)
    assert places("eva", outcome(best=52, won_ms=won_ms + 10)) == [
        ada,
        (2, "eva", False),
        (3, *ivo[1:]),
    ]
    assert places("eva", outcome(best=3)) == [ada, ivo, (3, "eva", False)]
    assert places("eva", outcome(best=0, moves=0)) == [ada, ivo, (3, "eva", False)]


def test_an_equal_run_shares_the_place_with_its_ghost() -> None:
    row = WON.tracks[0].standing
    equal = outcome(best=row.best, won_ms=row.t_ms, moves=row.moves)
    assert {place for place, name, _ in places("eva", equal) if name != "ghost of ivo"} == {1}
