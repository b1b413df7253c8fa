"""Quick match over real sockets and nodes: pairs, the ready check, ghosts, the bot."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase
from samedeal.protocol.match_messages import MatchState
from samedeal_server.store import keys
from support import PATIENCE_S, eventually, run_cli, second_node
from wire import Wire, wired

LANES = {"game": "lanes"}


@pytest.fixture
async def people(one: str, two: str) -> AsyncIterator[tuple[Wire, Wire, Wire]]:
    """Ada on one node, ivo on another, eva with ada."""
    async with AsyncExitStack() as stack:
        places = ((one, "ada"), (two, "ivo"), (one, "eva"))
        yield tuple([await stack.enter_async_context(wired(*place)) for place in places])  # type: ignore[misc]


async def heard(wire: Wire, state: MatchState, times: int = 1) -> say.Match:
    """Wait until a connection has heard of this state so often."""

    def all_of() -> list[say.Match]:
        return [message for message in wire.all(say.Match) if message.state is state]

    await eventually(lambda: len(all_of()) >= times)
    return all_of()[times - 1]


async def join(*wires: Wire, game: str = "lanes") -> None:
    for wire in wires:
        answer = await wire.get(say.Match, ask.MatchQueue, game=game)
        assert (answer.state, answer.rating) == (MatchState.WAITING, 1500)


async def accept(wire: Wire, times: int = 1) -> str:
    found = await heard(wire, MatchState.FOUND, times)
    assert found.race is not None
    await wire.get(say.Done, ask.MatchAnswer, race=found.race)
    return found.race


async def accept_all(wire: Wire) -> None:
    """Accept whoever is found, until there is a race."""
    seen = 0
    while not any(message.state is MatchState.READY for message in wire.all(say.Match)):
        # What comes while one is answered is looked at in the next turn.
        news = wire.all(say.Match)[seen:]
        seen += len(news)
        for message in news:
            if message.state is MatchState.FOUND:
                await wire.answer(await wire.post(ask.MatchAnswer, race=message.race))
        await eventually(lambda seen=seen: len(wire.all(say.Match)) > seen)  # type: ignore[misc]


async def leave(*wires: Wire) -> None:
    for wire in wires:
        await wire.get(say.Done, ask.MatchLeave)


People = tuple[Wire, Wire, Wire]


async def test_two_who_accept_sit_in_one_ranked_race_wherever_they_are(people: People) -> None:
    ada, ivo, _ = people
    await join(ada, ivo)
    found = await heard(ada, MatchState.FOUND)
    assert found.within_ms is not None
    assert 0 < found.within_ms <= 12_000
    assert await accept(ada) == await accept(ivo)
    races = []
    for wire in (ada, ivo):
        ready = await heard(wire, MatchState.READY)
        seated = await wire.get(say.Seated, ask.Resume, race=ready.race)
        assert seated.race.phase is Phase.COUNTDOWN
        assert (seated.race.options.ranked, seated.race.options.seats) == (True, 2)
        races.append(seated.race.id)
    assert races[0] == races[1] == found.race
    for wire in (ada, ivo):
        await eventually(lambda w=wire: bool(w.all(say.Go)))  # type: ignore[misc]
        (go,) = wire.all(say.Go)
        assert sorted(player.name[:3] for player in go.race.players) == ["ada", "ivo"]
        assert [player.rating for player in go.race.players] == [1500, 1500]
        await wire.get(say.Done, ask.Leave, race=go.race.id)
    late = await ada.get(say.Refused, ask.MatchAnswer, race=found.race)
    assert late.code is ErrorCode.NOT_FOUND


async def test_who_declines_is_out_and_the_other_gets_the_next_who_comes(people: People) -> None:
    ada, ivo, eva = people
    await join(ada, ivo)
    await accept(ada)
    found = await heard(ivo, MatchState.FOUND)
    await ivo.get(say.Done, ask.MatchAnswer, race=found.race, accept=False)
    assert (await heard(ivo, MatchState.OVER)).sentence == "you declined and left the queue"
    back = await heard(ada, MatchState.WAITING, times=2)
    assert back.sentence is not None
    assert "first in line" in back.sentence
    await join(eva)
    assert await accept(ada, times=2) == await accept(eva) != found.race
    for wire in (ada, eva):
        await heard(wire, MatchState.READY)
    assert not [m for m in ivo.all(say.Match) if m.state is MatchState.READY]


async def test_a_closed_connection_is_no_opponent_and_the_other_waits_on(
    people: People, two: str
) -> None:
    ada, _, _ = people
    async with wired(two, "zoe") as zoe:
        await join(ada, zoe)
        race = await accept(zoe)
        await heard(ada, MatchState.FOUND)
        zoe.abort()
    await heard(ada, MatchState.WAITING, times=2)
    gone = await ada.get(say.Refused, ask.MatchAnswer, race=race)
    assert gone.code is ErrorCode.NOT_FOUND
    await leave(ada)


async def test_those_on_a_node_that_is_killed_are_matched_with_nobody(
    people: People, service_folder: Path
) -> None:
    ada, _, eva = people
    with second_node(service_folder) as doomed:
        async with AsyncExitStack() as stack:
            ghosts = [
                await stack.enter_async_context(wired(doomed.url, f"ghost{number}"))
                for number in range(5)
            ]
            await join(*ghosts)
            # Four of them are offered to each other, and accept in part.
            for ghost in ghosts[:2]:
                await accept(ghost)
            doomed.stop(signal.SIGKILL)
    # Until the leases end ghosts may still be offered: nothing comes of them.
    await join(ada, eva)
    await asyncio.gather(*(accept_all(wire) for wire in (ada, eva)))
    ready = [await heard(wire, MatchState.READY) for wire in (ada, eva)]
    assert ready[0].race == ready[1].race
    seated = await ada.get(say.Seated, ask.Resume, race=ready[0].race)
    assert sorted(player.name[:3] for player in seated.race.players) == ["ada", "eva"]


async def test_a_second_connection_of_an_account_takes_its_place_in_the_queue(
    people: People, two: str
) -> None:
    ada, ivo, _ = people
    await join(ada)
    async with wired(two, token=ada.token) as again:
        await join(again)
        over = await heard(ada, MatchState.OVER)
        assert over.sentence == "another connection of yours waits now"
        await join(ivo)
        assert await accept(ivo) == await accept(again)
        for wire in (ivo, again):
            await heard(wire, MatchState.READY)
    assert not [m for m in ada.all(say.Match) if m.state is MatchState.FOUND]


async def test_unknown_games_and_answers_to_nothing_are_refused(people: People) -> None:
    ada, _, _ = people
    assert (await ada.get(say.Refused, ask.MatchQueue, game="poker")).code is ErrorCode.NOT_FOUND
    for kind, fields in ((ask.MatchAnswer, {"race": "0" * 16}), (ask.MatchBot, {})):
        refused = await ada.get(say.Refused, kind, **fields)
        assert refused.sentence == "you are not in the queue"
    await leave(ada)
    await join(ada)
    early = await ada.get(say.Refused, ask.MatchBot)
    assert early.code is ErrorCode.WRONG_PHASE
    await leave(ada)


@pytest.fixture
async def redis(one: str, service_folder: Path) -> AsyncIterator[Redis]:
    """The store of the nodes."""
    store = f"unix://{service_folder / 'data' / 'store.sock'}"
    async with Redis.from_url(store, decode_responses=True) as redis:
        yield redis


async def has_waited(redis: Redis, wire: Wire, seconds: float) -> None:
    """Have a player wait for longer than it did, by the store."""
    player = (wire.token or "").partition(".")[0]
    entry: Any = await redis.hget(keys.match()[0], player)
    parts = entry.split("\n")
    parts[4] = str(int(parts[4]) - int(seconds * 1000))
    await redis.hset(keys.match()[0], player, "\n".join(parts))


async def waits(redis: Redis, name: str) -> None:
    """Wait until somebody of this name is in the queue."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            entries: Any = await redis.hvals(keys.match()[0])
            if any(name in entry.split("\n") for entry in entries):
                return


