"""`samedeal daily`: show the day, play, leave, come back, share."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import noon
from samedeal.engine.cards import card_text
from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW
from samedeal.protocol.days import DAILY_GAMES, date_of
from samedeal_client.accounts import keep, usual_name
from samedeal_client.connection import Client
from samedeal_client.model.standings import result_of
from screens import shown
from support import ServerProcess, run_cli


def daily(url: str, state: Path, *words: str, stdin: str = "") -> tuple[int, str, str]:
    return run_cli("daily", *words, "--server", url, stdin=stdin, state=state)


def facts(text: str, kind: str) -> dict[str, Any]:
    (found,) = (fact for line in text.splitlines() if (fact := json.loads(line))["type"] == kind)
    return dict(found)


def test_the_day_is_shown_with_its_deals_and_the_promises_of_a_week(
    at_noon: str, tmp_path: Path
) -> None:
    code, text, _ = daily(at_noon, tmp_path, "--info", "--json")
    assert code == 0
    day = facts(text, "day")
    assert [each["game"] for each in day["games"]] == list(DAILY_GAMES)
    assert {each["label"] for each in day["games"]} == {"open"}
    assert len({each["commitment"] for each in day["games"] + day["coming"]}) == 8 * 5
    assert [each["day"] for each in day["coming"][::5]] == [day["day"] + n for n in range(1, 8)]
    assert 0 < day["rollover_ms"] <= 24 * 3600 * 1000
    assert date_of(day["day"]).isoformat() == day["date"]
    assert 11.9 <= day["rollover_ms"] / 3_600_000 <= 12

    code, text, _ = daily(at_noon, tmp_path, "--info", "--game", "lanes")
    assert code == 0
    assert re.match(rf"daily {day['day']} \({day['date']} UTC\), ends in \d", text)
    assert "at 00:00 UTC (" in text
    assert "open deal" in text
    assert "you: not played" in text


def test_a_run_is_left_resumed_banked_shared_and_practised(at_noon: str, tmp_path: Path) -> None:
    lanes = ("--game", "lanes")
    code, text, _ = daily(at_noon, tmp_path, *lanes)
    assert code == 0
    assert "your first run: it ranks" in text
    assert "come back with: samedeal daily --game lanes" in text
    code, text, _ = daily(at_noon, tmp_path, *lanes, "--share")
    assert (code, "is still on" in text) == (1, True)

    saved = str(tmp_path / "day.jsonl")
    moves = "draw\nnext\ndraw\n"
    code, text, _ = daily(at_noon, tmp_path, *lanes, "--save", saved, stdin=moves)
    assert code == 0
    assert "ok 2: drew" in text
    assert "refused: a day has one deal; no other one follows it" in text
    assert "the seed is public when the day is closed" in text

    code, checked, _ = run_cli("verify", saved)
    assert code == 0
    assert checked.startswith("not altered: lanes, race ")
    assert "sealed: the seed of this deal is public when its day is closed" in checked
    code, _, error = run_cli("verify", saved, "--seed", "ab" * 32)
    assert (code, "the commitment was made to another deal" in error) == (1, True)

    code, text, _ = daily(at_noon, tmp_path, *lanes, stdin="draw\n")
    assert (code, "you have played it" in text) == (0, True)

    code, card, _ = daily(at_noon, tmp_path, *lanes, "--share")
    assert code == 0
    assert len(card.splitlines()) <= 6
    assert re.search(r"^samedeal daily \d+, Lanes \(open\)$", card, re.MULTILINE)
    assert "0 of 48 home, 0 opened after 0 moves, 0:00.0" in card
    cards = {card_text(number) for number in range(52)}
    assert cards.isdisjoint(re.findall(r"\w+", card))

    _, text, _ = daily(at_noon, tmp_path, *lanes, "--share", "--json")
    run = f"{facts(text, 'card')['games'][0]['own']['race']}.1"
    code, _, error = run_cli("replay", run, "--server", at_noon, state=tmp_path)
    assert (code, "public when its day is closed; get it again then" in error) == (2, True)
    code, _, error = run_cli("replay", run, "--server", at_noon, state=tmp_path / "other")
    assert (code, "are hidden until your own run is over" in error) == (2, True)

    code, text, _ = daily(at_noon, tmp_path, *lanes, "--practice", stdin="draw\nbank\n")
    assert (code, "practice: it counts for nothing" in text) == (0, True)
    code, again, _ = daily(at_noon, tmp_path, *lanes, "--share")
    assert again == card


async def test_a_run_that_is_not_won_has_the_moves_that_rank_wherever_it_is_shown(
    at_noon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with Client(at_noon, name="counted") as ada:
        race = await ada.play_daily("sally")
        run, used = race.model.run, set[str]()
        start = run.best, run.opened
        while (run.best, run.opened) == start:
            # Whatever the deal: each move takes a card off a column as dealt, or off the waste, and
            # sally's stock never ends.
            legal = list(race.table.legal_moves)
            opens = [move for move in legal if move.source[0] == "T" and move.source not in used]
            move = (opens or [move for move in legal if move.source == "W"] or [DRAW])[0]
            used.add(move.target)
            await race.move(move)
        reached = race.acked
        for _ in range(3):
            await race.move(DRAW)
        await race.bank()
        await race.until_closed()
        own = next(each.own for each in (await ada.daily("sally")).games)
        page = await ada.boards.page("sally", board="daily", around=True)
        row = next(row for row in page.rows if row.name == ada.name)
        assert own is not None
        assert (own.moves, own.t_ms // 100) == (row.moves, (row.t_ms or 0) // 100)
        assert own.moves == reached < race.acked
        assert f"opened {own.opened} after {counted(reached, 'move')}, " in result_of(row)
        keep(at_noon, "counted", ada.token or "")
        text = daily(at_noon, tmp_path, "--game", "sally", "--info", "--name", "counted")[1]
        assert f"{own.opened} opened after {counted(reached, 'move')}, " in text


def test_a_bot_plays_the_day_once(at_noon: str, tmp_path: Path) -> None:
    bot = ("bot", "--daily", "--game", "lanes", "--pace", "0", "--name", "robo", "--server")
    code, text, _ = run_cli(*bot, at_noon, state=tmp_path)
    assert code == 0
    assert "robo (bot)" in text
    code, text, _ = run_cli(*bot, at_noon, state=tmp_path)
    assert (code, "robo (bot) has played it" in text) == (0, True)
    code, _, error = run_cli("bot", "ABCDE", "--daily", "--server", at_noon, state=tmp_path)
    assert (code, "--daily takes no code" in error) == (2, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--day", "2026-02-29"), "'2026-02-29' is no day: a number from 1, or a date"),
        (("--day", "0"), "'0' is no day"),
        (("--day", "2025-12-31"), "'2025-12-31' is no day"),
        (("--day", "99999"), "day 99999 has not begun; today is day"),
        (("--day", "1", "--info"), "there was no daily on day 1"),
        (("--game", "klondike"), "invalid choice: 'klondike'"),
        (("--info", "--share"), "not allowed with argument"),
    ],
)
def test_what_cannot_be_played_is_told_in_one_sentence(
    at_noon: str, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    code, text, error = daily(at_noon, tmp_path, *words)
    assert (code, text) == (2, "")
    assert sentence in error
    assert len(error.splitlines()) == 1


async def test_past_midnight_the_run_of_the_day_before_is_named_before_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, data = (str(Path(noon.__file__)),), tmp_path / "server"
    with ServerProcess(data, program=program) as server:
        url = server.url
        code, text, _ = daily(url, tmp_path, "--game", "lanes", "--json")
        assert code == 0
        day = facts(text, "day")
    # The same server half an hour past the midnight that follows.
    port = int(url.rpartition(":")[2])
    options = ("--later", str(12 * 3600 + 1800))
    with ServerProcess(data, *options, port=port, program=program):
        code, text, _ = daily(url, tmp_path, "--game", "lanes")
        assert code == 0
        first, second = text.splitlines()[:2]
        assert first == (
            f"* day {day['day']} ({day['date']}) goes on first: your run of it is still open"
        )
        assert second.startswith(f"* daily {day['day']} ({day['date']} UTC), over")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        name = usual_name(url)
        assert name is not None
        async with shown(url, name=name) as show:
            await show.until(f"you are {name}")
            await show.press("d")
            await show.until(f"{day['day'] + 1}", "Lanes")
            while f"> {game('lanes').title}" not in show.text:
                await show.press("down")
            await show.press("enter")
            await show.until(f"DAILY {day['day']}", f"day {day['day']} ({day['date']}) goes on")
        code, text, _ = daily(url, tmp_path, "--game", "single-left")
        assert text.startswith(f"* daily {day['day'] + 1} ")
