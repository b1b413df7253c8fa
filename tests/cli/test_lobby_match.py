"""`samedeal lobby` and `samedeal match` as processes, from the queue to the result."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from samedeal_client.connection import Client
from support import eventually, run_cli


class Shell:
    """A command that runs, what it said as JSON, and what is typed into it."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "samedeal_client.cli.main", *args, "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.said: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as out:
            for line in out:
                self.said.append(json.loads(line))

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    async def hears(self, **facts: Any) -> dict[str, Any]:
        """Wait until it has said something with these facts."""

        def found() -> list[dict[str, Any]]:
            return [said for said in self.said if facts.items() <= said.items()]

        await eventually(lambda: bool(found()))
        return found()[0]

    async def ends(self) -> int:
        """Close its input, and wait for its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        await eventually(lambda: self.process.poll() is not None)
        self._reader.join(10)
        return int(self.process.returncode)


async def test_two_shells_find_each_other_race_and_are_rated(server_url: str) -> None:
    ada, ivo = (
        Shell("match", "--game", "sally", "--server", server_url, "--name", name)
        for name in ("match-ada", "match-ivo")
    )
    # One types ahead, the other waits for the question.
    ada.type("accept")
    ada.type("draw")
    await ada.hears(type="match", state="waiting", game="sally", rating=1500)
    found = await ivo.hears(type="match", state="found")
    assert 0 < found["within_ms"] <= 12_000
    ivo.type("dance")
    await ivo.hears(type="refused")
    ivo.type("accept")
    for shell in (ada, ivo):
        await shell.hears(type="match", state="ready", race=found["race"])
    await ada.hears(type="ok", seq=1)
    assert tuple(await asyncio.gather(ada.ends(), ivo.ends())) == (0, 1)
    order = (await ivo.hears(type="closed"))["order"]
    assert [(row["name"], row["rating"]) for row in order] == [
        ("match-ada", 1605),
        ("match-ivo", 1395),
    ]


async def test_who_declines_and_who_has_enough_leave_the_queue(server_url: str) -> None:
    one, other = (
        Shell("match", "--game", "lanes", "--server", server_url, "--name", name)
        for name in ("leave-ada", "leave-ivo")
    )
    await other.hears(state="found")
    await one.hears(state="found")
    other.type("decline")
    assert (await other.hears(state="over"))["text"] == "* you declined and left the queue"
    await one.hears(text="* the other player did not accept; you are first in line again")
    one.type("quit")
    await one.hears(type="done")
    assert [await shell.ends() for shell in (one, other)] == [1, 1]


def test_an_input_that_ends_in_the_queue_leaves_it(server_url: str, tmp_path: Path) -> None:
    code, _, err = run_cli("match", "--server", server_url, state=tmp_path)
    assert (code, err) == (2, "samedeal: the input ended in the queue: you have left it\n")


@pytest.mark.parametrize("args", [("match", "--game", "poker"), ("lobby", "--game", "poker")])
def test_an_unknown_game_is_refused_in_one_sentence(args: tuple[str, ...]) -> None:
    code, out, err = run_cli(*args)
    assert (code, out, err.count("\n")) == (2, "", 1)


async def test_the_lobby_shows_open_rooms_live_and_once(server_url: str, tmp_path: Path) -> None:
    live = Shell("lobby", "--game", "sally", "--server", server_url)
    await live.hears(type="lobby", rooms=[])
    async with Client(server_url, name="opener") as client:
        race = await client.create_race("sally", listed=True, best_of=3, seats=4)
        await eventually(lambda: bool(live.said[-1]["rooms"]))
        (room,) = live.said[-1]["rooms"]
        assert (room["code"], room["taken"], room["options"]["seats"]) == (race.code, 1, 4)
        code, out, _ = run_cli("lobby", "--once", "--server", server_url, state=tmp_path)
        assert code == 0
        assert f"{race.code}  sally  {client.name} 1500?  (1 of 4, 900 s, best of 3)" in out
        await race.leave()
        await eventually(lambda: live.said[-1]["rooms"] == [])
    live.process.terminate()
    await live.ends()


async def test_only_rooms_opened_to_all_are_in_the_lobby(server_url: str, tmp_path: Path) -> None:
    lists = Shell("lobby", "--game", "klondike", "--server", server_url)
    await eventually(lambda: bool(lists.said))
    hidden = Shell("race", "--game", "klondike", "--server", server_url)
    await hidden.hears(type="room")
    shown = Shell("race", "--open", "--game", "klondike", "--server", server_url)
    code = (await shown.hears(type="room"))["code"]
    await eventually(lambda: [r["code"] for r in lists.said[-1]["rooms"]] == [code])
    for shell in (hidden, shown):
        shell.type("leave")
        await shell.ends()
    lists.process.terminate()
    await lists.ends()


def test_phrases_are_listed_and_said_by_number_or_words(server_url: str, tmp_path: Path) -> None:
    said = "say\nsay 2\nsay what you like\nleave\n"
    code, out, _ = run_cli("race", "--plain", "--server", server_url, stdin=said, state=tmp_path)
    assert code == 0
    listed, one, free, _ = out.splitlines()[-4:]
    assert listed.startswith("1 hello, 2 good luck, ")
    assert (listed.count(","), one) == (7, "ok: said good luck")
    assert free.startswith("refused: there is no phrase 'what you like'")


async def test_a_series_shows_its_score_from_race_to_race(server_url: str) -> None:
    ada = Shell("race", "--best-of", "3", "--server", server_url, "--name", "series-ada")
    code = (await ada.hears(type="room"))["code"]
    ivo = Shell("join", code, "--server", server_url, "--name", "series-ivo")
    ivo.type("ready")
    ada.type("draw")
    await ada.hears(type="ok", seq=1)
    ivo.type("say well played")
    said = await ada.hears(type="said", seat=2)
    assert said["text"] == "* series-ivo: well played"
    for shell in (ada, ivo):
        shell.type("bank")
    mine, others = [await shell.hears(type="series") for shell in (ada, ivo)]
    assert mine["text"] == "* series: you 1 : 0 series-ivo (best of 3)"
    assert others["text"] == "* series: you 0 : 1 series-ada (best of 3)"
    ada.type("next")
    await eventually(lambda: sum(said["type"] == "room" for said in ada.said) == 2)
    assert [said for said in ada.said if said["type"] == "room"][1]["text"].endswith(
        "* series: you 1 : 0 series-ivo (best of 3)"
    )
    ada.type("leave")
    await asyncio.gather(ada.ends(), ivo.ends())
