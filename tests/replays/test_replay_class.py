"""Replay: loading, verifying and going through a file without a server."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from samedeal.engine.cards import HIDDEN
from samedeal.engine.run import UNDO
from samedeal_client.replays import BadReplay, Replay
from samedeal_client.replays.track import actions_of, fresh_run

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("name", ["single-left-won", "acey-and-kingsley", "klondike"])
def test_every_frame_is_the_position_that_playing_gives(name: str) -> None:
    replay = Replay.load(FILES / f"{name}.jsonl")
    for track in replay.tracks:
        run = fresh_run(replay.file)
        assert track.frames[0].hash == run.table.hash
        for entry in actions_of(replay.file, track.player.seat):
            run.act(entry.action, entry.t_ms)
            frame = track.frames[entry.seq]
            assert (frame.hash, frame.home, frame.best) == (run.table.hash, run.home, run.best)
            assert frame.piles == tuple(
                bytes(HIDDEN for _ in range(hidden)) + bytes(cards)
                for hidden, cards in run.table.piles()
            )
            seen = track.table(entry.seq)
            assert (str(seen), seen.hash) == (str(run.table.view()), frame.hash)


def test_iterating_gives_every_action_in_the_order_of_the_file() -> None:
    replay = Replay.load(FILES / "klondike.jsonl")
    assert [
        (moment.track.player.seat, moment.frame.seq, moment.frame.t_ms, moment.frame.action)
        for moment in replay
    ] == [(e.seat, e.seq, e.t_ms, e.action) for e in replay.file.actions]
    assert any(moment.frame.action is UNDO for moment in replay)


def test_tracks_stand_by_place() -> None:
    places = [t.standing.place for t in Replay.load(FILES / "eight-seats.jsonl").tracks]
    assert places == [1, 2, 3, 4, 5, 6, 7, 7]


def test_the_last_action_at_a_time_is_found() -> None:
    track = Replay.load(FILES / "lanes.jsonl").tracks[0]
    first, second = track.frames[1], track.frames[2]
    assert track.seq_at(first.t_ms - 1) == 0
    assert track.seq_at(first.t_ms) == 1
    assert track.seq_at(second.t_ms - 1) == 1
    assert track.seq_at(10**9) == track.last


def test_the_text_is_the_file() -> None:
    path = FILES / "lanes.jsonl"
    assert Replay.load(path).text == path.read_text("utf-8")
    assert Replay.read(io.BytesIO(path.read_bytes())).text == path.read_text("utf-8")


def test_what_is_no_file_gets_a_sentence_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadReplay, match=r"gone\.jsonl: No such file"):
        Replay.load(tmp_path / "gone.jsonl")
    with pytest.raises(BadReplay, match="Is a directory"):
        Replay.load(tmp_path)


def test_an_endless_file_is_read_no_further_than_its_first_wrong_line() -> None:
    with pytest.raises(BadReplay, match="line 1: this is not a samedeal replay file"):
        Replay.load("/dev/zero")
