"""The server's bot: offered after a while, taken by word only, played on any node to the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis

from node import Player, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase, RaceView, Status
from samedeal.protocol.match_messages import MatchState
from samedeal_server.desk import RaceDesk
from samedeal_server.housebot import HouseBot
from samedeal_server.store import keys
from support import eventually


@asynccontextmanager
async def bot_on(desk: RaceDesk, pause_s: float = 0.001) -> AsyncIterator[HouseBot]:
    """The bot of a node, in a hurry."""
    bot = HouseBot(desk, pace_s=(pause_s, pause_s))
    yield bot
    await bot.close()


async def waits(redis: Redis, seconds: int) -> None:
    """Let everyone in the queue have waited for so much longer."""
    queue = keys.match()[0]
    entries: Any = await redis.hgetall(queue)
    for player, text in entries.items():
        parts = text.split("\n")
        parts[4] = str(int(parts[4]) - seconds * 1000)
        await redis.hset(queue, player, "\n".join(parts))


def matches(player: Player) -> list[say.Match]:
    return [message for message in player.said() if isinstance(message, say.Match)]


def room_of(player: Player) -> RaceView:
    views = [m.race for m in player.said() if isinstance(m, say.Seated | say.Room | say.Go)]
    return views[-1]


def bot_moves(player: Player) -> int:
    """How far the bot is, as the player was told last."""
    told = [v for m in player.said() if isinstance(m, say.Progress) for v in m.players if v.bot]
    return told[-1].moves if told else 0


async def with_bot(desk: RaceDesk, redis: Redis) -> tuple[Player, str, str]:
    """Ada in a race with the bot, which begins now. Return her, her token and the race."""
    ada = Player(desk)
    token = (await ada.get(say.Welcome, ask.Hello, name="ada")).token
    await ada.get(say.Match, ask.MatchQueue, game="lanes")
    await waits(redis, 20)
    await desk.matches.tick()
    ready = await ada.get(say.Match, ask.MatchBot)
    assert ready.race is not None
    assert token is not None
    await ada.get(say.Seated, ask.Resume, race=ready.race)
    seconds, _ = await redis.time()
    await redis.hset(keys.race(ready.race), "go_at", str(int(seconds) * 1000))
    await desk.rooms.advance(ready.race)
    await eventually(lambda: any(isinstance(message, say.Go) for message in ada.said()))
    return ada, token, ready.race


async def test_a_bot_is_offered_once_after_twenty_seconds_and_never_silently(
    valkey_url: str, redis: Redis
) -> None:
    async with node(valkey_url, "n1") as desk:
        ada = Player(desk)
        await ada.get(say.Welcome, ask.Hello, name="ada")
        await ada.get(say.Match, ask.MatchQueue, game="lanes")
        for waited, offers in ((19, 0), (1, 1), (5, 1)):
            await waits(redis, waited)
            await desk.matches.tick()
            states = [match.state for match in matches(ada)]
            assert states == [MatchState.WAITING, *[MatchState.BOT_OFFERED] * offers]
        # Who says nothing waits on, and gets a person who comes.
        ivo = Player(desk)
        await ivo.get(say.Welcome, ask.Hello, name="ivo")
        await ivo.get(say.Match, ask.MatchQueue, game="lanes")
        await desk.matches.tick()
        assert matches(ada)[-1].state is MatchState.FOUND
        refused = await ada.get(say.Refused, ask.MatchBot)
        assert refused.sentence == "an opponent was found just now"


async def test_the_bot_is_marked_plays_to_its_end_and_the_race_is_not_ranked(
    valkey_url: str, redis: Redis
) -> None:
    async with node(valkey_url, "n1") as desk, bot_on(desk) as bot:
        ada, _, race = await with_bot(desk, redis)
        assert [(p.name, p.bot) for p in room_of(ada).players][1] == ("housebot", True)
        assert (room_of(ada).options.ranked, room_of(ada).practice) == (False, False)
        await bot.look()
        await eventually(lambda: bot_moves(ada) > 5)
        await ada.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")

        async def has_ended() -> bool:
            state = await desk.rooms.load(race)
            return state is not None and state.seats[2].ended is not None

        await eventually(has_ended)
        await ada.get(say.Done, ask.Bank, race=race)
        await eventually(lambda: any(isinstance(m, say.Closed) for m in ada.said()))
        (closed,) = [m for m in ada.said() if isinstance(m, say.Closed)]
        (row,) = [row for row in closed.race.order if row.bot]
        assert row.status in (Status.WON, Status.BANKED)
        assert row.moves > 5
        assert row.rating is None
        await ada.session.leave()
        await eventually(lambda: desk.rooms.get(race) is None)


async def test_another_node_goes_on_with_the_bot_where_it_stood(
    valkey_url: str, redis: Redis
) -> None:
    async with node(valkey_url, "n1") as one, node(valkey_url, "n2") as two:
        ada, token, race = await with_bot(one, redis)
        # Slow enough to have something left to do, however late this test looks.
        async with bot_on(one, pause_s=0.1) as bot:
            await bot.look()
            await eventually(lambda: bot_moves(ada) > 3)
        stood = len(await one.races.log(race, 2))
        again = Player(two)
        await again.get(say.Welcome, ask.Hello, token=token)
        await again.get(say.Seated, ask.Resume, race=race)
        async with bot_on(two) as bot:

            async def has_gone_on() -> bool:
                await bot.look()
                return bot_moves(again) > stood

            await eventually(has_gone_on)
            state = await two.rooms.load(race)
            assert state is not None
            assert state.phase is Phase.RUNNING
        await again.get(say.Done, ask.Bank, race=race)
        for player in (ada, again):
            await player.session.leave()


async def test_the_bot_takes_no_seat_that_is_played(valkey_url: str, redis: Redis) -> None:
    async with node(valkey_url, "n1") as desk, bot_on(desk) as bot:
        ada, _, race = await with_bot(desk, redis)
        await bot.look()
        await eventually(lambda: bot_moves(ada) > 3)
        state = await desk.rooms.load(race)
        assert state is not None
        epoch = state.seats[2].epoch
        async with bot_on(desk) as second:
            await second.look()
        state = await desk.rooms.load(race)
        assert state is not None
        assert state.seats[2].epoch == epoch
        await ada.session.leave()
