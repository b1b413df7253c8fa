"""Ranked races and phrases over real sockets, on two nodes of one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from samedeal.engine.moves import DRAW
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Phrase
from samedeal_client.connection import Client, Race
from support import PATIENCE_S, ServerProcess, eventually
from wire import race_of, wired


@pytest.fixture(scope="module")
async def nodes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[str, str]]:
    folder: Path = tmp_path_factory.mktemp("nodes")
    store = f"unix://{folder / 'data' / 'store.sock'}"
    with (
        ServerProcess(folder / "data") as one,
        ServerProcess(folder / "unused", "--redis", store) as two,
    ):
        yield one.url, two.url


async def test_a_ranked_race_shows_ratings_to_both_before_and_after(
    nodes: tuple[str, str],
) -> None:
    async with Client(nodes[0], name="ada") as a, Client(nodes[1], name="ivo") as b:
        first: Race = await a.create_race("lanes", countdown_s=0, ranked=True)
        second = await b.join(first.code)
        async with asyncio.timeout(PATIENCE_S):
            for race in (first, second):
                await race.until(lambda r=race: len(r.view.players) == 2)  # type: ignore[misc]
                players = race.view.players
                await race.until(lambda r=race: r.view.players[1].rating is not None)  # type: ignore[misc]
                assert [(p.rating, p.provisional) for p in race.view.players] == [(1500, True)] * 2
            await second.ready()
            await first.ready()
            await first.until_go()
            await first.move(DRAW)
            for race in (first, second):
                await race.bank()
            for race in (first, second):
                await race.until_closed()
                await race.until_rated()
                assert [(row.rating_before, row.rating) for row in race.view.order] == [
                    (1500, 1605),
                    (1500, 1395),
                ]
            assert len(players) == 2
            # The next race of the room begins with what this one came to.
            following = await first.next()
            assert following.view.players[0].rating == 1605


async def test_a_phrase_is_heard_by_all_in_every_phase_and_on_every_node(
    nodes: tuple[str, str],
) -> None:
    async with wired(nodes[0], "ada") as ada, wired(nodes[1], "ivo") as ivo:
        race = await race_of(ada, ivo)
        await ada.get(say.Done, ask.Say, race=race, phrase="good_luck")
        for wire in (ada, ivo):
            await eventually(lambda w=wire: bool(w.all(say.Said)))  # type: ignore[misc]
            assert wire.all(say.Said) == [say.Said(race=race, seat=1, phrase=Phrase.GOOD_LUCK)]
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(lambda: bool(ada.all(say.Closed)))
        await ivo.get(say.Done, ask.Say, race=race, phrase="thanks")
        await eventually(lambda: len(ada.all(say.Said)) == 2)
        assert ada.all(say.Said)[1] == say.Said(race=race, seat=2, phrase=Phrase.THANKS)
        assert ada.all(say.Closed)[0].race.phase is Phase.CLOSED


async def test_who_says_too_much_is_told_when_to_go_on_and_strangers_say_nothing(
    nodes: tuple[str, str],
) -> None:
    async with wired(nodes[0], "ada") as ada, wired(nodes[0], "ivo") as ivo:
        room = await ada.get(say.Seated, ask.Create, game="lanes")
        # Both in one breath: the pause that is wanted between them must not pass on the way.
        hello = {"race": room.race.id, "phrase": "hello"}
        said, more = [await ada.post(ask.Say, **hello) for _ in range(2)]
        assert isinstance(await ada.answer(said), say.Done)
        again = await ada.answer(more)
        assert isinstance(again, say.Refused)
        assert again.code is ErrorCode.SLOW_DOWN
        assert again.retry_ms is not None
        assert 0 < again.retry_ms <= 1500
        stranger = await ivo.get(say.Refused, ask.Say, race=room.race.id, phrase="hello")
        assert stranger.code is ErrorCode.NOT_SEATED
        free = await ivo.get(say.Refused, ask.Say, race=room.race.id, phrase="you cheat")
        assert free.code is ErrorCode.BAD_FRAME
