"""`samedeal board` as a person or a script runs it."""

import json
from pathlib import Path

import pytest

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from support import eventually, run_cli
from wire import race_of, wired

GAME = "double-klondike"
"""Played by nobody else on the server that the tests share."""


@pytest.fixture(scope="session")
async def played(server_url: str) -> str:
    """A server where ada and ivo have raced, once: this file's tests need not come in a row."""
    async with wired(server_url, "ada") as ada, wired(server_url, "ivo") as ivo:
        race = await race_of(ada, ivo, game=GAME)
        for wire in (ada, ivo):
            await wire.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
            await wire.get(say.Done, ask.Bank, race=race)
        # A race is booked before its close is told.
        await eventually(lambda: bool(ada.all(say.Closed)))
    return server_url


async def test_a_board_is_a_table_or_json_whose_pages_follow_each_other(played: str) -> None:
    where = ("board", "--server", played, "--game", GAME)
    code, text, complaint = run_cli(*where)
    assert (code, complaint) == (0, "")
    title, *rows = text.splitlines()
    assert title == "Double Klondike: most races won, then fewer races"
    assert [row.split()[0] for row in rows] == ["1.", "1."]
    code, text, _ = run_cli(*where, "--limit", "1", "--json")
    row, page = map(json.loads, text.splitlines())
    assert (row["type"], row["place"], row["wins"], row["races"]) == ("row", 1, 1, 1)
    assert (page["type"], page["total"], "previous" in page) == ("board", 2, False)
    code, text, _ = run_cli(*where, "--limit", "1", "--json", "--page", page["next"])
    other, page = map(json.loads, text.splitlines())
    assert other["place"] == 1
    assert row["name"] != other["name"]
    assert "next" not in page


async def test_a_board_with_nobody_on_it_says_so(played: str) -> None:
    code, text, _ = run_cli("board", "--server", played, "--game", GAME, "--board", "fastest")
    assert (code, "nobody is on this board" in text) == (0, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--board", "wins", "--period", "month"], "no wins board of that period"),
        (["--day", "tomorrow"], "'tomorrow' is no day: a number from 1, or a date"),
        (["--day", "2026-02-30"], "'2026-02-30' is no day"),
        (["--day", "0000003340000"], "'0000003340000' is no day"),
        (["--page", "!"], "'!' names no page"),
        (["--page", "a0", "--around"], "not allowed with"),
        (["--limit", "0"], "'0' is not from 1 to 100"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wish_that_makes_no_sense_gets_a_sentence(
    server_url: str, words: list[str], sentence: str
) -> None:
    code, text, complaint = run_cli("board", "--server", server_url, *words)
    assert (code, text) == (2, "")
    assert sentence in complaint
    assert complaint.count("\n") == 1


def test_friends_are_named_from_the_shell_and_kept(played: str, tmp_path: Path) -> None:
    def friend(*words: str) -> tuple[int, str, str]:
        return run_cli("friend", *words, "--server", played, state=tmp_path)

    code, _, complaint = friend("add", "board-nobody", "--name", "board-mo")
    assert (code, "nobody here has that name" in complaint) == (2, True)
    assert friend("list", "--name", "board-mo")[1].startswith("no friends are named yet")
    # Who it was last, it is now.
    assert friend("add", "board-mo") == (2, "", "samedeal: you cannot befriend yourself\n")
    run_cli("friend", "add", "x", "--name", "board-fay", "--server", played, state=tmp_path / "o")
    assert friend("add", "board-fay") == (0, "board-fay\n", "")
    (listed,) = friend("list", "--json")[1].splitlines()
    assert json.loads(listed)["name"] == "board-fay"
    assert friend("remove", "board-fay")[0] == 0
    assert friend("add")[2] == "samedeal: friend add needs the name of a friend\n"
    where = ("board", "--game", GAME, "--server", played, "--friends")
    code, text, _ = run_cli(*where, state=tmp_path)
    assert (code, "nobody is on this board" in text) == (0, True)


@pytest.mark.parametrize(
    "look",
    [("board", "--around"), ("friend", "list"), ("daily", "--info"), ("daily", "--share")],
    ids=" ".join,
)
def test_who_only_looks_makes_no_account_and_stays_who_is_usual(
    played: str, tmp_path: Path, look: tuple[str, ...]
) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        return run_cli(*words, "--server", played, state=tmp_path)

    run(*look)
    assert list(tmp_path.iterdir()) == []
    code, text, complaint = run(*look, "--name", "board-new")
    assert (code, text) == (2, "")
    assert complaint.startswith("samedeal: no account of the name board-new is kept here")
    looker, usual = (f"{who}-{look[1].strip('-')}" for who in ("looker", "usual"))
    for name in (looker, usual):
        run("friend", "add", "x", "--name", name)
    assert run(*look, "--name", looker)[2] == ""
    assert run("me")[1].startswith(f"{usual}, ")
