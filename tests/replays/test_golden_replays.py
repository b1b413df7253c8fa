"""Files of races that were really played still verify, and end where they ended."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from samedeal.engine.games import GAMES
from samedeal_client.replays import BadReplay, Replay

FILES = Path(__file__).parent / "files"
ENDED = defaultdict(list)
for row in (FILES / "expected.tsv").read_text("utf-8").splitlines()[1:]:
    name, *numbers = row.split("\t")
    ENDED[name].append(tuple(map(int, numbers)))


@pytest.mark.parametrize("name", ENDED)
def test_an_old_file_verifies_and_ends_where_it_ended(name: str) -> None:
    tracks = Replay.load(FILES / name).tracks
    assert [
        (t.player.seat, t.standing.place, t.last, t.standing.best, t.frames[-1].hash)
        for t in tracks
    ] == ENDED[name]


def test_every_file_is_expected_and_every_game_has_one() -> None:
    assert {path.name for path in FILES.glob("*.jsonl")} == set(ENDED)
    assert {Replay.load(FILES / name).file.game for name in ENDED} == set(GAMES)


def test_the_files_hold_every_way_a_run_can_go() -> None:
    replays = [Replay.load(FILES / name) for name in ENDED]
    actions = [frame for r in replays for t in r.tracks for frame in t.frames]
    assert any(str(frame.action) == "undo" for frame in actions)
    assert any(frame.automatic for frame in actions)
    assert any(t.standing.won for r in replays for t in r.tracks)
    places = [[t.standing.place for t in r.tracks] for r in replays]
    assert any(len(set(taken)) < len(taken) for taken in places)
    assert {str(r.file.options["undo"]) for r in replays} == {"safe", "none", "free"}
    assert any(r.file.is_practice for r in replays)
    assert any(r.file.options["ranked"] for r in replays)
    assert any(p.is_bot for r in replays for p in r.file.players)
    assert max(len(r.file.players) for r in replays) == 8


@pytest.mark.parametrize("name", ENDED)
def test_an_altered_file_is_refused_with_the_line(name: str) -> None:
    lines = (FILES / name).read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    lines[middle] = lines[middle].replace(b'"t_ms":', b'"t_ms":1')
    with pytest.raises(BadReplay, match=f"line {middle + 1}: ") as caught:
        Replay.verify(lines)
    assert caught.value.line_number == middle + 1


def test_a_file_of_a_newer_release_gets_one_sentence() -> None:
    (head, *rest) = (FILES / "lanes.jsonl").read_bytes().splitlines(keepends=True)
    newer = head.replace(b'"version":1,', b'"version":2,"tempo":3,')
    with pytest.raises(BadReplay, match=r"line 1: it is of format version 2; this program knows"):
        Replay.verify([newer, *rest])
