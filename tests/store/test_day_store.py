"""Days in the store: deals that stand, claims, runs that begin on their day and end with it."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from typing import TYPE_CHECKING

import pytest

from racestore import ADA, RACE, Store, new_race
from samedeal.protocol.fields import DealLabel, Phase, Status
from samedeal_server.errors import SeedUsed
from samedeal_server.race import RaceDay
from samedeal_server.store.days import DayDeal, DayStore, Tries
from samedeal_server.store.leases import Outage

if TYPE_CHECKING:
    from redis.asyncio import Redis

pytestmark = pytest.mark.usefixtures("every_key_expires")

HOUR_MS = 3600 * 1000


@pytest.fixture
def days(redis: Redis) -> DayStore:
    return DayStore(redis)


def drawn(day: int = 334, game: str = "lanes") -> DayDeal:
    return DayDeal(day, game, DealLabel.OPEN, secrets.token_bytes(32))


async def test_of_many_who_make_a_deal_at_once_all_get_the_same(days: DayStore) -> None:
    made = await asyncio.gather(*(days.put(drawn()) for _ in range(20)))
    assert len({deal.seed for deal in made}) == 1
    assert await days.put(drawn()) == made[0]
    _, (found, other) = await days.deals([(334, "lanes"), (335, "lanes")])
    assert (found, other) == (made[0], None)


async def test_p51_no_two_days_have_one_seed(days: DayStore) -> None:
    first = await days.put(drawn())
    for day, game in ((335, "lanes"), (334, "sally")):
        with pytest.raises(SeedUsed, match=f"day {day} of {game} was used before"):
            await days.put(DayDeal(day, game, DealLabel.OPEN, first.seed))
    assert await days.put(first) == first


async def test_the_first_claim_stands_and_a_practice_run_follows_the_last(days: DayStore) -> None:
    claims = await asyncio.gather(
        *(days.claim(ADA, 334, "lanes", f"race{n:012}") for n in range(9))
    )
    assert len(set(claims)) == 1
    assert await days.practise(ADA, 334, "lanes", "", "one") == "one"
    assert await days.practise(ADA, 334, "lanes", "", "two") == "one"
    assert await days.practise(ADA, 334, "lanes", "one", "two") == "two"
    assert await days.tries(ADA, 334, "lanes") == Tries(claims[0], "two")
    assert await days.tries(ADA, 335, "lanes") == Tries("", "")


async def test_void_days_are_told_by_game(days: DayStore) -> None:
    await days.put(drawn())
    await days.put(drawn(game="sally"))
    await days.void(334, "lanes")
    await days.void(334, "lanes")
    _, (lanes, sally) = await days.deals([(334, "lanes"), (334, "sally")])
    assert lanes is not None
    assert sally is not None
    assert (lanes.is_void, sally.is_void) == (True, False)
    assert (await days.voided("lanes"), await days.voided("sally")) == ({334}, set())
    await days.unvoid(334, "lanes")
    assert await days.voided("lanes") == set()


async def test_a_run_of_a_day_begins_once_and_only_before_its_day_is_over(
    store: Store, days: DayStore
) -> None:
    now_ms = await days.now_ms()
    day = RaceDay(334, DealLabel.OPEN, now_ms + HOUR_MS)
    await store.races.create(dataclasses.replace(new_race(), day=day))
    end_ms = now_ms + 2 * HOUR_MS
    begin = store.races.begin
    assert await begin(RACE, before_ms=now_ms - 1, deadline_ms=end_ms) == "late"
    assert (await store.state()).phase is Phase.LOBBY
    assert await begin(RACE, before_ms=now_ms + HOUR_MS, deadline_ms=end_ms) == "done"
    state = await store.state()
    assert (state.phase, state.deadline_at_ms, state.day) == (Phase.RUNNING, end_ms, day)
    assert now_ms <= state.go_at_ms <= state.now_ms
    assert await begin(RACE, before_ms=now_ms - 1, deadline_ms=1) == "done"
    again = await store.state()
    assert again == dataclasses.replace(state, now_ms=again.now_ms)
    assert await begin("nosuchrace000000", before_ms=end_ms, deadline_ms=end_ms) == "missing"


async def test_nobody_leaves_a_run_of_a_day_before_it_begins(store: Store, days: DayStore) -> None:
    now_ms = await days.now_ms()
    day = RaceDay(334, DealLabel.OPEN, now_ms + HOUR_MS)
    await store.races.create(dataclasses.replace(new_race(), day=day))
    made = await store.state()
    player = made.seats[1].player
    for how in (Status.LEFT, Status.BANKED):
        assert await store.races.leave(RACE, player, how) == "phase"
    state = await store.state()
    assert state == dataclasses.replace(made, now_ms=state.now_ms)


async def test_no_outage_lengthens_a_day_whose_seed_is_public_at_its_hour(
    store: Store, days: DayStore
) -> None:
    now_ms = await days.now_ms()
    day = RaceDay(334, DealLabel.OPEN, now_ms + HOUR_MS)
    await store.races.create(dataclasses.replace(new_race(), day=day))
    end_ms = now_ms + 2 * HOUR_MS
    await store.races.begin(RACE, before_ms=end_ms, deadline_ms=end_ms)
    await store.set(go_at=now_ms - HOUR_MS)
    at = await store.advance(RACE, Outage(7, now_ms - 60_000, now_ms - 1000))
    assert at is not None
    assert (at.phase, at.due_ms, at.is_of_a_day) == (Phase.RUNNING, end_ms, True)
    assert (await store.state()).paused_ms == 0
