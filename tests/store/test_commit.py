"""The commit of a move: fenced, in order, once, and timed by the store's clock alone."""

from typing import Any

import pytest

from racestore import ADA, COMMIT, IVO, RACE, Store, ear
from samedeal.protocol.fields import Phase, Status
from samedeal_server.store import keys
from samedeal_server.store.races import Attached, RaceStore

pytestmark = pytest.mark.usefixtures("every_key_expires")


async def test_an_action_is_logged_timed_and_counted(store: Store) -> None:
    ada, _ = await store.running()
    ver = (await store.state()).ver
    word, elapsed, new_ver = await store.commit(ada, 1, "draw", home=3, best=4, opened=5, rose=True)
    assert word == "done"
    assert await store.races.log(RACE, 1) == [("draw", elapsed)]
    state = await store.state()
    seat = state.seats[1]
    assert (seat.seq, seat.home, seat.best, seat.opened) == (1, 3, 4, 5)
    assert (seat.t_ms, seat.t_best_ms, seat.m_best) == (elapsed, elapsed, 1)
    assert 0 <= elapsed <= state.now_ms - state.go_at_ms
    assert state.ver == new_ver == ver + 1


async def test_what_does_not_rise_keeps_when_the_best_was_reached(store: Store) -> None:
    ada, _ = await store.running()
    _, first, _ = await store.commit(ada, 1, home=4, best=4, opened=5, rose=True)
    _, second, _ = await store.commit(ada, 2, home=3, best=4, opened=5)
    seat = (await store.state()).seats[1]
    assert (seat.seq, seat.home, seat.best, seat.opened) == (2, 3, 4, 5)
    assert (seat.t_ms, seat.t_best_ms, seat.m_best) == (second, first, 1)


async def test_p07_the_same_action_again_gets_the_entry_it_has(store: Store) -> None:
    ada, _ = await store.running()
    _, elapsed, _ = await store.commit(ada, 1, "draw")
    await store.commit(ada, 2, "W>T1")
    ver = (await store.state()).ver
    assert await store.commit(ada, 1, "draw") == ["again", "draw", str(elapsed)]
    assert await store.commit(ada, 1, "W>T2") == ["again", "draw", str(elapsed)]
    assert [action for action, _ in await store.races.log(RACE, 1)] == ["draw", "W>T1"]
    assert (await store.state()).ver == ver


async def test_an_action_again_is_answered_after_the_close_too(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1, won=True)
    await store.set(phase="closed", deadline=1)
    assert (await store.commit(ada, 1, won=True))[0] == "again"


async def test_a_gap_is_named_and_nothing_written(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1)
    assert await store.commit(ada, 3) == ["gap", 1]
    assert len(await store.races.log(RACE, 1)) == 1


async def test_a_store_that_lost_a_takeover_does_not_take_it_for_a_newer_one(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1)
    attached = await store.races.attach(RACE, ADA)
    assert isinstance(attached, Attached)
    await store.redis.hset(keys.seat(RACE, 1), "epoch", str(ada.epoch))
    assert await store.commit(attached, 2) == ["gap", 1]
    assert len(await store.races.log(RACE, 1)) == 1


async def test_an_older_connection_is_fenced(store: Store) -> None:
    ada, _ = await store.running()
    newer = await store.races.attach(RACE, ADA)
    assert isinstance(newer, Attached)
    assert await store.commit(ada, 1) == ["fenced"]
    assert await store.races.log(RACE, 1) == []
    assert (await store.commit(newer, 1))[0] == "done"
    # Fenced comes before anything it might learn of the newer one's play.
    assert await store.commit(ada, 1) == ["fenced"]


async def test_nothing_counts_before_go(store: Store) -> None:
    ada, _ = await store.running(countdown_s=60)
    assert await store.commit(ada, 1) == ["early"]
    await store.set(phase="lobby", go_at=1)
    assert await store.commit(ada, 1) == ["early"]


async def test_go_counts_by_the_clock_even_if_nobody_called_it(store: Store) -> None:
    ada, _ = await store.running(countdown_s=60)
    await store.set(go_at=1)
    assert (await store.state()).phase is Phase.COUNTDOWN
    assert (await store.commit(ada, 1))[0] == "done"


