"""Who plays in the terminal client and who plays by commands at a terminal is one player."""

import re
from pathlib import Path

import pytest

from ptys import Terminal
from support import run_cli


def test_a_race_from_the_shell_is_played_under_the_remembered_name(
    server_url: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "samedeal").mkdir(parents=True)
    (home / "samedeal" / "settings.toml").write_text('name = "tilda"\n')
    where = ("--server", server_url)
    with Terminal(home, "race", *where) as tilda:
        tilda.until("ROOM", "you are tilda", "tilda*")
        code = re.search(r"ROOM (\w+)", tilda.text)
        assert code is not None
        with Terminal(tmp_path / "new", "join", code[1], *where) as other:
            other.until("ROOM", "tilda")
            found = re.search(r"you are ([\w-]+)", other.text)
            assert found is not None
            assert found[1] != "tilda"
            other.press("Q")
            other.ended()
        tilda.press("Q")
        tilda.ended()
    # By lines on a terminal it is the same account, a pipe is somebody new.
    with Terminal(home, "race", "--plain", *where) as plain:
        plain.until("you are tilda in seat 1")
        plain.press("leave\r")
        plain.ended()
    with Terminal(home, "play", *where) as client:
        client.until("you are tilda")
        client.press("x")
        client.ended()
    _, out, _ = run_cli("race", *where, stdin="leave\n", state=home)
    assert "you are " in out
    assert "tilda" not in out


def test_a_server_named_beside_the_private_one_is_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEDEAL_SERVER", "ws://127.0.0.1:1")
    with Terminal(tmp_path, "play", "--local", "--server", "ws://127.0.0.1:2") as both:
        assert both.ended() == 2
        assert "--local has a server of its own; leave --server away" in both.text
    with Terminal(tmp_path, "play", "--local") as local:
        local.until("WELCOME", "Enter takes it")
        local.press("lea\r")
        local.until("on a private server; SAMEDEAL_SERVER does not count with --local")
        local.press("x")
        assert local.ended() == 0
    monkeypatch.setenv("SAMEDEAL_SERVER", "http://nowhere")
    with Terminal(tmp_path, "play") as wrong:
        assert wrong.ended() == 2
        assert "SAMEDEAL_SERVER: " in wrong.text


def test_the_private_server_knows_its_player_again_at_another_address(tmp_path: Path) -> None:
    for is_first in (True, False):
        with Terminal(tmp_path, "play", "--local") as local:
            if is_first:
                local.until("WELCOME", "Enter takes it")
                local.press("lotte\r")
            local.until("you are lotte, on a private server")
            local.press("x")
            assert local.ended() == 0
