"""Which seats a client resumes when it comes back: not those that nobody follows any more."""

import asyncio

import pytest

from relay import Fields, Relay
from samedeal.engine.moves import DRAW
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase
from samedeal_client.connection import Client, Link, Race
from samedeal_client.errors import ConnectionLost
from support import eventually


class Resumes:
    """The races that a client asks to resume."""

    def __init__(self, relay: Relay) -> None:
        self.races: list[str] = []
        relay.asked = self._note

    def _note(self, fields: Fields) -> list[Fields]:
        if fields["type"] == "resume":
            self.races.append(fields["race"])
        return [fields]


async def closed_race(client: Client, rival: Client) -> tuple[Race, Race]:
    """A race that was played to its close, as both have it."""
    race = await client.create_race("lanes", countdown_s=0)
    other = await rival.join(race.code)
    await other.ready()
    await race.ready()
    for one in (race, other):
        await one.until_go()
        await one.move(DRAW)
        await one.bank()
    await race.until_closed()
    await other.until_closed()
    return race, other


async def test_only_races_that_are_open_or_followed_are_resumed(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada") as ada, Client(server_url, name="ivo") as ivo:
        over, _ = await closed_race(ada, ivo)
        watched, _ = await closed_race(ada, ivo)
        links: list[Link] = []

        async def follow() -> None:
            async for event in watched.events():
                links.extend([event] if isinstance(event, Link) else [])

        following = asyncio.create_task(follow())
        await eventually(lambda: watched.is_followed)
        left = await ada.create_race("sally")
        await left.leave()
        is_open = await ada.create_race("sally")
        resumes = Resumes(relay)
        await relay.close_all(1012, "retry_ms=1")
        await eventually(lambda: Link(is_up=True) in links)
        await is_open.ready()
        assert sorted(resumes.races) == sorted([is_open.id, watched.id])
        assert over.is_alive
        with pytest.raises(ConnectionLost, match="given back"):
            await left.ready()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def test_a_race_that_was_let_go_of_is_resumed_when_somebody_asks(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada") as ada, Client(server_url, name="ivo") as ivo:
        race, other = await closed_race(ada, ivo)
        is_open = await ada.create_race("sally")
        resumes = Resumes(relay)
        await relay.close_all(1012, "retry_ms=1")
        await is_open.ready()
        assert resumes.races == [is_open.id]
        # What happened while nobody followed is told.
        moved_to = (await other.next()).id
        async for event in race.events():
            if isinstance(event, say.Moved):
                assert event.to == moved_to
                break
        await race.tell("good_luck")
        assert resumes.races == [is_open.id, race.id]
        assert (race.view.phase, race.view.next) == (Phase.CLOSED, moved_to)


async def test_of_two_calls_for_one_race_that_was_let_go_of_the_later_has_it(
    server_url: str,
) -> None:
    async with Client(server_url, name="ada") as ada, Client(server_url, name="ivo") as ivo:
        race, _ = await closed_race(ada, ivo)
        await ada.create_race("sally")
        again = await ada.resume(race.id)
        assert again is not race
        with pytest.raises(ConnectionLost, match="resumed by another call"):
            await race.tell("good_luck")
        await again.tell("good_luck")
