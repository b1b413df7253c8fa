"""The queue of quick match: who is paired with whom, who waits on; nobody is in two places."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.accounts import Account
from samedeal_server.store.queue import MatchQueue, Standing, new_ticket

pytestmark = pytest.mark.usefixtures("every_key_expires")


@dataclass
class Hall:
    """A node with its share of those who wait; time passes when a test says so."""

    queue: MatchQueue
    redis: Redis
    waiting: dict[str, str] = field(default_factory=dict)

    async def join(
        self, *names: str, game: str = "lanes", rating: int = 1500, bot: bool = False
    ) -> None:
        for name in names:
            ticket = new_ticket()
            await self.queue.join(Account(name, name, bot), ticket, game, str(rating))
            self.waiting[name] = ticket

    async def tick(self) -> dict[str, Standing]:
        rows, claims = await self.queue.tick(list(self.waiting.items()))
        for claim in claims:
            await self.queue.made(claim.pair)
        return {row.player: row for row in rows}

    async def answer(self, name: str, pair: str, *, accept: bool = True) -> str:
        return await self.queue.answer(name, self.waiting[name], pair, accept=accept)

    async def states(self) -> dict[str, str]:
        return {name: row.state for name, row in (await self.tick()).items()}


WAITED, ANSWERED_FOR = 4, 5
"""Places in an entry: since when one waits, and until when its node answers for it."""
TO_ACCEPT, TO_MAKE = 1, 2
"""Places in a pair: until when it can be accepted, and until when a node has to make its race."""


async def later(redis: Redis, seconds: float, entries: int = WAITED, pairs: int = 0) -> None:
    """Let time pass for one of the times of all entries, and for one of all pairs."""
    for key, at in zip(keys.match(), (entries, pairs), strict=False):
        found: Any = await redis.hgetall(key)
        for name, text in found.items() if at else ():
            parts = text.split("\n")
            parts[at] = str(max(0, int(parts[at]) - int(seconds * 1000)))
            await redis.hset(key, name, "\n".join(parts))


@pytest.fixture
def hall(redis: Redis) -> Hall:
    return Hall(MatchQueue(redis, "n1"), redis)


@pytest.fixture
def other(redis: Redis) -> Hall:
    return Hall(MatchQueue(redis, "n2"), redis)


async def found(*halls: Hall) -> dict[str, str]:
    """Who is in which pair."""
    return {n: row.pair for hall in halls for n, row in (await hall.tick()).items() if row.pair}


async def test_two_of_one_game_are_paired_over_nodes_and_accept_to_be_matched(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada")
    assert await hall.states() == {"ada": "waiting"}
    await other.join("ivo")
    await other.join("eva", game="sally")
    pair = (await found(other))["ivo"]
    assert await found(hall) == {"ada": pair}
    assert await hall.answer("ada", pair) == "done"
    assert (await hall.states(), await other.states()) == (
        {"ada": "accepted"},
        {"ivo": "found", "eva": "waiting"},
    )
    assert await other.answer("ivo", pair) == "done"
    await hall.tick()
    assert (await other.states())["ivo"] == "made"
    assert await hall.states() == {"ada": "made"}


async def test_exactly_one_node_is_told_to_make_the_race_and_another_if_it_dies(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada")
    await other.join("ivo")
    pair = (await found(hall))["ada"]
    await hall.answer("ada", pair)
    await other.answer("ivo", pair)
    mine, others = ([*h.waiting.items()] for h in (hall, other))
    ticks = [q.tick(w) for q, w in ((hall.queue, mine), (other.queue, others)) * 5]
    claims = [claim for _, claims in await asyncio.gather(*ticks) for claim in claims]
    assert [claim.pair for claim in claims] == [pair]
    # Whoever was told died before it said that the race is there.
    await later(other.redis, 4, pairs=TO_MAKE)
    _, again = await other.queue.tick(others)
    assert [(claim.pair, claim.sides) for claim in again] == [
        (pair, (("ada", "ada"), ("ivo", "ivo")))
    ]


async def test_who_does_not_accept_in_time_is_out_and_the_other_is_first_in_line(
    hall: Hall,
) -> None:
    await hall.join("ada", "ivo")
    pair = (await found(hall))["ada"]
    await hall.join("eva")
    await hall.answer("ada", pair)
    await later(hall.redis, 13, pairs=TO_ACCEPT)
    now = await hall.tick()
    assert {name: row.state for name, row in now.items()} == {
        "ada": "found",
        "ivo": "gone",
        "eva": "found",
    }
    assert now["ada"].pair == now["eva"].pair != pair
    assert await hall.answer("ada", pair) == "gone"


async def test_who_declines_leaves_and_the_other_waits_on_with_the_time_it_has(
    hall: Hall,
) -> None:
    await hall.join("ada", "ivo")
    pair = (await found(hall))["ada"]
    await later(hall.redis, 9)
    assert await hall.answer("ivo", pair, accept=False) == "done"
    now = await hall.tick()
    assert (now["ada"].state, now["ivo"].state) == ("waiting", "gone")
    assert now["ada"].waited_ms >= 9000


async def test_nobody_declines_what_both_have_accepted(hall: Hall) -> None:
    await hall.join("ada", "ivo")
    pair = (await found(hall))["ada"]
    await hall.answer("ada", pair)
    await hall.answer("ivo", pair)
    assert await hall.answer("ivo", pair, accept=False) == "agreed"


async def test_a_ghost_is_not_paired_and_its_opponent_waits_on(hall: Hall, other: Hall) -> None:
    await other.join("ghost")
    await later(other.redis, 4, ANSWERED_FOR)
    await hall.join("ada")
    assert await hall.states() == {"ada": "waiting"}
    await other.join("spook")
    pair = (await found(hall))["ada"]
    await other.answer("spook", pair)
    # Its node dies after it accepted: that is no opponent either.
    await later(hall.redis, 4, ANSWERED_FOR)
    assert await hall.states() == {"ada": "waiting"}
    assert await hall.answer("ada", pair) == "gone"
    assert await hall.states() == {"ada": "waiting"}


async def test_the_nearest_rating_is_taken_and_the_window_widens_with_waiting(
    hall: Hall,
) -> None:
    await hall.join("ada", rating=1500)
    await hall.join("far", rating=1900)
    assert await hall.states() == {"ada": "waiting", "far": "waiting"}
    await later(hall.redis, 6)
    assert set((await hall.states()).values()) == {"waiting"}
    await later(hall.redis, 5)
    assert set((await hall.states()).values()) == {"found"}
    await hall.join("ivo", rating=1600)
    await later(hall.redis, 1)
    await hall.join("eva", rating=1520)
    await hall.join("zoe", rating=1530)
    pairs = await found(hall)
    # Ivo waits longest, and of the two that fit zoe is nearer.
    assert pairs["ivo"] == pairs["zoe"]
    assert "eva" not in pairs


async def test_both_must_have_waited_long_enough_for_who_is_far_apart(hall: Hall) -> None:
    await hall.join("ada", rating=1500)
    await later(hall.redis, 30)
    await hall.join("far", rating=1900)
    assert await hall.states() == {"ada": "waiting", "far": "waiting"}
    await later(hall.redis, 11)
    assert await hall.states() == {"ada": "found", "far": "found"}


async def test_one_account_waits_in_one_place_and_keeps_it_on_another_connection(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada")
    await later(hall.redis, 5)
    await other.join("ada")
    assert await hall.states() == {"ada": "replaced"}
    now = await other.tick()
    assert now["ada"].state == "waiting"
    assert now["ada"].waited_ms >= 5000
    # What the first connection still says changes nothing.
    await hall.queue.leave("ada", hall.waiting["ada"])
    assert await other.states() == {"ada": "waiting"}
    # Another game is another queue: there it begins anew, and here it is gone.
    await hall.join("ivo", game="sally")
    await other.join("ada", game="sally")
    assert (await other.tick())["ada"].waited_ms < 5000


async def test_an_opponent_is_kept_by_who_comes_back_on_another_connection(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada", "ivo")
    pair = (await found(hall))["ada"]
    await hall.answer("ada", pair)
    await other.join("ada")
    assert (await other.tick())["ada"][2:4] == ("accepted", pair)
    await hall.answer("ivo", pair)
    await other.tick()
    assert (await other.tick())["ada"].state == "made"


async def test_who_lost_the_connection_after_both_accepted_still_gets_the_race(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada", "ivo")
    pair = (await found(hall))["ada"]
    for name in ("ada", "ivo"):
        await hall.answer(name, pair)
    await hall.queue.leave("ada", hall.waiting.pop("ada"))
    await other.join("ada")
    await other.tick()
    assert (await other.tick())["ada"][2:4] == ("made", pair)
    # One that was made and played keeps nobody from the next.
    await other.queue.leave("ada", other.waiting.pop("ada"))
    await other.join("ada")
    assert await other.states() == {"ada": "waiting"}


async def test_a_bot_is_to_be_had_after_twenty_seconds_and_never_beside_an_opponent(
    hall: Hall,
) -> None:
    await hall.join("ada")
    ticket = hall.waiting["ada"]
    assert (await hall.queue.take_bot("ada", ticket))[0] == "early"
    await later(hall.redis, 20)
    await hall.join("ivo")
    await hall.tick()
    assert (await hall.queue.take_bot("ada", ticket))[0] == "paired"
    await hall.queue.leave("ivo", hall.waiting.pop("ivo"))
    assert (await hall.queue.take_bot("ada", ticket))[0] == "done"
    assert await hall.states() == {"ada": "gone"}


async def test_bots_are_paired_with_nobody_and_taken_by_who_waited_and_asks(
    hall: Hall, other: Hall
) -> None:
    await other.join("far-bot", game="sally", bot=True)
    await other.join("old-bot", bot=True)
    await later(hall.redis, 1)
    await other.join("new-bot", bot=True)
    await hall.join("ada")
    await later(hall.redis, 30)
    assert set((await other.states()).values()) == {"waiting"}
    assert await hall.states() == {"ada": "waiting"}
    word, claim = await hall.queue.take_bot("ada", hall.waiting["ada"])
    assert (word, claim is not None and claim.sides) == (
        "done",
        (("ada", "ada"), ("old-bot", "old-bot")),
    )
    assert claim is not None
    assert claim.with_bot
    await hall.queue.made(claim.pair)
    states = await other.tick()
    assert states["old-bot"][2:4] == ("made", claim.pair)
    assert (states["new-bot"].state, states["far-bot"].state) == ("waiting", "waiting")
    # A bot asks for none, and one whose connection was lost is there for nobody.
    assert (await other.queue.take_bot("new-bot", other.waiting["new-bot"]))[0] == "early"
    await other.queue.away("new-bot", other.waiting.pop("new-bot"))
    await hall.join("ivo")
    await later(hall.redis, 30)
    assert await hall.queue.take_bot("ivo", hall.waiting["ivo"]) == ("done", None)


async def test_a_race_with_a_bot_is_made_by_another_node_if_the_first_one_dies(
    hall: Hall, other: Hall
) -> None:
    await other.join("robo", bot=True)
    await hall.join("ada")
    await later(hall.redis, 30)
    _, claim = await hall.queue.take_bot("ada", hall.waiting["ada"])
    await later(hall.redis, 4, pairs=TO_MAKE)
    assert (await other.queue.tick([]))[1] == (claim,)


async def test_who_lost_the_connection_keeps_place_and_opponent_for_a_moment_and_meets_nobody_new(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada")
    await later(hall.redis, 5)
    await hall.queue.away("ada", hall.waiting.pop("ada"))
    await other.join("ivo")
    assert await other.states() == {"ivo": "waiting"}
    await hall.join("ada")
    now = await hall.tick()
    assert (now["ada"].state, now["ada"].waited_ms >= 5000) == ("found", True)
    pair = now["ada"].pair
    # Lost again after it accepted: it has to accept once more when it is back.
    await hall.answer("ada", pair)
    await hall.queue.away("ada", hall.waiting.pop("ada"))
    await other.answer("ivo", pair)
    assert await other.states() == {"ivo": "accepted"}
    await hall.join("ada")
    assert (await hall.tick())["ada"][2:4] == ("found", pair)
    assert await hall.answer("ada", pair) == "done"
    await hall.tick()
    assert await other.states() == {"ivo": "made"}


async def test_who_does_not_come_back_is_out_and_comes_later_as_anybody(
    hall: Hall, other: Hall
) -> None:
    await hall.join("ada")
    await later(hall.redis, 9)
    await other.join("ivo")
    pair = (await found(hall))["ada"]
    await other.answer("ivo", pair)
    await hall.queue.away("ada", hall.waiting.pop("ada"))
    await later(hall.redis, 4, ANSWERED_FOR)
    await hall.join("ada", game="sally")
    await hall.join("ada")
    assert (await hall.tick())["ada"].waited_ms < 9000
    assert await other.answer("ivo", pair) == "gone"


async def test_of_a_crowd_whoever_fits_somebody_is_paired_within_the_windows(hall: Hall) -> None:
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    ratings = {f"p{number:03}": rng.randrange(800, 2800) for number in range(200)}
    began_s = asyncio.get_running_loop().time()
    for name, rating in ratings.items():
        await hall.join(name, game=rng.choice(["lanes", "sally"]), rating=rating)
    games = {name: (await entry(hall, name))[2] for name in ratings}
    for _ in range(40):
        # Of so many the queue moves on a few times a second only: as if that time had passed.
        await hall.redis.delete(keys.match()[2])
        pairs = await found(hall)
    widest = 150 + 25 * (asyncio.get_running_loop().time() - began_s + 1)
    sides: dict[str, list[str]] = {}
    for name, pair in pairs.items():
        sides.setdefault(pair, []).append(name)
    for one, other in sides.values():
        assert games[one] == games[other], f"seed {seed}"
        assert abs(ratings[one] - ratings[other]) <= widest, f"seed {seed}"
    left = [name for name in ratings if name not in pairs]
    for one in left:
        for other in left:
            is_near = abs(ratings[one] - ratings[other]) <= 150
            assert one == other or games[one] != games[other] or not is_near, f"seed {seed}"


async def entry(hall: Hall, name: str) -> list[str]:
    text: Any = await hall.redis.hget(keys.match()[0], name)
    return str(text).split("\n")


async def test_of_many_on_two_nodes_nobody_is_ever_matched_twice(redis: Redis) -> None:
    """Everyone does anything at any moment; a race is a pair that both have accepted."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    halls = [Hall(MatchQueue(redis, f"n{number}"), redis) for number in (1, 2)]
    names = [f"p{number:02}" for number in range(40)]
    made: list[tuple[str, ...]] = []
    accepted: dict[str, set[str]] = {}

    async def act(hall: Hall) -> None:
        for _ in range(120):
            what, name = rng.random(), rng.choice(names)
            if what < 0.35:
                game, rating = rng.choice(["lanes", "sally"]), rng.randrange(1300, 1700)
                await hall.join(name, game=game, rating=rating)
            elif what < 0.45 and (ticket := hall.waiting.pop(name, None)):
                await hall.queue.leave(name, ticket)
            else:
                await tick(hall, hall.waiting.items())

    async def tick(hall: Hall, waiting: Iterable[tuple[str, str]]) -> None:
        rows, claims = await hall.queue.tick(list(waiting))
        for claim in claims:
            made.append((claim.pair, *(player for player, _ in claim.sides)))
            await hall.queue.made(claim.pair)
        for row in rows:
            if row.state == "found":
                accept = rng.random() < 0.8
                word = await hall.queue.answer(row.player, row.ticket, row.pair, accept=accept)
                if word == "done" and accept:
                    accepted.setdefault(row.pair, set()).add(row.player)
            elif row.state in ("made", "gone", "replaced"):
                if hall.waiting.get(row.player) == row.ticket:
                    del hall.waiting[row.player]
                await hall.queue.leave(row.player, row.ticket)

    await asyncio.gather(*(act(hall) for hall in halls for _ in range(4)))
    assert len(made) > 20, f"seed {seed}"
    assert max(Counter(pair for pair, *_ in made).values()) == 1, f"seed {seed}"
    for pair, *players in made:
        assert accepted[pair] == set(players), f"seed {seed}"
        assert len(set(players)) == 2, f"seed {seed}"
    # Whoever is still in the queue is in one pair at most, and each pair has two.
    entries: Any = await redis.hvals(keys.match()[0])
    left = Counter(text.split("\n")[6] for text in entries)
    assert all(count <= 2 for pair, count in left.items() if pair), f"seed {seed}"
