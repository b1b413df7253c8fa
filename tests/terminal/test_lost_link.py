"""A connection that is lost under a race on the screen: seen, and survived."""

from urllib.parse import urlsplit

import pytest

from samedeal_client.connection import Client
from screens import shown
from support import Proxy, eventually

pytestmark = pytest.mark.usefixtures("new_here")


def before(server_url: str) -> Proxy:
    """A relay before the server, which can be cut."""
    port = urlsplit(server_url).port
    assert port is not None
    return Proxy(("127.0.0.1", port))


async def test_moves_wait_on_the_board_while_the_link_is_lost_and_reach_the_server_after(
    server_url: str,
) -> None:
    proxy = before(server_url)
    async with proxy as own_port, Client(server_url, name="linus") as rival:
        url = f"ws://127.0.0.1:{own_port}"
        async with Client(url, name="lotte") as client:
            race = await client.create_race("lanes", seed="link", countdown_s=0)
            other = await rival.join(race.code)
            await other.ready()
            async with shown(url, client=client, race=race) as show:
                await show.until("Press Enter")
                await show.press("enter")
                await show.until("stock 30", "link")
                board = show.lines("board")
                proxy.refuse = True
                proxy.cut()
                await show.until("connection lost", "link LOST")
                assert show.lines("board") == board
                move = next(
                    move
                    for move in race.table.legal_moves
                    if move.source.startswith("T") and move.target.startswith("T")
                )
                await show.press(move.source[1], move.target[1])
                await show.until("1 of your moves waits here", "moves 1")
                # What the player does is answered above what is wrong with the link.
                await show.press("9")
                await show.until("there are 6 columns", "connection lost")
                assert show.lines("board") != board
                shown_board = show.lines("board")
                proxy.refuse = False
                await eventually(lambda: race.acked == 1)
                await show.until("moves 1", "link")
                await eventually(lambda: "LOST" not in show.text)
                assert show.lines("board") == shown_board
                await eventually(lambda: other.view.players[0].moves == 1)


async def test_a_second_terminal_takes_the_seat_and_the_first_is_told(server_url: str) -> None:
    async with Client(server_url, name="lupe") as client, Client(server_url, name="lorin") as rival:
        race = await client.create_race("lanes", seed="link", countdown_s=0)
        other = await rival.join(race.code)
        await other.ready()
        async with shown(server_url, client=client, race=race) as show:
            await show.until("Press Enter")
            await show.press("enter")
            await show.until("stock 30")
            async with Client(server_url, token=client.token) as second:
                await second.join(race.code)
                await show.until("another")


async def test_who_leaves_while_the_link_is_lost_is_at_home_at_once_and_comes_back(
    server_url: str,
) -> None:
    proxy = before(server_url)
    async with proxy as own_port, shown(f"ws://127.0.0.1:{own_port}", name="lisa") as show:
        await show.until("you are lisa")
        await show.press("q", "4")
        await show.until("Pick a column")
        proxy.refuse = True
        proxy.cut()
        await show.until("connection lost")
        await show.press("Q", "Q")
        await show.until("your run is still on", "no connection: your seat is kept, l leads back")
        proxy.refuse = False
        await show.press("l")
        await show.until("stock 30", "the connection is back")
        await show.press("space")
        await show.until("moves 1")


async def test_in_a_lobby_a_lost_link_says_nothing_of_a_clock(server_url: str) -> None:
    proxy = before(server_url)
    async with proxy as own_port, Client(f"ws://127.0.0.1:{own_port}", name="lola") as client:
        race = await client.create_race("lanes")
        async with shown(server_url, client=client, race=race) as show:
            await show.until("ROOM")
            proxy.refuse = True
            proxy.cut()
            await show.until("connection lost, trying again; your seat is kept")
            assert "clock runs on" not in show.text


async def test_home_tells_that_the_link_is_lost_and_keeps_nobody_waiting(server_url: str) -> None:
    proxy = before(server_url)
    async with proxy as own_port, shown(f"ws://127.0.0.1:{own_port}", name="lenka") as show:
        await show.until("you are lenka")
        proxy.refuse = True
        proxy.cut()
        await show.until("connection lost, trying again")
        await show.press("q")
        await show.until("no connection to the server now")
        await show.press("r")
        await show.until_static("a file")
        await show.press("escape", "q")
        await show.until("no connection to the server now")
        proxy.refuse = False
        await eventually(lambda: "no connection" not in show.text)
        await eventually(lambda: "connection lost" not in show.text)
        await show.press("q")
        await show.until("which game?")


async def test_a_result_keeps_nobody_waiting_for_what_needs_the_link(server_url: str) -> None:
    proxy = before(server_url)
    async with proxy as own_port, shown(f"ws://127.0.0.1:{own_port}", name="lasse") as show:
        await show.until("you are lasse")
        await show.press("q", "4")
        await show.until("Pick a column")
        await show.press("B", "B")
        await show.until("end the race now")
        await show.press("E")
        await show.until("next deal")
        assert show.app.client is not None
        proxy.refuse = True
        proxy.cut()
        client = show.app.client
        await eventually(lambda: not client.is_connected)
        for key in "nvG":
            await show.press(key)
            await show.until("no connection to the server now")
            await show.press("s")
            await show.until("on the clipboard")
        await show.press("n")
        await show.until("no connection to the server now")
        proxy.refuse = False
        await eventually(lambda: "no connection" not in show.text)
        await show.press("Q")
        await show.until("quick race")
