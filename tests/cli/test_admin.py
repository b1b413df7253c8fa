"""`samedeal-admin` as a process, on the private store of a server, and without the server."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from samedeal_client.connection import Client
from samedeal_client.errors import ConnectionLost, Refused
from support import ServerProcess, eventually, run_cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Admin:
    """An operator's shell."""

    def __init__(self, *where: str) -> None:
        self.where = where

    def run(self, *args: str) -> tuple[int, str, str]:
        words = [sys.executable, "-m", "samedeal_server.admin.command", *self.where, *args]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def says(self, *args: str) -> list[dict[str, Any]]:
        """Run a command that has to go well. Return its lines as JSON."""
        code, out, err = self.run("--as", "zoe", "--json", *args)
        assert (code, err) == (0, "")
        return [json.loads(line) for line in out.splitlines()]

    def refuses(self, *args: str) -> str:
        """Run a command that has to be refused. Return the sentence."""
        code, out, err = self.run(*args)
        assert (code, out) == (2, "")
        assert err.startswith("samedeal-admin: ")
        assert len(err.splitlines()) == 1
        return err


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Admin]]:
    """A server of our own, and an operator on its data."""
    data = tmp_path_factory.mktemp("admin")
    with ServerProcess(data) as running:
        yield running.url, Admin("--data", str(data))


async def test_a_ban_closes_a_live_connection_and_unban_lets_the_player_back(
    server: tuple[str, Admin],
) -> None:
    url, admin = server
    async with Client(url, name="mallory", give_up_s=5) as mallory:
        race = await mallory.create_race("lanes")
        (found,) = admin.says("player", "MALLORY")
        assert found["account"]["player"] == mallory.player
        (told,) = admin.says("ban", mallory.player, "--for", "7d", "--why", "plays by program")
        assert "plays by program" in told["text"]
        with pytest.raises((Refused, ConnectionLost), match=r"banned until .*plays by program"):
            await race.until_go()
    with pytest.raises(Refused, match=r"banned until .*: plays by program"):
        await Client(url, token=mallory.token).__aenter__()
    admin.says("unban", mallory.player, "--why", "appealed")
    async with Client(url, token=mallory.token) as back:
        assert back.player == mallory.player
    deeds = [(deed["who"], deed["did"], deed["why"]) for deed in admin.says("log")]
    assert deeds[:2] == [("zoe", "unban", "appealed"), ("zoe", "ban", "plays by program")]


async def test_an_announcement_reaches_the_shell_of_a_player(
    server: tuple[str, Admin], tmp_path: Path
) -> None:
    url, admin = server
    (said,) = admin.says("announce", "the server stops at noon", "--for", "5m")
    assert [a["announcement"] for a in admin.says("announced")] == [said["announcement"]]
    words = ("race", "--name", "listener", "--server", url)
    _, out, _ = run_cli(*words, state=tmp_path, stdin="look\n" * 3)
    assert "the server stops at noon" in out
    admin.says("unsay", said["announcement"])
    assert admin.says("announced") == []


async def test_moves_from_a_file_under_a_persons_name_are_flagged_and_the_race_can_be_voided(
    server: tuple[str, Admin],
) -> None:
    url, admin = server
    async with Client(url, name="quick") as one, Client(url, name="calm") as two:
        first = await one.create_race("sally", ranked=True, bots=False, countdown_s=0)
        second = await two.join(first.code)
        await second.ready()
        await first.ready()
        await first.until_go()
        moves = 0
        while moves < 30:
            legal = list(first.table.legal_moves)
            played = [move for move in legal if str(move) != "draw"]
            await first.move(played[0] if played else legal[0])
            moves += bool(played)
        await first.bank()
        await second.move("draw")
        await second.bank()
        await first.until_closed()
    run = f"{first.id}.1"

    def flagged() -> bool:
        return run in [flag["run"] for flag in admin.says("flags")]

    await eventually(flagged)
    (flag,) = [flag for flag in admin.says("flags") if flag["run"] == run]
    assert (flag["player"], flag["game"]) == (one.player, "sally")
    assert "20 moves in" in flag["why"]

    async def rating() -> int | None:
        async with (
            Client(url, token=two.token) as calm,
            aclosing(calm.match("sally").events()) as events,
        ):
            return (await anext(events)).rating

    for undone, done in (
        (("remove", run, "--why", "a program"), ("restore", run)),
        (("void", first.id), ("unvoid", first.id)),
        (("ban", one.player), ("unban", one.player)),
    ):
        assert await rating() == 1395
        admin.says(*undone)
        assert await rating() == 1500
        admin.says(*done)
    assert await rating() == 1395
    assert len(admin.says("rebuild")) >= 5
    admin.says("void-day", "2026-11-30", "--game", "lanes")
    admin.says("unvoid-day", "2026-11-30")


def test_operators_need_no_server(tmp_path: Path) -> None:
    admin = Admin("--data", str(tmp_path))
    with ServerProcess(tmp_path) as server:
        run_cli("race", "--name", "ada", "--server", server.url, state=tmp_path / "state")
    (found,) = admin.says("player", "ada")
    admin.says("rename", found["account"]["player"], "eva")
    assert "no account ada" in admin.refuses("player", "ada")
    assert admin.says("player", "eva")[0]["account"]["player"] == found["account"]["player"]


@pytest.mark.parametrize(
    "args",
    [
        ["ban", "mallory"],
        ["ban", "0" * 16],
        ["ban", "0" * 16, "--for", "soon"],
        ["ban", "0" * 16, "--for", "900d"],
        ["remove", "0" * 16],
        ["remove", "0" * 16 + ".9"],
        ["void", "0" * 16],
        ["void-day", "2026-02-30"],
        ["void-day", "99999"],
        ["unban", "0" * 16],
        ["rename", "0" * 16, "a b"],
        ["unvoid", "0" * 16 + ".1"],
        ["unvoid-day", "0"],
        ["rebuild", "--game", "bridge"],
        ["announce", "noon", "--for", "0m"],
        ["unsay", "nothing"],
        ["player", ""],
        ["--as", "", "log"],
        ["announce", "two\nlines"],
        ["log", "--limit", "0"],
        ["fly"],
        ["--data", "/nowhere/at/all", "log"],
        ["--redis", "redis://127.0.0.1:1", "log"],
        ["--redis", "http://127.0.0.1:1", "log"],
    ],
    ids=lambda args: " ".join(args).encode("unicode_escape").decode(),
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    server: tuple[str, Admin], args: list[str]
) -> None:
    server[1].refuses(*args)