async def test_a_bot_that_waits_is_offered_and_taken_but_matched_with_nobody_by_itself(
    people: People, two: str, redis: Redis, tmp_path: Path
) -> None:
    ada, ivo, eva = people
    words = ("bot", "--match", "--game", "sally", "--pace", "0", "--name", "robo", "--json")
    shell = asyncio.create_task(asyncio.to_thread(run_cli, *words, "--server", two, state=tmp_path))
    await waits(redis, "robo")
    async with wired(two, "other", bot=True) as other:
        await join(other, game="sally")
        await join(ada, game="sally")
        # Two people find each other beside two bots, who were there before.
        await join(ivo, game="sally")
        assert await accept(ada) == await accept(ivo)
        for wire in (ada, ivo):
            await heard(wire, MatchState.READY)
        await join(eva, game="sally")
        early = await eva.get(say.Refused, ask.MatchBot)
        assert early.code is ErrorCode.WRONG_PHASE
        await leave(other)
        await has_waited(redis, eva, 21)
        await heard(eva, MatchState.BOT_OFFERED)
        assert not [m for m in eva.all(say.Match) if m.state is MatchState.FOUND]
        ready = await eva.get(say.Match, ask.MatchBot)
        assert ready.state is MatchState.READY
        seated = await eva.get(say.Seated, ask.Resume, race=ready.race)
        assert not seated.race.options.ranked
        assert [(p.name, p.bot) for p in seated.race.players] == [
            (eva.name, False),
            ("robo", True),
        ]
        await eventually(lambda: bool(eva.all(say.Go)))
        await eva.get(say.Done, ask.Bank, race=ready.race)
        code, out, _ = await shell
        said = [json.loads(line) for line in out.splitlines()]
        assert [line["type"] for line in said][:2] == ["match", "room"]
        assert (code, said[1]["race"]) == (0, ready.race)
        assert not [m for m in other.all(say.Match) if m.state is not MatchState.WAITING]


async def test_who_is_cut_off_before_accepting_is_asked_once_more_on_any_node(
    people: People, one: str, two: str
) -> None:
    ada, ivo, _ = people
    await join(ada, ivo)
    race = await accept(ivo)
    await heard(ada, MatchState.FOUND)
    ivo.abort()
    async with wired(one, token=ivo.token) as back:
        answer = await back.get(say.Match, ask.MatchQueue, game="lanes")
        assert answer.state is MatchState.WAITING
        # What it said before it was cut off does not count: whoever races was there at the end.
        await ada.get(say.Done, ask.MatchAnswer, race=race)
        assert await accept(back) == race
        for wire in (ada, back):
            assert (await heard(wire, MatchState.READY)).race == race
    assert len([m for m in ada.all(say.Match) if m.state is MatchState.FOUND]) == 1
