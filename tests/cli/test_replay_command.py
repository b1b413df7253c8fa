"""`samedeal replay`: in a pipe, as JSON, and on a terminal with keys."""

from __future__ import annotations

import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

import pytest

from samedeal_client.cli.player import TextPlayer, split_keys
from samedeal_client.replays import Replay, ReplayModel
from support import PATIENCE_S, run_cli

FILES = Path(__file__).parents[1] / "replays" / "files"
LANES, KLONDIKE = str(FILES / "lanes.jsonl"), str(FILES / "klondike.jsonl")


def text_player(path: str = LANES, *, is_side: bool = False) -> TextPlayer:
    return TextPlayer(ReplayModel(Replay.load(path).tracks), is_side=is_side)


def press(player: TextPlayer, *keys: str) -> None:
    for key in keys:
        player.press(key)


# In a pipe


def test_a_pipe_gets_a_line_for_each_action_and_the_order() -> None:
    code, out, err = run_cli("replay", LANES)
    head, *actions = out.splitlines()
    assert (code, err) == (0, "")
    assert head == "lanes, race Q4SSW, Zoë, ada: verified, 104 actions"
    assert actions[0] == "0:00.00 Zoë 1: T4>F3. home 1, best 1"
    assert len(actions) == 104 + 2 + 2
    assert actions[-2:] == ["1. Zoë: best 6, 45 moves", "2. ada: best 6, 59 moves"]


def test_two_runs_are_compared() -> None:
    code, out, _ = run_cli("replay", str(FILES / "single-left-won.jsonl"))
    assert code == 0
    assert "boards: first differ at action 5, ada plays T5>T4 and ivo plays draw\n" in out
    assert "cards home: ada ahead for good from 0:00.42, 12 to 11\n" in out


def test_runs_of_several_files_go_side_by_side() -> None:
    code, out, _ = run_cli("replay", LANES, LANES, "--seat", "1", "--at", "3")
    assert code == 0
    assert "ada #1, after action 3" in out
    assert "ada #2, after action 2" in out
    assert "boards: the same after every action\ncards home: equal at the end\n" in out


def test_one_seat_from_one_point_on() -> None:
    code, out, _ = run_cli("replay", KLONDIKE, "--seat", "3", "--at", "55")
    assert code == 0
    lines = out.splitlines()
    assert lines[1].strip() == "eva, after action 55"
    actions = [line for line in lines if line.startswith("0:")]
    assert [line.split()[2] for line in actions] == ["56:", "57:", "58:", "59:", "60:"]


def test_json_gives_one_object_a_line() -> None:
    code, out, _ = run_cli("replay", LANES, "--json", "--side", "--at", "0:00.1")
    said = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    kinds = [line["type"] for line in said]
    assert kinds[:3] == ["replay", "board", "board"]
    assert kinds[-3:] == ["compared", "result", "result"]
    actions = [line for line in said if line["type"] == "action"]
    assert min(line["t_ms"] for line in actions) > 100
    assert actions[-1]["hash"] > 0


def test_a_replay_can_come_from_standard_input_and_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    text = Path(LANES).read_text("utf-8")
    code, _, _ = run_cli("replay", "-", "--save", str(path), stdin=text)
    assert code == 0
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gone.jsonl"], "gone.jsonl: No such file or directory"),
        ([LANES, KLONDIKE], "not runs of one deal"),
        ([LANES, "--seat", "5"], "nobody sits at seat 5"),
        ([LANES, "--seat", "0"], "'0' is not from 1 to 8"),
        ([LANES, "--at", "soon"], "neither an action's number (12) nor a time"),
        ([LANES, "--at", "1:75"], "neither an action's number (12) nor a time"),
        ([LANES, "--speed", "0"], "not a speed from 0.25 to 32"),
        ([LANES, "--speed", "nan"], "not a speed from 0.25 to 32"),
        ([LANES, LANES, "--save", "x"], "--save writes one replay"),
        ([LANES, "--save", "/nowhere/x"], "cannot write /nowhere/x"),
    ],
    ids=lambda value: " ".join(map(os.path.basename, value)) if isinstance(value, list) else "",
)
def test_bad_input_gets_one_sentence(words: list[str], sentence: str) -> None:
    code, _, err = run_cli("replay", *words)
    assert code == 2
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_damaged_file_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(Path(LANES).read_bytes()[:-200])
    code, out, err = run_cli("replay", str(path))
    assert (code, out) == (2, "")
    assert "cut.jsonl: line " in err
    assert len(err.splitlines()) == 1


