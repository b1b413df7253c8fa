"""A race that its persons end while bots play on, in the store."""

from typing import Any

import pytest

from racestore import ADA, EVA, IVO, RACE, ZOE, Store
from samedeal.protocol.fields import Phase, Status
from samedeal_server.store import keys
from samedeal_server.store.races import Attached, RaceStore
from support import PATIENCE_S

pytestmark = pytest.mark.usefixtures("every_key_expires")


async def with_bot(store: Store, **options: Any) -> tuple[Attached, Attached]:
    """Ada and the bot zoe in a race that has begun."""
    await store.open(countdown_s=0, **options)
    await store.races.join(RACE, ZOE, "zoe", bot=True)
    for player in (ZOE, ADA):
        await store.races.ready(RACE, player, ready=True)
    ada, zoe = await store.races.attach(RACE, ADA), await store.races.attach(RACE, ZOE)
    assert isinstance(ada, Attached)
    assert isinstance(zoe, Attached)
    await store.advance()
    return ada, zoe


async def test_who_is_done_ends_a_race_in_which_only_a_bot_plays_on(store: Store) -> None:
    ada, zoe = await with_bot(store)
    await store.commit(ada, 1, home=2, best=2, rose=True)
    await store.commit(zoe, 1, home=5, best=5, rose=True)
    await store.races.leave(RACE, ADA, Status.BANKED)
    assert await store.races.end_race(RACE, ADA) == ("done", 0)
    state = await store.state()
    assert state.phase is Phase.CLOSED
    assert state.closed_at_ms < state.deadline_at_ms
    # The bot keeps what it had reached, here the first place.
    assert [(row.seat, row.best, row.status) for row in state.order()] == [
        (2, 5, Status.CUT_OFF),
        (1, 2, Status.BANKED),
    ]
    assert (await store.commit(zoe, 2))[0] == "closed"


async def test_ending_twice_is_ending_once(store: Store) -> None:
    await with_bot(store)
    await store.races.leave(RACE, ADA, Status.BANKED)
    await store.races.end_race(RACE, ADA)
    before = await store.state()
    assert await store.races.end_race(RACE, ADA) == ("done", 0)
    after = await store.state()
    assert (after.ver, after.closed_at_ms) == (before.ver, before.closed_at_ms)


async def test_a_person_who_plays_is_waited_for_also_when_away(store: Store) -> None:
    await store.open(countdown_s=0, seats=3)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.join(RACE, ZOE, "zoe", bot=True)
    for player in (ADA, IVO, ZOE):
        await store.races.ready(RACE, player, ready=True)
    await store.advance()
    await store.races.leave(RACE, ADA, Status.BANKED)
    before = await store.state()
    assert await store.races.end_race(RACE, ADA) == ("playing", 2)
    assert await store.races.end_race(RACE, ZOE) == ("bot", 0)
    assert await store.races.end_race(RACE, EVA) == ("not_seated", 0)
    after = await store.state()
    assert (after.phase, after.ver) == (Phase.RUNNING, before.ver)
    await store.races.leave(RACE, IVO, Status.LEFT)
    assert await store.races.end_race(RACE, ADA) == ("done", 0)


async def test_nothing_ends_before_it_has_begun(store: Store) -> None:
    await store.open(countdown_s=60)
    assert await store.races.end_race(RACE, ADA) == ("phase", 0)
    await store.races.join(RACE, ZOE, "zoe", bot=True)
    for player in (ZOE, ADA):
        await store.races.ready(RACE, player, ready=True)
    await store.races.leave(RACE, ADA, Status.LEFT)
    assert await store.races.end_race(RACE, ADA) == ("phase", 0)
    assert (await store.state()).phase is Phase.COUNTDOWN


async def test_the_end_tells_a_stuck_bot_from_one_cut_off(store: Store) -> None:
    _, zoe = await with_bot(store)
    await store.commit(zoe, 1)
    await store.races.mark_stuck(RACE, 2, 1)
    await store.races.leave(RACE, ADA, Status.LEFT)
    assert await store.races.end_race(RACE, ADA) == ("done", 0)
    assert (await store.state()).seats[2].ended is Status.STUCK


async def test_the_end_rings_at_the_node_where_the_bot_plays(store: Store) -> None:
    await with_bot(store)
    await RaceStore(store.redis, "elsewhere").attach(RACE, ZOE)
    await store.races.leave(RACE, ADA, Status.LEFT)
    ver = (await store.state()).ver
    async with store.redis.pubsub(ignore_subscribe_messages=True) as bell:
        await bell.subscribe("bell:elsewhere")
        await bell.get_message(timeout=PATIENCE_S)
        assert await store.races.end_race(RACE, ADA) == ("done", 0)
        rang = await bell.get_message(timeout=PATIENCE_S)
    assert rang is not None
    assert rang["data"] == f"{keys.race(RACE)} {ver + 1} changed"


async def test_a_race_past_its_deadline_ends_at_its_deadline(store: Store) -> None:
    await with_bot(store)
    await store.races.leave(RACE, ADA, Status.BANKED)
    await store.redis.hset(keys.race(RACE), mapping={"go_at": "1", "deadline": "2"})
    assert await store.races.end_race(RACE, ADA) == ("done", 0)
    assert (await store.state()).closed_at_ms == 2
