"""`samedeal watch` and `samedeal live` as processes, on a real server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from samedeal_client.connection import Client
from shell import Shell
from support import eventually, run_cli

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_race_is_told_line_by_line_to_its_final_order(
    server_url: str, tmp_path: Path
) -> None:
    async with Client(server_url, name="wanda") as ada, Client(server_url, name="wotan") as ivo:
        mine = await ada.create_race("lanes", countdown_s=0)
        other = await ivo.join(mine.code)
        for race in (mine, other):
            await race.ready()
        await other.until_go()
        with Shell(tmp_path, server_url, "watch", mine.code.lower(), "--boards") as shell:
            watching = shell.until("watching")
            assert (watching["shows"], watching["reason"]) == ("boards", None)

            names = f"{ada.name}, {ivo.name}"

            async def is_listed() -> bool:
                code, out, err = run_cli("live", "--server", server_url, state=tmp_path)
                assert (code, err) == (0, "")
                return any(row.startswith(mine.code) and names in row for row in out.splitlines())

            await eventually(is_listed)
            await mine.move("draw")
            while (told := shell.until("player"))["player"].get("moves") != 1:
                pass
            line = f"{ada.name}: home 0, moves 1, draw\n{mine.table}"
            assert told["text"].partition(" ")[2] == line
            assert told["position"] == str(mine.table)
            for race in (mine, other):
                await race.bank()
            closed = shell.until("closed")
            assert (closed["fits"], closed["order"][0]["name"]) == (True, ada.name)
            assert shell.end()[0] == 0


async def test_who_plays_is_told_why_there_is_nothing_to_watch(
    server_url: str, tmp_path: Path
) -> None:
    async with Client(server_url, name="winni") as zoe:
        race = await zoe.create_race("lanes", spectating="off")
        code, out, err = run_cli("watch", race.id, "--server", server_url, state=tmp_path)
        assert (code, out, err) == (
            1, "! nobody may watch this race; it opens when all have finished\n", "",
        )  # fmt: skip
        code, out, _ = run_cli("live", "--json", "--server", server_url, state=tmp_path)
        assert code == 0
        assert race.id not in [json.loads(line)["race"] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["watch", "O0"], "is no join code"),
        (["watch"], "required: CODE"),
        (["live", "--limit", "0"], "not from 1 to 50"),
    ],
    ids=["no code", "nothing", "no row"],
)
def test_what_cannot_be_watched_or_listed_is_bad_input(words: list[str], sentence: str) -> None:
    code, out, err = run_cli(*words)
    assert (code, out, err.count("\n"), sentence in err) == (2, "", 1, True)


def test_a_code_that_no_race_has_is_bad_input(server_url: str, tmp_path: Path) -> None:
    answer = run_cli("watch", "ZZZZZZZZ", "--server", server_url, state=tmp_path)
    assert answer == (2, "", "samedeal: there is no race with the code ZZZZZZZZ\n")
