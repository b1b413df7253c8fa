"""Races between shells: real processes over pipes, on a real server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest

from support import ServerProcess, run_cli

WITHIN_S = 20


class Shell:
    """`samedeal ... --json` with its input open."""

    def __init__(self, state: Path, server: str, *words: str) -> None:
        self._command = [sys.executable, "-m", "samedeal_client.cli.main", *words, "--json"]
        self._env = {**os.environ, "XDG_STATE_HOME": str(state), "SAMEDEAL_SERVER": server}

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self._command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=self._env
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        """Return the next object of that type; pytest's own limit ends a wait in vain."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said: dict[str, Any] = json.loads(line)
            if said["type"] == kind:
                return said
        raise AssertionError(f"it ended without saying {kind!r}")

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        """End the input and wait. Return exit code, what was said since, and stderr."""
        out, err = self.process.communicate(timeout=WITHIN_S)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err


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
    host.type("start")
    host.until("done")
    assert host.until("ok")["seq"] == 1
    guest.type("bank")
    assert host.end()[0] == 0
    assert guest.end()[0] == 1


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
    host, code = shells.open("race", "--countdown", "0", "--name", "ada")
    rival, _ = shells.open("join", code)
    rival.type("ready")
    host.type("draw")
    host.until("ok")
    second, _ = shells.open("join", code, "--name", "ada")
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
    run_cli("race", "--name", "ada", "--server", server_url, state=tmp_path)
    code, out, err = run_cli("bot", "--name", "ada", "--server", server_url, state=tmp_path)
    assert (code, out) == (2, "")
    assert err == "samedeal: ada is a person's account here; use another --name\n"


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
    _, err = demo.communicate(timeout=WITHIN_S)
    assert (demo.returncode, err) == (code, said)
    assert list(tmp_path.iterdir()) == []
