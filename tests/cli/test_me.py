"""The account from the shell: a name, tokens, devices, all that is stored, and the end."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from typing import TYPE_CHECKING, Any

import pytest

from relay import Fields, Relay, unchanged
from support import eventually, run_cli

if TYPE_CHECKING:
    from pathlib import Path


class Shell:
    """One user on one machine."""

    def __init__(self, url: str, state: Path) -> None:
        self.url, self.state = url, state

    def run(self, *args: str, stdin: str = "") -> tuple[int, str, str]:
        return run_cli(*args, "--server", self.url, state=self.state, stdin=stdin)

    def says(self, *args: str) -> dict[str, Any]:
        """Run a command that has to go well. Return its last line as JSON."""
        code, out, err = self.run(*args, "--json")
        assert (code, err) == (0, ""), err
        said: dict[str, Any] = json.loads(out.splitlines()[-1])
        return said

    def refuses(self, *args: str) -> str:
        """Run a command that has to be refused. Return the sentence."""
        code, out, err = self.run(*args)
        assert (code, out) == (2, "")
        assert err.startswith("samedeal: ")
        assert len(err.splitlines()) == 1
        return err


@pytest.fixture
def name() -> str:
    """A name that nobody has."""
    return f"ada-{secrets.token_hex(4)}"


@pytest.fixture
def shell(server_url: str, tmp_path: Path, name: str) -> Shell:
    """A machine on which somebody of that name has played."""
    shell = Shell(server_url, tmp_path / "here")
    shell.run("race", "--name", name)
    return shell


def test_the_usual_server_is_that_of_the_environment(
    shell: Shell, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEDEAL_SERVER", shell.url)
    for words in (["me"], ["me", "export"]):
        code, out, err = run_cli(*words, "--name", name, state=shell.state)
        assert (code, err) == (0, "")
        assert name in out
    monkeypatch.setenv("SAMEDEAL_SERVER", "a%b")
    assert "(a%b;" in run_cli("me", "export", "--help")[1]


def test_an_account_is_shown_and_renamed_and_its_old_name_is_free(
    shell: Shell, name: str, tmp_path: Path
) -> None:
    code, out, _ = shell.run("me", "--name", name)
    assert code == 0
    assert re.match(rf"{name}, player [0-9a-z]{{16}}, since \d{{4}}-\d\d-\d\d, 1 device\n", out)
    before = shell.says("me", "--name", name)
    renamed = shell.says("me", "rename", f"{name}-b", "--name", name)
    assert (renamed["name"], renamed["player"]) == (f"{name}-b", before["player"])
    assert "is kept here" in shell.refuses("me", "--name", name)
    assert shell.says("me", "--name", f"{name}-b")["player"] == before["player"]
    other = Shell(shell.url, tmp_path / "there")
    other.run("race", "--name", name)
    assert other.says("me", "--name", name)["player"] != before["player"]
    assert "is taken" in other.refuses("me", "rename", f"{name.upper()}-B", "--name", name)
    assert "cannot be" in other.refuses("me", "rename", "a\u202eb", "--name", name)


def test_a_second_device_gets_in_once_and_rotating_shows_it_out(
    shell: Shell, name: str, tmp_path: Path
) -> None:
    link = shell.says("me", "link", "--name", name)
    assert re.fullmatch("[2-9A-HJ-NP-Z]{10}", link["code"])
    there = Shell(shell.url, tmp_path / "there")
    assert there.says("me", "use", link["code"].lower())["name"] == name
    assert "works once" in there.refuses("me", "use", link["code"])
    assert there.says("me")["devices"] == 2
    shell.says("me", "rotate", "--name", name)
    assert "does not know that token" in there.refuses("me")
    assert shell.says("me", "--name", name)["devices"] == 1


async def test_a_code_whose_answer_was_lost_leads_there_by_the_same_command(
    shell: Shell, name: str, tmp_path: Path
) -> None:
    code = shell.says("me", "link", "--name", name)["code"]
    relay = Relay(shell.url)
    lost: list[Fields] = []

    def lose(fields: Fields) -> list[Fields]:
        lost.append(fields)
        return []

    relay.said = lose
    async with relay as url:
        there = Shell(url, tmp_path / "there")
        using = asyncio.create_task(asyncio.to_thread(there.run, "me", "use", code))
        await eventually(lambda: [fields["type"] for fields in lost] == ["welcome"])
        await relay.close_all(1011, "")
        assert (await using)[0] == 2
        relay.said = unchanged
        assert (await asyncio.to_thread(there.says, "me", "use", code))["name"] == name
        assert "works once" in await asyncio.to_thread(there.refuses, "me", "use", code)
    assert shell.says("me", "--name", name)["devices"] == 2


def test_everything_that_is_stored_is_exported_and_gone_with_the_account(
    shell: Shell, name: str, tmp_path: Path
) -> None:
    code, out, _ = shell.run("daily", "--name", name, "--json", stdin="draw\n" * 3)
    assert code in (0, 1), out
    said = [json.loads(line) for line in out.splitlines()]
    race = next(line["race"] for line in said if isinstance(line.get("race"), str))
    path = tmp_path / "all.json"
    assert str(path) in shell.run("me", "export", "--name", name, "-o", str(path))[1]
    stored = json.loads(path.read_text("utf-8"))
    assert path.stat().st_mode & 0o077 == 0
    assert stored["account"]["name"] == name
    assert "token" not in path.read_text("utf-8")
    runs = {run["race"]: run for run in stored["runs"]}
    assert runs[race]["name"] == name
    assert runs[race]["moves"] == len(runs[race]["actions"]) > 0
    assert "--yes" in shell.refuses("me", "delete", "--name", name)
    shell.says("me", "delete", "--yes", "--name", name)
    assert "is kept here" in shell.refuses("me", "--name", name)
    other = Shell(shell.url, tmp_path / "there")
    other.run("race", "--name", name)
    assert other.says("me", "--name", name)["name"] == name


@pytest.mark.parametrize(
    "args", [["me", "use", "nocode"], ["me", "rename"], ["me", "fly"], ["me", "--name", "nobody-x"]]
)
def test_bad_input_is_one_sentence(server_url: str, tmp_path: Path, args: list[str]) -> None:
    Shell(server_url, tmp_path).refuses(*args)
