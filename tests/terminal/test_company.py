"""Finding others on the screen: open rooms, a quick match, watching."""

from contextlib import aclosing
from pathlib import Path

import pytest

from samedeal.protocol.match_messages import MatchState
from samedeal_client.connection import Client
from samedeal_client.terminal.screens.race import RaceScreen
from screens import shown
from support import ServerProcess

pytestmark = pytest.mark.usefixtures("new_here")


async def test_a_listed_room_is_found_joined_and_watched(server_url: str) -> None:
    async with (
        shown(server_url, name="lara") as lara,
        shown(server_url, name="luke") as luke,
        shown(server_url, name="watcher-w", size=(100, 30)) as watcher,
    ):
        for show, name in ((lara, "lara"), (luke, "luke"), (watcher, "watcher-w")):
            await show.until(f"you are {name}")
        await luke.press("o")
        await luke.until("OPEN ROOMS")
        await lara.press("m", "4")
        await lara.until("listed among")
        for _ in range(7):
            await lara.press("down")
        await lara.press("right")
        await lara.until("< yes > changed")
        await lara.press("enter")
        await lara.until("ROOM ")
        code = lara.seat.race.code
        await luke.until(code)
        at = next(line for line in luke.lines("sheet") if code in line)
        await luke.press(at.split(code)[0].strip(" >"))
        await luke.until("ROOM ", "lara")
        await lara.press("enter")
        await luke.press("enter")
        await lara.until("stock 30")
        await watcher.press("w")
        await watcher.until("LIVE RACES", code)
        at = next(line for line in watcher.lines("sheet") if code in line)
        await watcher.press(at.split(code)[0].strip(" >"))
        await watcher.until("WATCHING LANES", "shows boards", "stock 30")
        await lara.press("space")
        await watcher.until("stock 29", "1 move")
        await lara.press("B", "B")
        await luke.press("B", "B")
        await watcher.until(
            "over", "lara before luke: luke made no move", "the seed fits", " v replay  Q"
        )
        await watcher.press("v")
        await watcher.until("REPLAY LANES")


async def test_a_search_that_is_over_waits_no_more(server_url: str) -> None:
    async with shown(server_url, name="mira") as mira:
        await mira.until("you are mira")
        await mira.press("f")
        await mira.until("which game?")
        await mira.press("4")
        await mira.until("waiting for ", "leave the queue")
        assert mira.app.client is not None
        async with (
            Client(server_url, token=mira.app.client.token) as again,
            aclosing(again.match("lanes").events()) as events,
        ):
            assert (await anext(events)).state is MatchState.WAITING
            await mira.until("another connection of yours waits now", "back")
        assert "waiting for" not in "\n".join(mira.lines("sheet"))


async def test_two_who_look_for_an_opponent_race_each_other(tmp_path: Path) -> None:
    # On a server of their own: nobody else waits there.
    with ServerProcess(tmp_path / "server") as server:
        async with shown(server.url, name="mia") as mia, shown(server.url, name="max") as max_:
            for show, name in ((mia, "mia"), (max_, "max")):
                await show.until(f"you are {name}")
                await show.press("f")
                await show.until("which game?")
                await show.press("4")
            for show in (mia, max_):
                await show.until("accept")
                await show.press("y")
            for show in (mia, max_):
                await show.until("stock 30")
                assert isinstance(show.app.screen, RaceScreen)
            assert mia.seat.race.id == max_.seat.race.id
            assert mia.seat.race.view.options.ranked
