"""Ghosts on the screen: raced from a result, a board row and a replay, marked and unranked."""

from pathlib import Path

import pytest

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal_client.connection import Client
from samedeal_client.terminal import settings as remembered
from samedeal_client.terminal.screens.race import RaceScreen
from samedeal_client.terminal.screens.result import ResultScreen
from screens import shown
from support import eventually
from wire import race_of, wired

pytestmark = pytest.mark.usefixtures("new_here")

FILES = Path(__file__).parents[1] / "replays" / "files"


async def test_the_runs_of_a_result_are_raced_again_as_ghosts(server_url: str) -> None:
    async with shown(server_url, name="gus") as show, Client(server_url, name="gale") as gale:
        await show.until("you are gus")
        await show.press("m", "4")
        await show.until("MAKE A ROOM")
        await show.press("enter")
        await show.until("ROOM ")
        other = await gale.join(show.seat.race.code)
        await other.ready()
        await show.press("enter")
        await show.until("Pick a column")
        first = show.picture.rows
        await show.press("space")
        await show.until("moves 1")
        await show.press("B", "B")
        await other.bank()
        await show.until("gus before gale: gale made no move", "G race the ghosts")
        await show.press("G")
        await show.until("gus G", "gale G", "gus*", "G = ghost", "ghosts, unranked", "practice")
        assert show.picture.rows == first  # the same deal
        # They go by the clock: the ghost makes its one move when that was made.
        await eventually(lambda: isinstance(show.app.screen, RaceScreen))
        await show.press("p")
        await show.until("gus G        0    0    0     1")
        await show.press("space")
        await show.until("moves 1")
        await show.press("B", "B")
        await show.until("place ", "of 3", "ghost of gus", "ghost of gale", "n once more")
        assert isinstance(show.app.screen, ResultScreen)
        assert show.seat.race.view.options.ranked is False
        assert len(show.seat.race.view.order) == 1  # the server knows of no ghost
        code = show.seat.race.code
        await show.press("n")
        await show.until("gale G", "moves 0")
        assert show.seat.race.code != code


async def test_the_run_that_leads_in_a_replay_is_raced_alone(server_url: str) -> None:
    async with shown(server_url, name="rita", size=(60, 20)) as show:
        await show.until("you are rita")
        await show.app.open_replay(str(FILES / "lanes.jsonl"))
        await show.until("REPLAY LANES")
        names = [line.split()[0] for line in show.text.splitlines() if " home, " in line]
        await show.press("tab", "G")
        await show.until("rita*", " G ")
        ghosts = [player.name for player in show.seat.haunted.ghosts.at(0)]  # type: ignore[union-attr]
        assert len(ghosts) == 1
        assert len(names) > 1
        await show.press("Q", "Q")
        await show.until("quick race")


async def test_a_row_of_a_board_is_raced(server_url: str) -> None:
    async with wired(server_url, "bo") as bo, wired(server_url, "ben") as ben:
        race = await race_of(bo, ben, game="gargantua")
        for wire in (bo, ben):
            await wire.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(lambda: bool(bo.all(say.Closed)))
    async with shown(server_url, name="bella") as show:
        await show.until("you are bella")
        await show.press("b")
        await show.until("BOARDS")
        await show.press("g", "g", "g", "g", "g")
        await show.until("BOARDS  Gargantua", "1 won of 1", "G race")
        await show.press("G")
        await show.until("GARGANTUA", "bella*", " G ", "ghosts, unranked")


async def test_the_deal_of_a_day_that_is_on_is_not_raced_again(at_noon: str) -> None:
    async with shown(at_noon, name="didi") as show:
        await show.until("you are didi")
        await show.press("d")
        await show.until("featured")
        await show.press("enter")
        await show.until("DAILY", "this run")
        await show.press("space")
        await show.until("moves 1")
        await show.press("B", "B")
        await show.until("place 1 of 1")
        assert "race the ghosts" not in show.text
        await show.press("G")
        await show.until(
            "the seed of this deal is public when its day is closed; get it again", "then"
        )


async def test_the_last_run_is_raced_from_home_also_after_a_new_start(server_url: str) -> None:
    async with shown(server_url, name="gina") as show:
        await show.until("you are gina")
        await show.press("q", "4")
        await show.until("Pick a column")
        await show.press("space")
        await show.until("moves 1")
        first, run = show.picture.rows[5:], f"{show.seat.race.id}.{show.seat.race.model.seat}"
        await show.press("B", "B")
        await show.until("waiting for")
        await show.press("E")
        await show.until("next deal")
        await show.press("Q", "g")
        await show.until_static("RACE A GHOST")
        await show.press("enter")
        await show.until("gina*", "gina G", "ghosts, unranked")
        assert show.picture.rows[5:] == first
        await show.press("Q", "Q")
        await show.until("quick race")
        await show.press("g")
        await show.until_static("RACE A GHOST")
        await show.press("ctrl+u")
        await show.press(*"nothere", "enter")
        await show.until("nothere")
    assert remembered.load().last_run == run