async def test_p33_nothing_counts_from_the_deadline_on_even_if_nobody_closed(
    store: Store,
) -> None:
    """The store's clock stands still while a script runs, so the very millisecond can be had."""
    ada, _ = await store.running()
    here = "local time = redis.call('TIME') redis.call('HSET', KEYS[1], 'deadline', time[1] * 1000 "
    where = (keys.race(RACE), keys.seat(RACE, 1), keys.log(RACE, 1))
    what = ("n1", ada.epoch, 60_000, 1, "draw", 0, 0, 0, 0, 0)
    for late_ms, word in ((0, "late"), (1, "done")):
        deadline = f"+ math.floor(time[2] / 1000) + {late_ms})\n"
        # In a scope of its own: the script declares a `time`, too.
        source = f"do {here}{deadline} end\n{COMMIT.source}"
        reply: Any = await store.redis.execute_command(  # type: ignore[no-untyped-call]
            "EVAL", source, 3, *where, *what
        )
        assert reply[0] == word


@pytest.mark.parametrize(
    ("fields", "word"),
    [({"phase": "closed"}, "closed"), ({"go_at": 1, "deadline": 2}, "late")],
    ids=["closed", "its time is up"],
)
async def test_nothing_counts_after_the_close(
    store: Store, fields: dict[str, Any], word: str
) -> None:
    ada, _ = await store.running()
    await store.set(**fields)
    assert await store.commit(ada, 1) == [word]
    assert await store.races.log(RACE, 1) == []


async def test_a_run_that_ended_takes_no_more_actions(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1, won=True)
    assert await store.commit(ada, 2) == ["closed"]


async def test_p35_a_clock_that_goes_back_turns_no_run_back(store: Store) -> None:
    """A store that took over may be behind the one that timed the last action."""
    ada, _ = await store.running()
    await store.commit(ada, 1)
    await store.redis.hset(keys.seat(RACE, 1), "t", "5000000")
    assert (await store.commit(ada, 2))[1] == 5_000_000
    assert (await store.state()).seats[1].t_ms == 5_000_000


async def test_a_win_ends_the_run_and_calls_the_others_last(store: Store) -> None:
    ada, _ = await store.running(last_call_s=30, time_limit_s=900)
    word, elapsed, _ = await store.commit(ada, 1, won=True)
    state = await store.state()
    assert (word, state.seats[1].ended) == ("done", Status.WON)
    assert state.deadline_at_ms == state.go_at_ms + elapsed + 30_000
    assert await store.redis.hget(keys.race(RACE), "first_win") == str(elapsed)


async def test_only_the_first_win_calls(store: Store) -> None:
    ada, ivo = await store.running(last_call_s=30)
    await store.commit(ada, 1, won=True)
    deadline_at_ms = (await store.state()).deadline_at_ms
    first = await store.redis.hget(keys.race(RACE), "first_win")
    await store.set(last_call_s=1)
    await store.commit(ivo, 1, won=True)
    state = await store.state()
    assert state.deadline_at_ms == deadline_at_ms
    assert await store.redis.hget(keys.race(RACE), "first_win") == first
    assert state.seats[2].ended is Status.WON


async def test_the_last_call_never_makes_a_race_longer(store: Store) -> None:
    ada, _ = await store.running(last_call_s=3600, time_limit_s=900)
    deadline_at_ms = (await store.state()).deadline_at_ms
    await store.commit(ada, 1, won=True)
    assert (await store.state()).deadline_at_ms == deadline_at_ms


async def test_with_no_last_call_the_first_win_closes(store: Store) -> None:
    ada, ivo = await store.running(last_call_s=0)
    await store.commit(ada, 1, won=True)
    assert await store.commit(ivo, 1) == ["late"]
    await store.advance()
    assert (await store.state()).phase is Phase.CLOSED


async def test_commits_ring_only_where_another_node_has_players(
    store: Store, valkey_url: str
) -> None:
    ada, _ = await store.running()
    async with ear(valkey_url, "n1", "n2") as heard:
        await store.commit(ada, 1)
        far = RaceStore(store.redis, "n2")
        ivo = await far.attach(RACE, IVO)
        assert isinstance(ivo, Attached)
        _, _, ver = await store.commit(ada, 2)
        rings = [await heard() for _ in range(2)]
    race = keys.race(RACE)
    assert rings == [
        (keys.bell("n1"), f"{race} {ver - 1} changed"),
        (keys.bell("n2"), f"{race} {ver} moved"),
    ]
