"""Ways to see and to touch: letters for suits, no colours, own keys, the mouse, the cursor."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from samedeal_client.connection import Client
from samedeal_client.model.ink import Ink
from samedeal_client.model.keys import Keys
from samedeal_client.terminal.palette import Palette, styles
from screens import Show, shown
from support import eventually

pytestmark = pytest.mark.usefixtures("new_here")


@asynccontextmanager
async def racing(
    url: str, *, keys: Keys | None = None, is_ascii: bool = False
) -> AsyncIterator[Show]:
    """A race that has begun, on the screen."""
    async with Client(url, name="moe") as one, Client(url, name="mona") as two:
        race = await one.create_race("lanes", seed="modes", countdown_s=0)
        await (await two.join(race.code)).ready()
        async with shown(url, client=one, race=race, keys=keys, is_ascii=is_ascii) as show:
            await show.until("Press Enter")
            await show.press("enter")
            await show.until("stock 30", "RACE")
            yield show


async def test_a_terminal_that_knows_no_glyphs_gets_letters(server_url: str) -> None:
    async with racing(server_url, is_ascii=True) as show:
        await show.press("1")
        assert show.text.isascii()


async def test_no_color_is_heeded(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with racing(server_url) as show:
        assert show.app.palette is Palette.MONO
    assert not [ink for ink, style in styles(Palette.MONO).items() if style.color is not None]
    plain = styles(Palette.MONO)[Ink.PLAIN]
    assert all(styles(Palette.MONO)[ink] != plain for ink in (Ink.PICK, Ink.TARGET, Ink.CURSOR))


async def test_own_keys_play(server_url: str) -> None:
    async with racing(server_url, keys=Keys.parse('[keys]\ndraw = ["d"]')) as show:
        await show.press("space")
        assert "moves 0" in show.text
        await show.press("d")
        await show.until("moves 1")
        assert "d turn" in show.lines("keys")[0]


async def test_a_click_picks_a_second_drops_and_the_stock_turns(server_url: str) -> None:
    async with racing(server_url) as show:
        race = show.seat.race
        move = next(
            move
            for move in race.table.legal_moves
            if move.source.startswith("T") and move.target.startswith("T")
        )
        for pile in (move.source, move.target):
            place = next(spot for spot in show.picture.spots if spot.pile == pile)
            await show.pilot.click("#board", offset=(place.left + 1, place.row))
        await eventually(lambda: race.acked == 1)
        await show.pilot.click("#board", offset=(2, 0))
        await show.until("stock 29", "moves 2")


async def test_the_cursor_alone_plays_a_move(server_url: str) -> None:
    async with racing(server_url) as show:
        await show.press("tab", "up")
        while show.seat.play.cursor != "S":
            before = show.seat.play.cursor
            await show.press("up")
            if show.seat.play.cursor == before:
                await show.press("left")
        await show.press("enter")
        await show.until("29 (by 1", "moves 1")
