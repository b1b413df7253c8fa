"""Races between shells: real processes over pipes, on a real server."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from samedeal.engine.deals import parse_seed
from shell import Shell
from support import PATIENCE_S, ServerProcess, run_cli


@pytest.fixture
def shells(tmp_path: Path, server_url: str) -> Iterator["Shells"]:
    with ExitStack() as stack:
        yield Shells(stack, tmp_path, server_url)


class Shells:
    """Opens shells of one user on one server, and closes them at the end."""

    def __init__(self, stack: ExitStack, state: Path, server: str) -> None:
        self._stack, self._state, self._server = stack, state, server

    def open(self, *words: str) -> tuple[Shell, str]:
        """Open a shell. Return it with the code of its room."""
        shell = self._stack.enter_context(Shell(self._state, self._server, *words))
        return shell, shell.until("room")["code"]


def test_the_host_can_start_while_a_move_typed_before_waits_for_go(shells: Shells) -> None:
    host, code = shells.open("race", "--seats", "3", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    guest.until("done")
    host.type("draw")
    host.type("say 2")
    assert host.until("done")["text"] == "ok: said good luck"
    host.type("start")
    host.until("done")
    assert host.until("ok")["seq"] == 1
    guest.type("bank")
    assert host.end()[0] == 0
    assert guest.end()[0] == 1


def test_a_move_typed_with_the_last_ready_is_played(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    host.type("ready")
    host.until("done")
    guest.type("ready", "draw", "W>W", "draw")
    guest.until("go")
    host.type("bank")
    _, said, _ = guest.end()
    answers = [one["type"] for one in said if one["type"] in ("ok", "refused")]
    assert answers == ["ok", "refused", "ok"]


def test_who_was_ready_when_the_input_ended_is_in_the_race(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    assert guest.process.stdin is not None
    guest.process.stdin.close()
    guest.until("done")
    host.type("draw", "bank")
    assert [row["moves"] for row in guest.until("closed")["order"]] == [1, 0]
    assert host.end()[0] == 0


def test_a_phrase_is_said_while_a_move_typed_before_waits_for_go(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    host.type("draw")
    host.type("say good luck")
    assert host.until("done")["text"] == "ok: said good luck"
    assert guest.until("said")["phrase"] == "good_luck"
    guest.type("ready")
    assert host.until("ok")["seq"] == 1
    guest.type("bank")
    assert host.end()[0] == 0
    assert guest.end()[0] == 1


def test_a_replay_that_cannot_be_written_is_told_before_the_race(server_url: str) -> None:
    words = ("race", "--plain", "--server", server_url, "--save", "/nowhere/race.jsonl")
    code, out, err = run_cli(*words)
    assert (code, out) == (2, "")
    assert "cannot write /nowhere/race.jsonl: there is no folder /nowhere" in err


def test_the_result_is_told_although_its_replay_cannot_be_written(
    shells: Shells, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    host, code = shells.open("race", "--countdown", "0", "--save", str(folder / "race.jsonl"))
    guest, _ = shells.open("join", code)
    guest.type("draw", "bank")
    host.type("draw")
    host.until("ok")
    folder.rmdir()
    status, said, err = host.end()
    assert (status, said[-1]["type"], len(said[-1]["order"])) == (2, "closed", 2)
    assert err.startswith(f"samedeal: cannot write {folder}")


def test_every_line_gets_one_answer_in_order(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    for line in ("draw", "", "hop", "draw", "look", "W>W"):
        host.type(line)
    host.until("go")
    guest.type("bank")
    _, said, _ = host.end()
    answers = [one["type"] for one in said if one["type"] in ("ok", "refused", "look")]
    assert answers == ["ok", "refused", "refused", "ok", "look", "refused"]


def test_a_shell_whose_seat_was_taken_over_ends_and_leaves_the_run_alone(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0", "--name", "one-of-two")
    rival, _ = shells.open("join", code)
    rival.type("ready")
    host.type("draw")
    host.until("ok")
    second, _ = shells.open("join", code, "--name", "one-of-two")
    host.until("taken_over")
    status, said, err = host.end()
    assert (status, [one for one in said if one["type"] == "banked"]) == (2, [])
    assert err == "samedeal: another connection of yours took this seat over\n"
    second.type("draw")
    assert second.until("ok")["seq"] == 2
    rival.type("bank")
    assert second.end()[0] == 0


def test_two_shells_of_one_user_are_two_players(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    host.type("draw")
    host.until("ok")
    guest.type("bank")
    _, said, _ = host.end()
    assert len({row["name"] for row in said[-1]["order"]}) == 2


def test_next_deals_anew_in_the_same_room_for_both(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("draw", "bank")
    host.type("draw", "bank")
    first = [shell.until("closed")["seed"] for shell in (host, guest)]
    guest.type("next")
    assert host.until("moved")
    host.type("next")
    rooms = [shell.until("room") for shell in (host, guest)]
    assert [(room["code"], room["round"]) for room in rooms] == [(code, 2)] * 2
    host.type("draw")
    guest.type("draw", "bank")
    assert host.until("ok")["seq"] == 1
    for shell in (host, guest):
        status, said, err = shell.end()
        assert (status in (0, 1), said[-1]["type"], err) == (True, "closed", "")
        assert said[-1]["seed"] not in first


def test_next_waits_for_the_close_and_moves_after_it_for_the_next_go(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("draw", "bank", "next", "draw", "draw", "bank")
    host.type("draw")
    host.until("ok")
    host.type("bank", "next", "draw", "bank")
    for shell, draws in ((host, 1), (guest, 2)):
        _, said, _ = shell.end()
        [second] = [at for at, one in enumerate(said) if one["type"] == "room"]
        assert [one["type"] for one in said[second:]].count("ok") == draws
        assert said[-1]["type"] == "closed"


def test_next_is_refused_while_the_own_run_is_on(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    host.type("draw", "next")
    assert "when your run is over" in host.until("refused")["sentence"]


def test_the_words_for_home_wait_for_go_as_other_moves_do(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    host.type("w f")
    guest.type("ready")
    host.until("go")
    assert host.until("refused")["sentence"] == "the waste is empty"


def test_what_is_not_text_is_refused_and_the_input_goes_on(shells: Shells) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    assert host.process.stdin is not None
    os.write(host.process.stdin.fileno(), b"\xff\xfe\n" + b"x" * 10_000 + b"\n")
    host.type("draw")
    assert host.until("refused")
    assert host.until("ok")["seq"] == 1


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_who_stops_the_shell_is_told_how_to_come_back_and_can(
    shells: Shells, number: signal.Signals, status: int
) -> None:
    host, code = shells.open("race", "--countdown", "0")
    guest, _ = shells.open("join", code)
    guest.type("ready")
    host.type("draw")
    host.until("ok")
    host.process.send_signal(number)
    away = host.until("away")
    assert away["code"] == code
    assert host.end() == (status, [], "")
    program, *words = shlex.split(away["command"])
    assert (program, words[:3]) == ("samedeal", ["join", code, "--name"])
    again, _ = shells.open(*words)
    again.type("draw")
    assert again.until("ok")["seq"] == 2


def test_a_shell_on_a_terminal_ends_at_once_and_leaves_no_trace_of_its_reader(
    tmp_path: Path, server_url: str
) -> None:
    near, far = os.openpty()
    command = [sys.executable, "-m", "samedeal_client.cli.main", "race", "--server", server_url]
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=far, stdout=pipe, stderr=pipe, text=True, env=env
    ) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline().startswith("* room")
        hint = "* say ready when you are; help lists all that can be said\n"
        assert hint in [shell.stdout.readline() for _ in range(3)]
        shell.send_signal(signal.SIGINT)
        out, err = shell.communicate(timeout=PATIENCE_S)
    os.close(near)
    os.close(far)
    assert (shell.returncode, err) == (130, "")
    assert "come back with: samedeal join" in out


def test_a_shell_can_be_stopped_while_its_server_hangs(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server, Shell(tmp_path, server.url, "race") as shell:
        shell.until("room")
        server.process.send_signal(signal.SIGSTOP)
        try:
            shell.process.send_signal(signal.SIGINT)
            assert shell.until("away")
            assert shell.end() == (130, [], "")
        finally:
            server.process.send_signal(signal.SIGCONT)


def test_a_server_that_is_lost_for_a_moment_is_told_and_the_move_is_made(tmp_path: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(tmp_path / "data"))
        shells = Shells(stack, tmp_path, server.url)
        host, code = shells.open("race", "--countdown", "0")
        guest, _ = shells.open("join", code)
        guest.type("ready")
        host.type("draw")
        host.until("ok")
        server.stop(signal.SIGKILL)
        assert host.until("link")["up"] is False
        host.type("draw")
        port = int(server.url.rpartition(":")[2])
        stack.enter_context(ServerProcess(tmp_path / "data", port=port))
        assert host.until("link")["up"] is True
        assert host.until("ok")["seq"] == 2


def test_a_bot_joins_by_code_and_tells_its_race_as_json(shells: Shells) -> None:
    host, code = shells.open("race", "--game", "single-left", "--countdown", "0")
    robot, room = shells.open("bot", code, "--pace", "0")
    assert room == code
    host.type("draw", "bank")
    status, said, err = robot.end()
    assert (status in (0, 1), err) == (True, "")
    [closed] = said
    assert (closed["type"], closed["fits"]) == ("closed", True)
    assert {row["bot"] for row in closed["order"]} == {True, False}


def test_end_ends_a_race_in_which_only_a_bot_plays_on_also_while_next_waits(
    shells: Shells,
) -> None:
    host, code = shells.open("race", "--countdown", "0")
    shells.open("bot", code, "--pace", "60")
    host.type("draw")
    host.until("ok")
    host.type("end")
    assert host.until("refused")["sentence"] == "your own run is still on; bank it first"
    host.type("bank", "next", "end")
    order = host.until("closed")["order"]
    assert {row["bot"]: row["status"] for row in order} == {False: "banked", True: "cut_off"}
    assert host.until("room")["round"] == 2


def test_an_account_is_the_same_at_each_node_of_a_service(tmp_path: Path, server_url: str) -> None:
    dead = "ws://127.0.0.1:1"
    words = ("race", "--name", "two-nodes", "--json")
    rooms = []
    for servers in (f"{dead},{server_url}", server_url):
        _, out, _ = run_cli(*words, "--server", servers, state=tmp_path)
        rooms.append(json.loads(out.splitlines()[0]))
    assert [room["name"] for room in rooms] == ["two-nodes"] * 2
    assert len(list((tmp_path / "samedeal" / "accounts").iterdir())) == 2
    tokens = {json.loads(path.read_text())["token"] for path in tmp_path.rglob("*.json")}
    assert len(tokens) == 1


def test_a_name_the_server_has_forgotten_starts_anew(tmp_path: Path) -> None:
    port = 0
    for data in ("before", "after"):
        with ServerProcess(tmp_path / data, port=port) as server:
            port = int(server.url.rpartition(":")[2])
            words = ("race", "--name", "ada", "--server", server.url)
            code, out, err = run_cli(*words, state=tmp_path)
            assert "you are ada in seat 1" in out
            assert (code, err) == (
                2,
                "samedeal: the input ended in the lobby: the seat is given back\n",
            )


def test_a_bot_does_not_play_under_a_persons_account(tmp_path: Path, server_url: str) -> None:
    run_cli("race", "--name", "person", "--server", server_url, state=tmp_path)
    code, out, err = run_cli("bot", "--name", "person", "--server", server_url, state=tmp_path)
    assert (code, out) == (2, "")
    assert err == "samedeal: person is a person's account here; use another --name\n"


def test_a_name_that_somebody_has_is_refused_and_another_offered(
    tmp_path: Path, server_url: str
) -> None:
    run_cli("race", "--name", "Taken-Name", "--server", server_url, state=tmp_path / "one")
    words = ("race", "--server", server_url, "--name")
    code, out, err = run_cli(*words, "taken-narne", state=tmp_path / "two")
    assert (code, out) == (2, "")
    found = re.fullmatch(
        r"samedeal: the name taken-narne is taken, or reads like one that is; (.*) is free\n", err
    )
    assert found
    _, out, _ = run_cli(*words, found[1], state=tmp_path / "two")
    assert f"you are {found[1]} in seat 1" in out


@pytest.mark.parametrize(
    "args",
    [
        ["race", "--seats", "9"],
        ["race", "--time-limit", "soon"],
        ["race", "--countdown", "-1"],
        ["race", "--name", "two words"],
        ["race", "--seed", ""],
        ["join", "ab"],
        ["join", "K0QX9"],
        ["bot", "--pace", "nan"],
        ["board", "--limit", "0"],
        ["demo", "--pace", "-1"],
        ["race", "--countdown", "0000000000000099"],
        ["race", "--seats", "0000000000029"],
        ["race", "--save", "a" * 300],
        ["bench", "--rows", "999"],
        ["bench", "--rate", "nan"],
        ["bench", "--races", "\u0663"],
        ["demo", "--seed", ""],
        ["bot", "K0QX9"],
        ["race", "--server", "127.0.0.1:8750"],
        ["race", "--server", "ws://127.0.0.1:1,ws://127.0.0.1:2"],
        ["race", "--server", "ws://127.0.0.1:1"],
        ["race", "--server", "http://127.0.0.1:1"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    args: list[str], server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEDEAL_SERVER", server_url)
    code, out, err = run_cli(*args)
    assert (code, out) == (2, "")
    assert err.startswith("samedeal: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGTERM, 143, ""), (signal.SIGINT, 130, "samedeal: stopped\n")],
    ids=["SIGTERM", "SIGINT"],
)
def test_a_demo_that_is_stopped_leaves_nothing_behind(
    number: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "samedeal_client.cli.main", "demo", "--replay-dir", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert demo.stdout is not None
    assert demo.stdout.readline().startswith("room")
    demo.send_signal(number)
    _, err = demo.communicate(timeout=PATIENCE_S)
    assert (demo.returncode, err) == (code, said)
    assert list(tmp_path.iterdir()) == []


def test_a_demo_deals_the_seed_it_is_given(tmp_path: Path) -> None:
    words = ("demo", "--game", "single-left", "--pace", "0", "--seed", "summer")
    code, out, err = run_cli(*words, "--replay-dir", str(tmp_path))
    assert (code, err) == (0, "")
    assert f"seed {parse_seed('summer').value.hex()}: fits the commitment" in out


def test_output_that_nobody_reads_any_more_ends_the_shell_in_silence(
    tmp_path: Path, server_url: str
) -> None:
    with Shell(tmp_path, server_url, "race") as shell:
        shell.until("room")
        assert shell.process.stdout is not None
        shell.process.stdout.close()
        shell.type("help")
        assert shell.process.wait(PATIENCE_S) == 0
        assert shell.process.stderr is not None
        assert shell.process.stderr.read() == ""
        shell.process.stdout = None
