"""Replay files from a server: by race, by code, in parts, made once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from node import Player, Trio, node
from samedeal.engine.replay import verify
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.replay_messages import MAX_PART
from samedeal_client.connection import Client
from samedeal_client.replays import Replay
from samedeal_server.desk import RaceDesk
from support import run_cli


@pytest.fixture
async def desk(redis: Redis, valkey_url: str) -> AsyncIterator[RaceDesk]:
    async with node(valkey_url, "n1") as desk:
        yield desk


async def finished(trio: Trio) -> str:
    """End the race of a trio, and return its code."""
    for seat in (1, 2, 3):
        await trio.seats[seat].get(say.Done, ask.Bank, race=trio.race)
    state = await trio.desk.rooms.load(trio.race)
    assert state is not None
    return state.code


async def test_a_code_leads_to_the_replay_of_its_room(desk: RaceDesk) -> None:
    trio = Trio(desk, "lanes")
    await trio.sit()
    await trio.act(1, "draw", 1)
    code = await finished(trio)
    by_code = await trio.seats[1].get(say.ReplayFile, ask.ReplayGet, race=code)
    by_race = await trio.seats[2].get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    assert (by_code.race, by_code.text) == (trio.race, by_race.text)
    assert len(verify(by_code.text.splitlines(keepends=True)).actions) == 1


async def test_a_code_leads_to_the_last_race_that_is_over_when_the_room_goes_on(
    desk: RaceDesk,
) -> None:
    trio = Trio(desk, "lanes")
    await trio.sit()
    code = await finished(trio)
    ada = trio.seats[1]
    moved = await ada.get(say.Moved, ask.Next, race=trio.race)
    assert (await ada.get(say.ReplayFile, ask.ReplayGet, race=code)).race == trio.race
    no = await ada.get(say.Refused, ask.ReplayGet, race=moved.to)
    assert (no.code, no.sentence) == (
        ErrorCode.WRONG_PHASE, "the replay can be had when the race is closed",
    )  # fmt: skip


async def test_a_long_replay_comes_in_parts(desk: RaceDesk) -> None:
    trio = Trio(desk, "klondike")
    await trio.sit()
    ada = trio.seats[1]
    for seq in range(1, 1200):
        await ada.throw(encode(ask.PlayMove(id=seq, race=trio.race, seq=seq, move="draw")))
    await ada.session.settled()
    await finished(trio)
    first = await ada.get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    rest = [
        await ada.get(say.ReplayFile, ask.ReplayGet, race=trio.race, part=part)
        for part in range(1, first.parts)
    ]
    texts = [part.text for part in (first, *rest)]
    assert len(rest) >= 1
    assert max(map(len, texts)) == MAX_PART
    assert len(Replay.verify("".join(texts).splitlines(keepends=True)).file.actions) == 1199
    refused = await ada.get(say.Refused, ask.ReplayGet, race=trio.race, part=first.parts)
    assert refused.code is ErrorCode.NOT_FOUND


async def test_an_unknown_code_or_race_is_refused(desk: RaceDesk) -> None:
    ada = Player(desk)
    await ada.get(say.Welcome, ask.Hello, name="ada")
    for name in ("ZZZZZ", "0123456789abcdef"):
        refused = await ada.get(say.Refused, ask.ReplayGet, race=name)
        assert refused.code is ErrorCode.NOT_FOUND


async def test_the_command_line_fetches_by_code_race_and_run(server_url: str) -> None:
    async with Client(server_url, name="ada") as ada, Client(server_url, name="ivo") as ivo:
        race = await ada.create_race("lanes", countdown_s=0)
        rival = await ivo.join(race.code)
        await rival.ready()
        await race.ready()
        await race.until_go()
        await rival.until_go()
        refused = await asyncio.to_thread(run_cli, "replay", race.code, "--server", server_url)
        assert refused[0] == 2
        assert "the replay can be had when the race is closed" in refused[2]
        await race.move("draw")
        await rival.move("draw")
        await race.bank()
        await rival.bank()
        await race.until_closed()

        async def lines(name: str) -> list[str]:
            code, out, err = await asyncio.to_thread(
                run_cli, "replay", name, "--server", server_url
            )
            assert (code, err) == (0, "")
            return [line for line in out.splitlines() if " draw" in line and ": draw" in line]

        assert len(await lines(race.code.lower())) == 2
        assert len(await lines(race.id)) == 2
        (own,) = await lines(f"{race.id}.2")
        assert f" {ivo.name} 1: draw" in own
        assert (await race.replay()) == await ivo.replay(race.code)


async def test_a_client_puts_the_parts_together(server_url: str) -> None:
    async with Client(server_url, name="long-ada", patience_s=100) as ada:
        race = await ada.create_race("klondike", seed="long", seats=1, countdown_s=0)
        await race.ready()
        await race.until_go()
        for _ in range(20):
            await asyncio.gather(*(race.move("draw") for _ in range(50)))
        await race.bank()
        await race.until_closed()
        text = await ada.replay(race.id)
    assert len(text) > MAX_PART
    assert len(Replay.verify(text.splitlines(keepends=True)).file.actions) == 1000
