"""Two people race in real terminals, by keys alone, on a real server."""

import re
from pathlib import Path

import pytest

from ptys import Terminal
from support import ServerProcess


def stock(terminal: Terminal) -> int:
    """How many cards the screen says are left."""
    match = re.search(r"stock (\d+)", terminal.text)
    return int(match[1]) if match else -1


def play_through(terminal: Terminal, turns: int) -> None:
    """Turn the stock and send home what can go, as a person would who does not think ahead."""
    for _ in range(turns):
        left = stock(terminal)
        terminal.press(" ")
        terminal.until(f"stock {left - 1} ", "turned ")
        terminal.until_gone("??")
        terminal.press("f", "F")
    terminal.press("\x1b")


def test_two_race_by_keys_to_the_end_and_see_the_same_order(
    server_url: str, tmp_path: Path
) -> None:
    words = ("--server", server_url, "--name")
    with Terminal(tmp_path / "una", "race", "--seed", "terminal", *words, "una") as una:
        una.until("ROOM", "free")
        code = re.search(r"ROOM (\w+)", una.text)
        assert code is not None
        with Terminal(tmp_path / "vic", "join", code[1], *words, "vic") as vic:
            vic.until("una", "Press Enter when you are ready")
            vic.press("\r")
            una.until("vic")
            una.press("\r")
            for terminal in (una, vic):
                terminal.until("LANES", "stock 30", "TAB cursor")
            vic.until(*(line for line in board(una) if line))
            with Terminal(tmp_path / "wes", "watch", code[1], "--server", server_url) as wes:
                wes.until("WATCHING LANES", "shows boards", "0 home")
                play_through(vic, 4)
                watched(wes, vic)
                wes.press("Q")
                assert wes.ended() == 0
            una.until("vic ")
            play_through(una, 12)
            vic.press("B", "B")
            vic.until("banked:")
            una.until("bank")
            una.press("B", "B")
            for terminal in (una, vic):
                terminal.until("You have place", "una", "vic", "seed fits the commitment")
            same_order(una, vic)
            una.press("v")
            una.until("REPLAY LANES", "una, after action 0", "SPC play")
            una.press("q", "Q")
            una.until("next deal")
            una.press("Q")
            vic.press("Q")
            codes = [una.ended(), vic.ended()]
    assert sorted(codes) == [0, 1]


def watched(watcher: Terminal, player: Terminal) -> None:
    """Wait until the watcher sees what the player has come to, whose last keys may still work."""

    def sees_it() -> bool:
        player.read(0.0)
        moves = re.search(r"moves (\d+)", player.lines[0])
        waste = re.search(r"\[..\]", player.lines[1])
        wanted = [f" {moves[1]} moves" if moves else "", waste[0] if waste else ""]
        return moves is not None and all(text in watcher.text for text in wanted)

    watcher.until_so(sees_it)


def board(terminal: Terminal) -> list[str]:
    """The own board on the screen."""
    return [line[:48].rstrip() for line in terminal.lines[1:9]]


def same_order(one: Terminal, other: Terminal) -> None:
    """Wait until both show the same final order: it may be drawn in pieces."""

    def are_same() -> bool:
        one.read(0.0)
        return order(one) == order(other) != []

    other.until_so(are_same)


def order(terminal: Terminal) -> list[list[str]]:
    """The rows of the final order: place, name without its star, numbers."""
    rows = [line.replace("*", " ").split() for line in terminal.lines]
    return [row for row in rows if row and re.fullmatch(r"\d\.", row[0])]


def test_a_newcomer_plays_at_once_on_a_private_server(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "--local") as terminal:
        terminal.until("Under which name")
        terminal.press("\r")
        terminal.until("on a private server")
        terminal.press("q")
        terminal.until("which game?")
        terminal.press("4")
        terminal.until("Pick a column by its number", "stock 30")
        terminal.press(" ")
        terminal.until("stock 29", "turned ")
        terminal.screen.reset()  # something else wrote over it
        terminal.press("\x0c")
        terminal.until("stock 29", "TAB cursor")
        terminal.press("B", "B")
        terminal.until("banked:")
    assert terminal.process.returncode == 128 + 15


def test_a_terminal_that_goes_away_leaves_no_server_behind(tmp_path: Path) -> None:
    with Terminal(tmp_path, "play", "--local") as terminal:
        terminal.until("Under which name")
    # Its data are free: the next one starts on them.
    with ServerProcess(tmp_path / "samedeal" / "local") as server:
        assert server.url


def test_own_keys_are_taken_and_wrong_ones_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "samedeal"
    folder.mkdir()
    (folder / "keys.toml").write_text("[keys]\nfly = ['a']\n")
    with Terminal(tmp_path, "play") as terminal:
        terminal.until("has no action 'fly'")
        assert terminal.ended() == 2


@pytest.mark.parametrize("command", ["race", "daily", "match"])
def test_wrong_keys_are_refused_before_anything_is_begun(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "samedeal"
    folder.mkdir()
    (folder / "keys.toml").write_text("[race]\nhint = ['u']\n")
    # Nobody is there: the keys are read before the server is asked.
    with Terminal(tmp_path, command, "--server", "ws://127.0.0.1:9", columns=200) as terminal:
        terminal.until("'u' is given to hint, but undo has it by default")
        assert terminal.ended() == 2


def test_a_demo_draws_over_its_rows_at_80_columns(tmp_path: Path) -> None:
    words = ("--game", "lanes", "--pace", "0", "--replay-dir", str(tmp_path / "replays"))
    with Terminal(tmp_path, "demo", *words) as demo:
        demo.until("final order", "race yourself")
        rows = demo.lines[: demo.lines.index("final order")]
    assert [row.split(" ")[0] for row in rows] == ["room", "commitment", "greta", "hugo", ""]


def test_who_leaves_a_race_of_the_shell_is_told_where_its_end_is(
    server_url: str, tmp_path: Path
) -> None:
    words = ("--server", server_url, "--name", "lea")
    with Terminal(tmp_path / "lea", "race", *words) as lea:
        lea.until("ROOM", "free")
        code = re.search(r"ROOM (\w+)", lea.text)
        assert code is not None
        lea.press("b")
        lea.until("bot")
        lea.press("\r")
        lea.until("Pick a column")
        lea.press(" ")
        lea.until("moves 1")
        lea.press("Q")
        lea.until("its result stands", f"samedeal join {code[1]} tells how it")
        lea.press("y")
        assert lea.ended() == 0
        lea.until(f"how it ends: samedeal join {code[1]} --name lea")
    with Terminal(tmp_path / "lea", "join", code[1], *words) as lea:
        lea.until("left", "LANES")


def test_ctrl_c_in_a_race_begun_at_home_says_what_leads_back_to_the_seat(
    server_url: str, tmp_path: Path
) -> None:
    with Terminal(tmp_path, "play", "--server", server_url) as home:
        home.until("Under which name")
        home.press("\r")
        home.until("you are ")
        name = re.search(r"you are (\S+),", home.text)
        home.press("q")
        home.until("which game?")
        home.press("4")
        home.until("Pick a column")
        code = re.search(r"race (\w+)", home.lines[0])
        assert code is not None
        assert name is not None
        home.press("\x03")
        assert home.ended() == 0
        home.until(f"your seat is kept: samedeal join {code[1]} --name {name[1]}")


def test_a_chart_is_not_poured_over_a_terminal(tmp_path: Path) -> None:
    with Terminal(tmp_path, "chart", "race.jsonl") as chart:
        chart.until("a picture is nothing to read on a terminal; name a file: -o race.svg")
        assert chart.ended() == 2
