"""From the first start to every screen of the terminal client, on a real server."""

import os
import re

import pytest
from textual import events
from textual.widgets import Input

from samedeal_client.accounts import keep_usual, usual_name
from samedeal_client.terminal import settings as remembered
from samedeal_client.terminal.palette import Palette
from samedeal_client.terminal.screens.replay import ReplayScreen
from samedeal_client.terminal.screens.result import ResultScreen
from screens import Show, shown
from support import eventually

HOME = os.path.expanduser("~")
pytestmark = pytest.mark.usefixtures("new_here")


async def typed(show: Show, text: str) -> None:
    await show.press(*(char if char != " " else "space" for char in text), "enter")


async def test_the_first_start_asks_for_a_name_and_remembers_it(server_url: str) -> None:
    async with shown(server_url) as show:
        await show.until_static("WELCOME TO SAMEDEAL")
        await show.press("ctrl+u")
        await typed(show, "no/name")
        await show.until_static("a name")
        await show.press("ctrl+u")
        await typed(show, "robin")
        await show.until("you are robin")
    assert remembered.load().name == "robin"
    assert usual_name(server_url) == "robin"  # commands of the shell are about the same player


async def test_who_goes_back_from_the_question_for_a_name_keeps_what_there_is(
    server_url: str,
) -> None:
    async with shown(server_url) as show:
        await show.until_static("WELCOME TO SAMEDEAL")
        offered = show.app.screen.query_one(Input).value
        await show.press("escape")
        await show.until(f"you are {offered}")
        client = show.app.client
        await show.press("n")
        await show.until_static("WELCOME TO SAMEDEAL")
        await show.press("escape")
        await show.until("quick race")
        await show.press("q")
        await show.until("which game?")
        assert show.app.client is client is not None


async def test_ctrl_c_ends_the_program_where_a_line_is_typed_too(server_url: str) -> None:
    async with shown(server_url) as show:
        await show.until_static("WELCOME TO SAMEDEAL")
        await show.press("a", "ctrl+c")
        await eventually(lambda: not show.app.is_running)


async def test_who_has_played_from_the_shell_is_offered_that_name(server_url: str) -> None:
    keep_usual(server_url, "shelly")
    async with shown(server_url) as show:
        await show.until_static("You have played here as shelly: Enter goes on so")
        await show.press("enter")
        await show.until("you are shelly")
    assert remembered.load().name == "shelly"


async def test_every_screen_says_below_the_minimum_what_is_missing(server_url: str) -> None:
    async with shown(server_url, name="tiny") as show:
        await show.until("you are tiny")
        for keys, told in (("", "quick race"), ("b", "BOARD"), ("Q?", "HERE"), ("Qm4", "MAKE A")):
            await show.press(*keys)
            await show.until(told)
            await show.pilot.resize_terminal(50, 15)
            await show.until("This needs 60 by 20 characters; the window has")
            assert told not in show.text
            await show.pilot.resize_terminal(60, 20)
            await show.until(told)


async def test_a_quick_race_needs_four_keys_and_goes_on(server_url: str) -> None:
    async with shown(server_url, name="sam") as show:
        await show.until("you are sam")
        await show.press("q")
        await show.until("which game?")
        await show.press("4")
        await show.until("GO in")
        await show.until("Pick a column", "stock 30")
        await show.press("B", "B")
        await show.until("banked:")
        await show.press("Q", "y")
        await show.until("quick race")


async def test_a_quick_race_that_is_left_without_a_move_is_over(
    server_url: str,
) -> None:
    async with shown(server_url, name="peeker") as show:
        await show.until("you are peeker")
        await show.press("q", "4")
        await show.until("Pick a column")
        race, client = show.seat.race.id, show.seat.client
        await show.press("Q", "y")
        await show.until("quick race")
        assert race in await client.replay(race)  # there is none of a race that is on


async def test_a_room_is_made_with_all_options_and_joined_by_code(server_url: str) -> None:
    async with shown(server_url, name="host-h") as host, shown(server_url, name="guest-g") as guest:
        await host.until("you are host-h")
        await guest.until("you are guest-g")
        await host.press("m", "4")
        await host.until("MAKE A ROOM: Lanes", "time limit")
        await host.press("right", "down", "left", "enter")
        await host.until("ROOM ", "seat 3", "time limit 10:00")
        await guest.press("j")
        await guest.until_static("The code of the room")
        await typed(guest, host.seat.race.code.lower())
        await guest.until("ROOM ", "host-h")
        await guest.press("o")
        assert guest.seat.race.view.options.seats == 3
        await host.press("o")
        await host.until("OPTIONS")
        await host.press("left", "enter")
        # Other options, and who was ready is asked again: the keys that follow are for after that.
        for show in (host, guest):
            await eventually(lambda s=show: s.seat.race.view.options.seats == 2)  # type: ignore[misc]
        await host.until("ROOM ")
        await guest.until("Press Enter when you are ready", "time limit")
        await host.press("enter")
        await guest.press("enter")
        await guest.until("stock 30")
        await host.until("stock 30")


