"""A race that its persons end while bots play on, as they and the bots are told."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from node import Player, node
from samedeal.engine.replay import verify
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal_server.desk import RaceDesk
from samedeal_server.store import keys
from support import eventually


async def begun(desk: RaceDesk, *names: str, best_of: int = 1) -> tuple[str, list[Player]]:
    """A race of these on lanes, which has begun; who is called bot is one."""
    players = [Player(desk) for _ in names]
    for player, name in zip(players, names, strict=True):
        await player.get(say.Welcome, ask.Hello, name=name, bot=name.startswith("bot"))
    options = {"seats": len(names), "countdown_s": 0, "best_of": best_of}
    fields: dict[str, Any] = {"game": "lanes", "options": options}
    room = (await players[0].get(say.Seated, ask.Create, **fields)).race
    for player in players[1:]:
        await player.get(say.Seated, ask.Join, code=room.code)
    for player in players:
        await player.get(say.Done, ask.Ready, race=room.id, ready=True)
    await desk.rooms.advance(room.id)
    for player in players:
        await eventually(lambda p=player: any(isinstance(m, say.Go) for m in p.said()))  # type: ignore[misc]
    return room.id, players


async def test_all_are_told_the_order_when_a_person_ends_it(valkey_url: str, redis: Redis) -> None:
    async with node(valkey_url, "n1") as desk:
        race, (bot, ada) = await begun(desk, "bot-b", "ada")
        await bot.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
        await ada.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
        await ada.get(say.Done, ask.Bank, race=race)
        await ada.get(say.Done, ask.EndRace, race=race)
        for player in (ada, bot):
            (closed,) = [m for m in player.said() if isinstance(m, say.Closed)]
            assert {row.name for row in closed.race.order} == {"ada", "bot-b"}
        refused = await bot.get(say.Refused, ask.PlayMove, race=race, seq=2, move="draw")
        assert refused.code is ErrorCode.RUN_OVER
        file = await bot.get(say.ReplayFile, ask.ReplayGet, race=race)
        replay = verify(file.text.splitlines(keepends=True))
        assert len(replay.actions) == 2


async def test_an_outage_before_the_end_stands_in_the_result(valkey_url: str, redis: Redis) -> None:
    async with node(valkey_url, "n1") as desk:
        race, (ada, bot) = await begun(desk, "ada", "bot-b")
        await ada.get(say.Done, ask.Bank, race=race)
        state = await desk.rooms.load(race)
        assert state is not None
        await redis.hset(keys.race(race), "go_at", str(state.now_ms - 60_000))
        await redis.hset(keys.leases()[1], "beat", str(state.now_ms - 20_000))
        await desk.rooms.beat()
        await ada.get(say.Done, ask.EndRace, race=race)
        for player in (ada, bot):
            (closed,) = [m for m in player.said() if isinstance(m, say.Closed)]
            assert closed.race.paused_ms >= 20_000


async def test_who_cannot_end_it_is_told_why(valkey_url: str, redis: Redis) -> None:
    async with node(valkey_url, "n1") as desk:
        race, (ada, ivo, bot) = await begun(desk, "ada", "ivo", "bot-b")
        refused = await ada.get(say.Refused, ask.EndRace, race=race)
        assert refused.sentence == "your own run is still on; bank it first"
        await ada.get(say.Done, ask.Bank, race=race)
        refused = await ada.get(say.Refused, ask.EndRace, race=race)
        assert refused.code is ErrorCode.WRONG_PHASE
        assert refused.sentence == "ivo still plays; only bots need not be waited for"
        refused = await bot.get(say.Refused, ask.EndRace, race=race)
        assert refused.sentence == "only a person ends a race of persons and bots"
        assert not any(isinstance(m, say.Closed) for m in ivo.said())


async def test_a_series_is_not_won_by_cutting_a_bot_off(valkey_url: str, redis: Redis) -> None:
    async with node(valkey_url, "n1") as desk:
        race, (ada, _) = await begun(desk, "ada", "bot-b", best_of=3)
        await ada.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
        await ada.get(say.Done, ask.Bank, race=race)
        await ada.get(say.Done, ask.EndRace, race=race)
        (closed,) = [m for m in ada.said() if isinstance(m, say.Closed)]
        assert [row.place for row in closed.race.order if row.name == "ada"] == [1]
        moved = await ada.get(say.Moved, ask.Next, race=race)
        seated = await ada.get(say.Seated, ask.Resume, race=moved.to)
        assert [player.series for player in seated.race.players] == [0, 0]
