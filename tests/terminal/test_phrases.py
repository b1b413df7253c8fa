"""Phrases on the screen: chosen from a small list, shown to all in room, race and result."""

import pytest

from raw import binary, raw
from samedeal.protocol.client_messages import Leave
from samedeal.protocol.fields import Phrase
from samedeal_client.connection import Client
from samedeal_client.terminal.screens.say import SayScreen
from screens import shown

pytestmark = pytest.mark.usefixtures("new_here")


async def test_phrases_are_said_and_seen_from_the_room_to_the_result(server_url: str) -> None:
    async with Client(server_url, name="sid") as sid, Client(server_url, name="stan") as stan:
        race = await sid.create_race("lanes", seed="phrases", countdown_s=0)
        other = await stan.join(race.code)
        async with shown(server_url, client=sid, race=race) as show:
            await show.until("ROOM ", "stan")
            await other.tell(Phrase.HELLO)
            await show.until("says: hello")
            await show.press("c")
            await show.until("SAY TO THE ROOM", "1 hello", "8 goodbye")
            assert isinstance(show.app.screen, SayScreen)
            await show.press("escape")
            await show.until("ROOM ", "says: hello")
            await show.press("c", "2")
            await show.until("says: good luck")
            # The server wants a pause between two; the client waits, and says it then.
            await show.press("c", "3")
            await show.until("says: have fun")
            await other.ready()
            await show.press("enter")
            await show.until("stock 30")
            assert " sid: have fun" in show.lines("panel")
            await other.tell(Phrase.OOPS)
            await show.until("stan says: oops", " stan: oops")
            await show.press("c")
            await show.until("SAY TO THE ROOM")
            item = next(at for at, line in enumerate(show.lines("sheet")) if "thanks" in line)
            await show.pilot.click("#sheet", offset=(8, item))
            await show.until("sid: thanks")
            await show.press("B", "B")
            await other.bank()
            await show.until("seed fits the commitment")
            await other.tell(Phrase.WELL_PLAYED)
            await show.until("stan says: well played")


async def test_a_phrase_that_is_refused_is_so_in_a_sentence(server_url: str) -> None:
    async with Client(server_url, name="sven") as sven:
        race = await sven.create_race("lanes")
        async with shown(server_url, client=sven, race=race) as show:
            await show.until("ROOM ", "sven")
            async with raw(server_url, token=sven.token) as other_device:
                leave = Leave(id=1, race=race.id)
                await other_device.write(other_device.frames(binary(leave)))
                await other_device.answer()
            await show.press("c", "1")
            await show.until("you hold no seat in that race")
