"""Who is done while others play on: what is waited for, how it ends, what can be done till then."""

from contextlib import AsyncExitStack

import pytest

from samedeal_client.connection import Client, Race
from samedeal_client.terminal.screens.race import RaceScreen
from samedeal_client.terminal.screens.result import ResultScreen
from screens import Show, shown

pytestmark = pytest.mark.usefixtures("new_here")


async def quick_race(show: Show, name: str) -> None:
    """A lanes race with a bot, with one move made and banked."""
    await show.until(f"you are {name}")
    await show.press("q", "4")
    await show.until("Pick a column")
    await show.press("space")
    await show.until("moves 1")
    await show.press("B", "B")
    await show.until("waiting for")


async def against(stack: AsyncExitStack, show: Show, url: str, name: str) -> Race:
    """Have another person take the second seat of a room that `show` makes; return that one's."""
    await show.press("m", "4")
    await show.until("MAKE A ROOM")
    await show.press("enter")
    await show.until("ROOM ")
    other = await stack.enter_async_context(Client(url, name=name))
    race = await other.join(show.seat.race.code)
    await race.ready()
    await show.press("enter")
    await show.until("Pick a column")
    return race


async def test_what_is_waited_for_is_told_and_a_race_with_bots_is_ended(server_url: str) -> None:
    async with shown(server_url, name="wim") as show:
        await quick_race(show, "wim")
        bot = next(player.name for player in show.seat.race.view.players if player.bot)
        await show.until(f"waiting for {bot} (bot): 14:", "to the time limit", "E end the race now")
        await show.press("E")
        await show.until("place ", "of 2", "next deal")
        assert isinstance(show.app.screen, ResultScreen)


async def test_in_a_narrow_window_it_is_told_too(server_url: str) -> None:
    async with shown(server_url, name="nora", size=(60, 20)) as show:
        await quick_race(show, "nora")
        await show.until("(bot): 14:", "E end the race now")
        await show.press("Q")
        await show.until("your result stands; home tells how it ends")


async def test_a_person_who_plays_is_waited_for_and_the_result_is_had_later(
    server_url: str,
) -> None:
    async with AsyncExitStack() as stack:
        show = await stack.enter_async_context(shown(server_url, name="vera"))
        await show.until("you are vera")
        other = await against(stack, show, server_url, "olga")
        await show.press("E")
        await show.until("your own run is on: B twice banks it first")
        await show.press("B", "B")
        await show.until("waiting for olga: 14:")
        assert "end the race now" not in show.text
        await show.press("E")
        await show.until("olga: only bots need not be waited for")
        code = show.seat.race.code
        await show.press("Q", "Q")
        await show.until("last race", f"{code} waits for olga", "quick race")
        assert show.app.seat is None
        # Something else is played meanwhile, and that one is left for good.
        await show.press("p")
        await show.until_static("Any text")
        await show.press("z", "enter")
        await show.until("which game?")
        await show.press("4")
        await show.until("Pick a column", "practice")
        await show.press("Q", "Q")
        await show.until("last race", f"{code} waits for olga")
        await show.press("l")
        await show.until("waiting for olga")
        assert isinstance(show.app.screen, RaceScreen)
        await show.press("Q", "Q")
        await show.until("last race")
        await other.move("draw")
        await other.bank()
        await show.until(f"{code} is over. You have place 2 of 2.")
        await show.press("l")
        await show.until("olga before vera", "next deal")
        await show.press("Q")
        await show.until("quick race")
        assert "last race" not in show.text


async def test_who_leaves_a_race_in_the_middle_learns_at_home_how_it_ends(server_url: str) -> None:
    async with AsyncExitStack() as stack:
        show = await stack.enter_async_context(shown(server_url, name="lena"))
        await show.until("you are lena")
        other = await against(stack, show, server_url, "otis")
        await show.press("space")
        await show.until("moves 1")
        code = show.seat.race.code
        await show.press("Q")
        await show.until("leave? your run ends, its result stands; home tells how it ends")
        await show.press("y")
        await show.until("last race", f"{code} waits for otis")
        await show.press("l")
        await show.until("waiting for otis")
        assert "leave?" not in show.text
        await show.press("Q", "Q")
        await show.until("last race")
        await other.bank()
        await show.until(f"{code} is over. You have")
