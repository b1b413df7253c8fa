"""`samedeal ghost`: a practice race alone against recorded runs, on a real server."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal_client.connection import Client
from samedeal_client.errors import Refused
from samedeal_client.ghosts import open_ghost_race
from samedeal_client.replays import Replay
from shell import Shell
from support import PATIENCE_S, eventually, run_cli
from wire import wired

FILES = Path(__file__).parents[1] / "replays" / "files"
WON = FILES / "single-left-won.jsonl"


def ghost(url: str, tmp: Path, *words: str, stdin: str = "") -> tuple[int, str, str]:
    return run_cli("ghost", *words, "--server", url, stdin=stdin, state=tmp)


def facts(text: str, kind: str) -> list[dict[str, Any]]:
    return [fact for line in text.splitlines() if (fact := json.loads(line))["type"] == kind]


def test_a_ghost_race_shows_marked_rivals_and_compares_at_the_end(
    server_url: str, tmp_path: Path
) -> None:
    saved = tmp_path / "mine.jsonl"
    code, out, err = ghost(
        server_url, tmp_path, str(WON), "--name", "eva-g", "--save", str(saved),
        stdin="T6>F1\nrivals\nnext\nbank\n",
    )  # fmt: skip
    assert (code, err) == (1, "")
    assert "* practice, alone: Single Left, you are eva-g; nothing of it is ranked" in out
    assert "* against recorded runs: ghost of ada, ghost of ivo" in out
    (rivals,) = (line for line in out.splitlines() if line.startswith("eva-g") and "you: " in line)
    assert "; ghost of ada: home " in rivals
    assert "refused: practice alone has one deal" in out
    lines = out.splitlines()
    at = lines.index("* against the ghosts")
    assert lines[at + 1 : at + 4] == [
        "1. ghost of ada: won at 0:00.72, 62 moves",
        "2. ghost of ivo: best 16, 61 moves",
        "3. eva-g: best 2, 1 move",
    ]
    mine, original = Replay.load(saved).file, Replay.load(WON).file
    assert (mine.seed, mine.commitment) == (original.seed, original.commitment)
    assert [(player.name, player.seat) for player in mine.players] == [("eva-g", 1)]
    assert mine.is_practice
    assert not mine.options["ranked"]


def test_ghosts_move_on_with_the_clock_and_their_end_is_told(
    server_url: str, tmp_path: Path
) -> None:
    # The whole recorded win, move by move: it takes longer than the ghost took.
    moves = [str(frame.action) for frame in Replay.load(WON).tracks[0].frames[1:]]
    script = "rivals\n" + "".join(f"{move}\nrivals\n" for move in moves)
    code, out, err = ghost(server_url, tmp_path, str(WON), "--seat", "1", "--json", stdin=script)
    assert err == ""
    rivals = [fact["ghosts"][0] for fact in facts(out, "rivals")]
    assert rivals[0]["moves"] == 0
    assert [each["moves"] for each in rivals] == sorted(each["moves"] for each in rivals)
    assert {each["name"] for each in rivals} == {"ghost of ada"}
    (compared,) = facts(out, "compared")
    own, other = sorted(compared["order"], key=lambda row: bool(row["ghost"]))
    assert (own["won"], own["moves"], other["won"], other["moves"]) == (True, 62, True, 62)
    assert code == (0 if own["place"] == 1 else 1)
    if own["place"] == 2:
        (ended,) = facts(out, "ghost")
        assert (ended["ghost"]["name"], ended["ghost"]["won"]) == ("ghost of ada", True)


def test_who_left_a_ghost_race_comes_back_to_it_and_to_its_ghosts(
    server_url: str, tmp_path: Path
) -> None:
    words = ("ghost", str(WON), "--seat", "2", "--name", "eva-back")
    with Shell(tmp_path, server_url, *words) as shell:
        shell.type("T6>F1")
        shell.until("ok")
        shell.process.send_signal(signal.SIGINT)
        again = shlex.split(shell.until("away")["command"])
        assert shell.process.wait(PATIENCE_S) == 128 + signal.SIGINT
    code, out, err = run_cli(*again[1:], stdin="rivals\nbank\n", state=tmp_path)
    assert (again[0], code, err) == ("samedeal", 1, "")
    assert "ghost of ivo: home " in out
    assert "ghost of ada" not in out
    assert "eva-back: best 2, 1 move" in out
    at = again.index(str(WON))
    again[at] = str(FILES / "lanes.jsonl")
    code, out, err = run_cli(*again[1:], state=tmp_path)
    assert (code, out, "is on another deal than these ghosts" in err) == (2, "", True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([str(WON), "--seat", "7"], "nobody sits at seat 7"),
        ([str(WON), "--resume", "K7QX9"], "'K7QX9' is no race id"),
        ([str(WON), "--resume", "0" * 16], "there is no such race any more"),
        (["gone.jsonl"], "gone.jsonl: No such file"),
    ],
)
def test_bad_input_gets_one_sentence(
    server_url: str, tmp_path: Path, words: list[str], sentence: str
) -> None:
    code, out, err = ghost(server_url, tmp_path, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.splitlines()) == 1


async def test_a_race_of_one_seat_is_practice_only_and_has_no_next_one(server_url: str) -> None:
    async with Client(server_url, name="solo") as client:
        with pytest.raises(Refused, match="a race of one seat is practice: choose its seed") as no:
            await client.create_race("lanes", seats=1)
        assert no.value.code is ErrorCode.BAD_OPTION
        pair = await client.create_race("lanes")
        with pytest.raises(Refused, match="a race of one seat is practice"):
            await pair.set_options(seats=1)
        race = await open_ghost_race(client, Replay.load(FILES / "lanes.jsonl").file)
        with pytest.raises(Refused, match="never ranked"):
            await race.set_options(ranked=True)
        await race.ready()
        await race.until_go()
        await race.move("T4>F3")
        began_ms = race.clock_ms
        await eventually(lambda: race.clock_ms > began_ms + 20)
        ack = await race.undo()
        assert began_ms <= ack.t_ms < race.view.deadline_ms
        await race.bank()
        await race.until_closed()
        with pytest.raises(Refused, match="no next one"):
            await race.next()
        assert race.view.practice
        assert client.name not in [row.name async for row in client.boards.rows("lanes")]


async def test_the_host_of_a_race_of_one_seat_may_start_it(server_url: str) -> None:
    async with wired(server_url, name="solo-2") as wire:
        options = {"seats": 1, "countdown_s": 0, "auto_start": False}
        seated = await wire.get(say.Seated, ask.Create, game="lanes", seed="x", options=options)
        await wire.get(say.Done, ask.Start, race=seated.race.id)
        await eventually(lambda: bool(wire.all(say.Go)))
