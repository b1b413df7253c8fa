"""Who takes a bot sits in a race or waits on, whatever becomes of the store meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from samedeal.protocol.codec import decode_server
from samedeal.protocol.match_messages import Match, MatchState
from samedeal_server.errors import StoreUnavailable
from samedeal_server.matches import Matches
from samedeal_server.ratings import Ratings
from samedeal_server.store.accounts import Account, new_id
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.queue import MatchQueue
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import RatingStore

pytestmark = pytest.mark.usefixtures("every_key_expires")


class AwayOnce(RaceStore):
    """A store that is away when the first race is to be made."""

    is_away = True

    async def create(self, *args: Any, **fields: Any) -> Any:
        if self.is_away:
            self.is_away = False
            raise StoreUnavailable("cut off")
        return await super().create(*args, **fields)


class Ear:
    """A connection that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Match] = []

    def send(self, frame: bytes) -> None:
        message = decode_server(frame)
        assert isinstance(message, Match)
        self.told.append(message)


@pytest.mark.parametrize("whose", ["the server's", "one that waits"])
async def test_who_takes_a_bot_while_the_store_is_away_waits_on_or_is_told_the_race(
    redis: Redis, whose: str
) -> None:
    races = AwayOnce(redis, "n1")
    ratings = Ratings(RatingStore(redis), races, BoardStore(redis))
    matches = Matches(MatchQueue(redis, "n1", bot_ms=0), races, ratings)
    ada, robo = Account(new_id(), "ada", bot=False), Account(new_id(), "robo", bot=True)
    mine, others = Ear(), Ear()
    if whose == "one that waits":
        await matches.join(robo, others, "lanes", 1)
    await matches.join(ada, mine, "lanes", 1)
    with pytest.raises(StoreUnavailable):
        await matches.bot(ada, mine, 2)
    if whose == "one that waits":
        # The race is promised to both: whoever makes it, they are told.
        await redis.hset("{match}:pairs", *await made_late(redis))
        for _ in range(2):
            await matches.tick()
        assert [m.race for m in mine.told if m.state is MatchState.READY] == [
            m.race for m in others.told
        ]
        assert others.told[0].state is MatchState.READY
    else:
        await matches.tick()
        ready = await matches.bot(ada, mine, 3)
        assert ready.state is MatchState.READY
        assert ready.race is not None
        assert await races.load(ready.race) is not None


async def test_of_two_connections_that_ask_at_once_one_is_told_that_the_other_waits(
    redis: Redis,
) -> None:
    races = RaceStore(redis, "n1")
    ratings = Ratings(RatingStore(redis), races, BoardStore(redis))
    matches = Matches(MatchQueue(redis, "n1", bot_ms=0), races, ratings)
    ada, ears = Account(new_id(), "ada", bot=False), [Ear(), Ear(), Ear()]
    await asyncio.gather(*(matches.join(ada, ear, "lanes", 1) for ear in ears))
    await matches.tick()
    states = sorted([message.state.value for message in ear.told] for ear in ears)
    assert states == [["bot_offered"], ["over"], ["over"]]


async def made_late(redis: Redis) -> tuple[str, str]:
    """The only pair, with the time over that its node had to make the race."""
    found: Any = await redis.hgetall("{match}:pairs")
    ((race, text),) = found.items()
    parts = text.split("\n")
    parts[2] = "0"
    return race, "\n".join(parts)
