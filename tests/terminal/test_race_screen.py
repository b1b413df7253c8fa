"""The race on the screen of the terminal client, against a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW
from samedeal_client.connection import Client, Race
from samedeal_client.terminal.screens.race import RaceScreen
from samedeal_client.terminal.screens.result import ResultScreen
from screens import Show, shown
from support import eventually

pytestmark = pytest.mark.usefixtures("new_here")


@asynccontextmanager
async def racing(
    url: str, game_id: str = "lanes", *, size: tuple[int, int] = (80, 24), seed: str = "screens"
) -> AsyncIterator[tuple[Show, Race]]:
    """A race that has begun: one player on the screen, quinn beside."""
    async with Client(url, name="pat") as pat, Client(url, name="quinn") as quinn:
        race = await pat.create_race(game_id, seed=seed, countdown_s=0)
        rival = await quinn.join(race.code)
        async with shown(url, client=pat, race=race, size=size) as show:
            await show.until("ROOM ", rival.view.players[1].name)
            await show.press("enter")
            await rival.ready()
            await show.until("RACE", "stock")
            yield show, rival


@pytest.mark.parametrize("game_id", list(GAMES))
async def test_every_game_is_played_on_the_screen(server_url: str, game_id: str) -> None:
    async with racing(server_url, game_id) as (show, rival):
        rules = game(game_id)
        assert show.lines("header")[0].startswith(f" {rules.title.upper()}")
        assert len(show.lines("board")) == 20
        race = show.seat.race
        await show.press("space")
        await eventually(lambda: race.acked == 1)
        await show.until("moves 1")
        waste = race.table.pile("W")
        assert show.app.faces.card(waste[-1]) in show.text
        await rival.move(DRAW)
        await eventually(lambda: race.view.players[1].moves == 1)


async def test_a_refusal_is_one_sentence_and_costs_no_move(server_url: str) -> None:
    async with racing(server_url) as (show, _):
        await show.press("w")
        await eventually(lambda: show.lines("message")[0] == " the waste is empty")
        assert "moves 0" in show.lines("header")[0]


async def test_a_race_is_banked_with_two_keys_and_ends_in_the_order(server_url: str) -> None:
    async with racing(server_url) as (show, rival):
        await show.press("B")
        await show.until("again within 3 s banks")
        await show.press("B")
        await show.until("banked:")
        assert isinstance(show.app.screen, RaceScreen)
        await rival.move(DRAW)
        await rival.bank()
        quinn, pat = (player.name for player in reversed(show.seat.race.view.players))
        await show.until("seed fits the commitment", f"{quinn} before {pat}: {pat} made no move")
        assert isinstance(show.app.screen, ResultScreen)
        await show.press("n")
        await show.until("ROOM ")
        assert show.seat.race.view.round == 2


async def test_a_window_of_any_size_shows_the_race_or_says_what_is_missing(
    server_url: str,
) -> None:
    async with racing(server_url) as (show, _):
        await show.pilot.resize_terminal(59, 24)
        await show.until("This needs 60 by 20 characters")
        await show.pilot.resize_terminal(60, 20)
        await show.until("1 pat", "* 0  2 quinn")
        assert not show.app.screen.query_one("#panel").display
        await show.pilot.resize_terminal(100, 30)
        await show.until("╰────╯", "RACE")
        await show.pilot.resize_terminal(80, 24)
        await eventually(lambda: "╰" not in show.text and "stock 30" in show.text)


async def test_progress_of_others_draws_no_row_of_the_own_board(server_url: str) -> None:
    async with racing(server_url) as (show, rival):
        await show.press("p")
        await show.until("home best open moves")

        async def has_moved(moves: int) -> None:
            await rival.move(DRAW)
            end = f" {moves}"
            await eventually(lambda: any(line.endswith(end) for line in show.lines("panel")))

        # Whatever the start still had to draw is drawn by then.
        await has_moved(1)
        board = show.sheet("board")
        drawn = board.drawn
        for moves in range(2, 6):
            await has_moved(moves)
        assert board.drawn == drawn