# Keys


def test_keys_step_seek_and_turn_the_focus() -> None:
    player = text_player()
    model = player.model
    press(player, "right", "l", "left")
    assert model.at == 1
    press(player, *"g30\r")
    assert model.seq(0) == 30
    press(player, *"g0:00.2\r")
    assert model.t_ms == 200
    press(player, "\t", "$")
    assert (model.focus, model.at) == (1, model.end)
    press(player, "0")
    assert model.at == 0
    press(player, "q")
    assert player.is_over


def test_a_wrong_point_is_told_and_changes_nothing() -> None:
    player = text_player()
    press(player, "right", *"g1:99\r")
    assert player.model.at == 1
    assert "neither an action's number nor a time" in "".join(player.rows(100, 40))


def test_the_next_difference_stands_side_by_side() -> None:
    player = text_player(is_side=True)
    press(player, "d")
    one, other = player.model.frames[:2]
    assert one.seq == other.seq
    assert one.hash != other.hash
    rows = player.rows(120, 40)
    assert any("Zoë, action" in row and "ada, action" in row for row in rows)
    while player.message != "no further difference":
        press(player, "d")


def test_space_and_speed_keys_play() -> None:
    player = text_player()
    press(player, " ", "+", "+", "-")
    assert (player.model.is_playing, player.model.speed) == (True, 2.0)
    press(player, "right")
    assert not player.model.is_playing


@pytest.mark.parametrize("name", [path.name for path in sorted(FILES.glob("*.jsonl"))])
def test_every_board_fits_a_terminal_of_80_by_24(name: str) -> None:
    player = text_player(str(FILES / name))
    for _ in range(player.model.end):
        rows = player.rows(80, 24)
        assert len(rows) <= 24
        assert max(map(len, rows)) <= 80
        press(player, "right")


def test_rows_that_do_not_fit_are_said_to_be_missing() -> None:
    player = text_player(str(FILES / "sally-won.jsonl"))
    press(player, *"g100\r")
    whole = player.rows(80, 60)
    cut = player.rows(80, 16)
    (said,) = (row for row in cut if "more rows; make the terminal taller" in row)
    assert len(cut) == 16
    assert f"... {len(whole) - len(cut) + 1} more rows" in said


def test_keys_that_come_at_once_are_taken_apart() -> None:
    keys = list(split_keys(b"l\x1b[C\x1bOD \x1bq\r"))
    assert keys == ["l", "right", "left", " ", "escape", "q", "\r"]


@contextmanager
def on_terminal(*words: str) -> Iterator[tuple[int, list[object], subprocess.Popen[bytes]]]:
    """Run the command on a terminal of its own, 100 by 30; with the mode that it was in before."""
    ours, theirs = pty.openpty()
    mode = termios.tcgetattr(ours)
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "samedeal_client.cli.main", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield ours, mode, process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, text: str) -> None:
    """Read what is drawn until it holds `text`."""
    seen, deadline = b"", time.monotonic() + PATIENCE_S
    while text.encode() not in seen:
        assert time.monotonic() < deadline, seen.decode(errors="replace")
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)


def test_a_terminal_shows_boards_takes_keys_and_is_left_as_it_was() -> None:
    with on_terminal("replay", LANES, "--step") as (terminal, mode, process):
        read_until(terminal, "Zoë, action 0 of 45")
        os.write(terminal, b"ll")
        read_until(terminal, "action 2 of 104")
        os.write(terminal, b"g40\r")
        read_until(terminal, "Zoë, action 40 of 45")
        os.write(terminal, b" ")
        read_until(terminal, "action 104 of 104")
        os.write(terminal, b"q")
        read_until(terminal, "\x1b[?1049l")
        assert process.wait(PATIENCE_S) == 0
        assert termios.tcgetattr(terminal) == mode


def test_a_player_that_is_ended_leaves_the_terminal_as_it_was() -> None:
    with on_terminal("replay", LANES, "--step") as (terminal, mode, process):
        read_until(terminal, "Zoë, action 0 of 45")
        assert termios.tcgetattr(terminal) != mode
        process.terminate()
        read_until(terminal, "\x1b[?1049l")
        assert process.wait(PATIENCE_S) == 128 + 15
        assert termios.tcgetattr(terminal) == mode