async def test_the_daily_is_played_resumed_and_shared(at_noon: str) -> None:
    async with shown(at_noon, name="dana") as show:
        await show.until("you are dana")
        await show.press("d")
        await show.until("featured", "commitment")
        # Those of today and of the days to come, whole.
        assert len(re.findall(r"\b[0-9a-f]{64}\b", show.text)) > 2
        # Not the featured one: its card is to be there at the end.
        await show.press("down")
        await show.press("enter")
        await show.until("DAILY", "this run", "until you")
        await show.press("c")
        await show.until("nobody is here to hear it")
        await show.press("space")
        await show.until("moves 1")
        await show.press("Q", "y")
        await show.until("on, 1 move,")
        await show.press("enter")
        await show.until("this run", "moves 1")
        await show.press("B", "B")
        await show.until("place 1 of 1", "opened")
        await show.press("n")
        await show.until("samedeal daily", "opened after 0 moves")
        await show.press("s")
        await show.until("the card is on the clipboard")


async def test_a_finished_race_is_shown_again_side_by_side(server_url: str) -> None:
    async with shown(server_url, name="remy") as show:
        await show.until("you are remy")
        await show.press("q", "4")
        await show.until("Pick a column")
        await show.press("space")
        await show.until("moves 1")
        await show.press("B", "B")
        await show.until("banked:")
        await show.press("E")
        await show.until("seed fits the commitment")
        await show.press("v")
        await show.until("REPLAY LANES", "after action 0", "the deal")
        assert isinstance(show.app.screen, ReplayScreen)
        assert show.lines("sheet")[1].count("after action") == 2
        model = show.app.screen.model
        await show.press("end")
        await eventually(lambda: model.at == model.end > 0)
        await show.until("paused")
        await show.press("home", "space")
        await eventually(lambda: model.at == model.end)
        # Both are typed before the first has closed the screen: the second is not for the next one.
        for _ in range(2):
            show.app.post_message(events.Key("Q", "Q"))
        await show.until("next deal")
        await show.pilot.pause()
        assert isinstance(show.app.screen, ResultScreen)


async def test_boards_turn_by_kind_game_and_place(server_url: str) -> None:
    async with shown(server_url, name="bea") as show:
        await show.until("you are bea")
        await show.press("b")
        await show.until("BOARDS  Lanes", "[wins]")
        await show.press("right")
        await show.until("[fastest]")
        await show.press("g")
        await show.until("BOARDS  Single Left")
        await show.press("b")
        await show.until("Single Left, bots")
        await show.press("a")
        await show.until("nobody is on this board yet")
        await show.press("Q")
        await show.until("quick race")


async def test_help_names_the_keys_of_the_player(server_url: str) -> None:
    async with shown(server_url, name="hana") as show:
        await show.until("you are hana")
        await show.press("?")
        await show.until("take the last move back")
        await show.press("q")
        await show.until("quick race")


async def test_colours_go_round_and_are_remembered(server_url: str) -> None:
    async with shown(server_url, name="cleo") as show:
        await show.until("you are cleo")
        await show.press("q", "4")
        await show.until("Pick a column")
        await show.press("C")
        await show.until("colours: four")
    assert remembered.load().palette is Palette.FOUR


async def test_a_server_that_is_not_there_is_said_at_home_and_tried_again(
    server_url: str,
) -> None:
    async with shown("ws://127.0.0.1:9", name="lost") as show:
        await show.until("(nothing listens there)", "start one with: samedeal serve, or samedeal")
        await show.until("127.0.0.1:9: not connected")
        # What is chosen is done once the server is there.
        show.app.server = server_url
        await show.press("m")
        await show.until("MAKE A ROOM: which game?")
        await show.press("escape")
        await show.until("you are lost")


async def test_a_replay_is_named_as_in_a_shell_and_never_read_from_the_keyboard() -> None:
    async with shown("ws://127.0.0.1:9", name="file") as show:
        await show.until("not connected")
        await show.press("r")
        await show.until_static("A join code")
        await typed(show, "-")
        await show.until_static("no file is piped in here")
        await show.press("ctrl+u")
        await typed(show, "~/none")
        await show.until(f"{HOME}/none")
