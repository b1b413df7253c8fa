"""The replay screen's keys: steps are those of the run that leads, all boards at one instant."""

from __future__ import annotations

from pathlib import Path

from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Action, Keys, Section
from samedeal_client.model.review import press, review_rows
from samedeal_client.replays import Replay, ReplayModel

FILES = Path(__file__).parent / "files"
KEYS = Keys().on(Section.REPLAY)


def opened() -> ReplayModel:
    return ReplayModel(Replay.load(FILES / "klondike.jsonl").tracks)


def seqs(model: ReplayModel) -> list[int]:
    return [model.seq(index) for index in range(len(model.tracks))]


def test_a_step_is_the_next_move_of_the_run_that_leads_and_all_show_its_instant() -> None:
    model = opened()
    for count in range(1, model.focused.last + 1):
        assert press(model, Action.RIGHT, KEYS) == ""
        assert model.seq(model.focus) == count
        assert model.t_ms == model.focused.frames[count].t_ms
        for track, seq in zip(model.tracks, seqs(model), strict=True):
            later = track.frames[seq + 1 :]
            assert track.frames[seq].t_ms <= model.t_ms
            assert all(frame.t_ms >= model.t_ms for frame in later)
    press(model, Action.LEFT, KEYS)
    assert model.seq(model.focus) == model.focused.last - 1


def test_another_run_leads_after_the_key_and_the_instant_stays() -> None:
    model = opened()
    for _ in range(5):
        press(model, Action.RIGHT, KEYS)
    first, before = model.focus, seqs(model)
    press(model, Action.NEXT_BOARD, KEYS)
    assert (model.focus != first, seqs(model)) == (True, before)
    press(model, Action.RIGHT, KEYS)
    assert model.seq(model.focus) == before[model.focus] + 1
    rows = [text_of(row) for row in review_rows(model, Faces(True), KEYS, 80, 24)]
    assert f"action {model.seq(model.focus)} of {model.focused.last}" in rows[0]
    assert all(hint in rows[-1] for hint in ("SPC play", "d diff", "G race", "0 deal", "Q back"))


def test_after_its_last_move_a_run_leads_nowhere_and_nothing_goes_back() -> None:
    model = opened()
    model.focus = min(range(len(model.tracks)), key=lambda at: model.tracks[at].end_ms)
    press(model, Action.END, KEYS)
    assert model.at == model.end > 0
    told = press(model, Action.RIGHT, KEYS)
    assert told is not None
    assert "makes no more moves" in told
    assert model.at == model.end
