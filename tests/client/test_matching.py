"""Quick match and the lobby through the client library, over connections that are cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

import pytest

from samedeal.protocol.match_messages import MatchState
from samedeal_client.connection import Client, Race
from samedeal_client.errors import Refused
from samedeal_client.matching import QuickMatch
from support import PATIENCE_S, Proxy, eventually


async def found(match: QuickMatch, *, after: asyncio.Event | None = None) -> Race:
    """Accept whoever is found, and sit in the race."""
    async with aclosing(match.events()) as events:
        async for event in events:
            if event.state is MatchState.FOUND:
                if after is not None:
                    await after.wait()
                with suppress(Refused):  # it is gone, and the search goes on
                    await match.accept()
    return await match.race()


@pytest.fixture
async def proxy(server_url: str) -> AsyncIterator[tuple[Proxy, str]]:
    port = int(server_url.rpartition(":")[2].rstrip("/"))
    proxy = Proxy(("127.0.0.1", port))
    async with proxy as at:
        yield proxy, f"ws://127.0.0.1:{at}"


async def test_two_find_each_other_and_sit_in_one_race(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        races = await asyncio.gather(
            found(a.match("acey-and-kingsley")), found(b.match("acey-and-kingsley"))
        )
        assert races[0].id == races[1].id
        assert races[0].view.options.ranked


async def test_a_cut_connection_costs_neither_the_place_nor_the_race(
    server_url: str, proxy: tuple[Proxy, str]
) -> None:
    relay, url = proxy
    async with Client(url, name="cut") as a, Client(server_url, name="whole") as b:
        states: list[MatchState] = []
        match = a.match("single-left")

        async def search() -> Race:
            async with aclosing(match.events()) as events:
                async for event in events:
                    states.append(event.state)
                    if event.state is MatchState.FOUND:
                        with suppress(Refused):
                            await match.accept()
            return await match.race()

        searching = asyncio.create_task(search())
        await eventually(lambda: states == [MatchState.WAITING])
        relay.cut()
        await eventually(lambda: states == [MatchState.WAITING] * 2)
        accepts = asyncio.Event()
        other = asyncio.create_task(found(b.match("single-left"), after=accepts))
        await eventually(lambda: states[-1] is MatchState.FOUND)
        accepts.set()
        # Once more, about when the race is made: before it, the search goes on.
        relay.cut()
        races = await asyncio.gather(searching, other)
        assert races[0].id == races[1].id
        assert len(races[0].view.players) == 2


async def test_the_lobby_goes_on_over_a_cut_connection(
    server_url: str, proxy: tuple[Proxy, str]
) -> None:
    relay, url = proxy
    async with (
        Client(url, name="looker") as a,
        Client(server_url, name="opener") as b,
        aclosing(a.lobby("gargantua")) as lists,
    ):
        assert await anext(lists) == ()
        race = await b.create_race("gargantua", listed=True)
        assert [room.code for room in await anext(lists)] == [race.code]
        relay.cut()
        await race.leave()
        async with asyncio.timeout(PATIENCE_S):
            while await anext(lists) != ():
                pass
