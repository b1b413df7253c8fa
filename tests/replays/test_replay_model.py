"""The replay player's model: stepping, seeking, playing, comparing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from samedeal_client.errors import ClientError
from samedeal_client.replays import Alignment, Replay, ReplayModel
from samedeal_client.replays.compare import next_difference, parting

FILES = Path(__file__).parent / "files"


def model_of(name: str, alignment: Alignment = Alignment.TIME) -> ReplayModel:
    return ReplayModel(Replay.load(FILES / f"{name}.jsonl").tracks, alignment=alignment)


def seqs(model: ReplayModel) -> list[int]:
    return [model.seq(index) for index in range(len(model.tracks))]


def test_it_begins_at_the_deal_and_ends_with_every_action_done() -> None:
    model = model_of("klondike")
    assert (model.at, seqs(model), model.last) == (0, [0, 0, 0], None)
    assert model.step(model.end)
    assert seqs(model) == [track.last for track in model.tracks]
    assert not model.step()


def test_stepping_follows_the_file_and_back_again() -> None:
    replay = Replay.load(FILES / "klondike.jsonl")
    model = ReplayModel(replay.tracks)
    seen = []
    while model.step():
        assert model.last is not None
        track, frame = model.last
        seen.append((frame.t_ms, frame.seq, track.player.seat))
    assert sorted(seen) == sorted((e.t_ms, e.seq, e.seat) for e in replay.file.actions)
    assert [t for t, _, _ in seen] == sorted(t for t, _, _ in seen)
    hashes = [frame.hash for frame in model.frames]
    assert model.step(-5)
    assert model.step(5)
    assert [frame.hash for frame in model.frames] == hashes


@pytest.mark.parametrize("alignment", Alignment)
def test_a_seek_shows_what_stepping_there_shows(alignment: Alignment) -> None:
    stepped, sought = model_of("lanes", alignment), model_of("lanes", alignment)
    shown = {0: (seqs(stepped), stepped.t_ms)}
    while stepped.step():
        shown[stepped.at] = (seqs(stepped), stepped.t_ms)
    rng = random.Random(4)
    for _ in range(50):
        seq = rng.randint(0, sought.focused.last)
        sought.seek(seq)
        assert sought.seq(sought.focus) == seq
        assert (seqs(sought), sought.t_ms) == shown[sought.at]


def test_a_seek_beyond_the_ends_stays_within() -> None:
    model = model_of("lanes")
    model.seek(10**6)
    assert model.seq(0) == model.tracks[0].last
    model.seek_time(10**9)
    assert (model.at, model.t_ms) == (model.end, model.end_ms)
    model.seek_time(-5)
    assert (model.at, model.t_ms) == (0, 0)


def test_a_time_shows_every_run_at_that_time() -> None:
    model = model_of("klondike")
    model.seek_time(300)
    assert seqs(model) == [track.seq_at(300) for track in model.tracks]
    assert all(frame.t_ms <= 300 for frame in model.frames)


def test_by_action_the_runs_stand_at_the_same_number() -> None:
    model = model_of("klondike", Alignment.ACTION)
    model.seek(40)
    model.step(2)
    assert seqs(model) == [40, 40, 40]


def test_playing_takes_as_long_as_the_race_did_at_its_speed() -> None:
    model = model_of("lanes")
    model.play()
    model.advance(100)
    assert model.t_ms == 100
    assert model.at == sum(track.seq_at(100) for track in model.tracks)
    model.faster()
    model.advance(100)
    assert model.t_ms == 300
    model.slower()
    model.slower()
    model.advance(100)
    assert model.t_ms == 350


def test_the_next_action_comes_when_it_is_due() -> None:
    model = model_of("lanes")
    assert model.next_after_ms() is None
    model.play()
    model.speed = 2.0
    due_ms = model.next_after_ms()
    assert due_ms is not None
    assert not model.advance(due_ms - 0.5)
    assert model.advance(0.5)


@pytest.mark.parametrize("alignment", Alignment)
def test_at_the_end_it_pauses_and_play_begins_anew(alignment: Alignment) -> None:
    model = model_of("lanes", alignment)
    model.play()
    for _ in range(10):
        model.advance(1000)
    assert not model.is_playing
    model.step(model.end)
    model.play()
    assert (model.at, model.is_playing) == (0, True)


def test_paused_no_time_goes_by() -> None:
    model = model_of("lanes")
    assert not model.advance(10_000)
    assert model.t_ms == 0


def test_changing_the_alignment_keeps_the_focused_run_where_it_is() -> None:
    model = model_of("klondike")
    model.turn_focus(2)
    model.seek(30)
    model.align(Alignment.ACTION)
    assert model.seq(2) == 30
    model.align(Alignment.TIME)
    assert model.seq(2) == 30


def test_the_first_difference_is_the_first_board_not_shared() -> None:
    model = model_of("klondike")
    assert model.next_difference()
    one, other = model.tracks[:2]
    seq = model.seq(0)
    assert model.seq(1) == seq
    assert one.frames[seq].hash != other.frames[seq].hash
    for shared in range(seq):
        assert one.frames[shared].hash == other.frames[shared].hash


def test_differences_are_gone_through_until_none_is_left() -> None:
    one, other = Replay.load(FILES / "lanes.jsonl").tracks
    found, after = [], 0
    while (seq := next_difference(one, other, after)) is not None:
        found.append(seq)
        after = seq
    model, reached = ReplayModel((one, other)), []
    while model.next_difference():
        reached.append(model.seq(0))
    assert found == reached != []


def test_a_run_does_not_differ_from_itself() -> None:
    (track, *_) = Replay.load(FILES / "lanes.jsonl").tracks
    assert next_difference(track, track) is None
    assert parting(track, track) is None
    assert not ReplayModel([track, track]).next_difference()


def test_a_longer_run_differs_from_a_shorter_one_after_its_end() -> None:
    idle, played = (Replay.load(FILES / "eight-seats.jsonl").tracks[n] for n in (7, 0))
    assert idle.last == 0
    assert next_difference(idle, played) == 1


def test_home_counts_part_for_good_where_one_stays_ahead() -> None:
    one, other = Replay.load(FILES / "single-left-won.jsonl").tracks
    apart = parting(one, other)
    assert apart is not None
    assert apart.ahead is one

    def homes(t_ms: int) -> tuple[int, int]:
        return one.frames[one.seq_at(t_ms)].home, other.frames[other.seq_at(t_ms)].home

    assert homes(apart.t_ms) == (apart.home_ahead, apart.home_behind)
    before = homes(apart.t_ms - 1)
    assert before[0] <= before[1]
    for t_ms in range(apart.t_ms, one.end_ms + 1):
        ahead, behind = homes(t_ms)
        assert ahead > behind


def test_players_of_one_name_are_told_apart() -> None:
    (track, *_) = Replay.load(FILES / "lanes.jsonl").tracks
    assert [t.name for t in ReplayModel([track, track]).tracks] == ["Zoë #1", "Zoë #2"]


def test_runs_of_different_deals_are_refused() -> None:
    tracks = [Replay.load(FILES / f"{name}.jsonl").tracks[0] for name in ("lanes", "klondike")]
    with pytest.raises(ClientError, match="not runs of one deal"):
        ReplayModel(tracks)
