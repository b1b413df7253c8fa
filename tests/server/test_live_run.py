"""A run on its node against the real log: what the store's answers do to the table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from racestore import ADA, RACE, Store
from samedeal.engine.replay import MAX_ACTIONS
from samedeal.protocol.errors import ErrorCode
from samedeal_server.errors import Refusal, ServerError, StoreUnavailable
from samedeal_server.followed import FollowedRun
from samedeal_server.room import Room
from samedeal_server.runs import COMMIT, IN_A_ROW, Committed, Fenced, LiveRun
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.link import CommitLink
from samedeal_server.store.races import Attached

pytestmark = pytest.mark.usefixtures("every_key_expires")


@pytest.fixture
async def link(valkey_url: str) -> AsyncIterator[CommitLink]:
    link = CommitLink(StoreAddress.parse(valkey_url), [COMMIT])
    await link.open()
    yield link
    await link.close()


async def live_run(store: Store, link: CommitLink, **options: object) -> tuple[LiveRun, Attached]:
    """Ada's run in a race that runs, as her node holds it."""
    seat, _ = await store.running(**options)
    return LiveRun(await store.state(), seat.seat, seat.epoch, link, "n1"), seat


async def act(live: LiveRun, action: str) -> Committed | ServerError:
    done: asyncio.Future[Committed | ServerError] = asyncio.get_running_loop().create_future()
    live.submit(action, lambda result, _: done.set_result(result))
    return await done


async def test_what_the_store_took_is_the_runs_with_the_stores_time(
    store: Store, link: CommitLink
) -> None:
    live, _ = await live_run(store, link)
    result = await act(live, "draw")
    assert isinstance(result, Committed)
    assert (result.seq, result.hash, len(result.reveals)) == (1, live.run.table.hash, 1)
    assert await store.races.log(RACE, 1) == [("draw", result.t_ms)]
    assert live.run.t_last_ms == result.t_ms


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"phase": "closed"}, ErrorCode.RUN_OVER),
        ({"go_at": 1, "deadline": 2}, ErrorCode.SLOW_DOWN),
        ({"go_at": "9000000000000", "deadline": "9900000000000"}, ErrorCode.WRONG_PHASE),
    ],
    ids=["closed", "late", "early"],
)
async def test_what_the_store_refuses_is_taken_back(
    store: Store, link: CommitLink, fields: dict[str, str | int], code: ErrorCode
) -> None:
    live, _ = await live_run(store, link)
    before = live.run.table.hash
    await store.set(**fields)
    result = await act(live, "draw")
    assert isinstance(result, Refusal)
    assert result.code is code
    assert (live.run.table.hash, live.run.seq, live.entries) == (before, 0, [])
    assert live.under_way is None


async def test_nobody_is_told_of_an_action_that_is_under_way(
    store: Store, link: CommitLink
) -> None:
    live, seat = await live_run(store, link)
    room = Room(await store.state())
    done: asyncio.Future[Committed | ServerError] = asyncio.get_running_loop().create_future()
    live.submit("draw", lambda result, _: done.set_result(result))
    room.follow(seat.seat, live)
    assert room.state.seats[seat.seat].seq == 0
    assert isinstance(await done, Committed)
    room.follow(seat.seat, live)
    assert room.state.seats[seat.seat].seq == 1


async def test_a_fenced_run_is_told_so_and_plays_nothing(store: Store, link: CommitLink) -> None:
    live, _ = await live_run(store, link)
    before = live.run.table.hash
    await store.races.attach(RACE, ADA)
    assert isinstance(await act(live, "draw"), Fenced)
    assert (live.run.table.hash, live.run.seq) == (before, 0)


async def test_an_action_that_is_in_the_log_already_is_acknowledged_with_its_time(
    store: Store, link: CommitLink
) -> None:
    """The first try was written and its answer lost."""
    live, seat = await live_run(store, link)
    _, elapsed, _ = await store.commit(seat, 1, "draw")
    result = await act(live, "draw")
    assert isinstance(result, Committed)
    assert (result.seq, result.t_ms, live.run.t_last_ms) == (1, elapsed, elapsed)
    assert len(await store.races.log(RACE, 1)) == 1


async def test_a_log_with_another_action_in_its_place_is_another_connections(
    store: Store, link: CommitLink
) -> None:
    live, seat = await live_run(store, link)
    await store.commit(seat, 1, "W>T1")
    before = live.run.table.hash, live.run.seq
    assert isinstance(await act(live, "draw"), Fenced)
    assert (live.run.table.hash, live.run.seq) == before


async def test_a_store_that_lost_actions_is_away_until_it_is_read_again(
    store: Store, link: CommitLink
) -> None:
    live, seat = await live_run(store, link)
    await act(live, "draw")
    await store.redis.hdel(keys.seat(RACE, seat.seat), "seq")
    before = live.run.table.hash, live.run.seq
    assert isinstance(await act(live, "draw"), StoreUnavailable)
    assert (live.run.table.hash, live.run.seq) == before


async def test_a_long_log_is_played_with_others_having_their_turn(
    store: Store, link: CommitLink
) -> None:
    live, _ = await live_run(store, link, undo="free")
    log = [("draw" if at % 2 else "undo", at) for at in range(1, 2001)]
    replaying = asyncio.create_task(live.replay_in_turns(log))
    turns = 0
    while not replaying.done():
        turns += 1
        await asyncio.sleep(0)
    await replaying
    assert (live.run.seq, turns >= 2000 // IN_A_ROW) == (2000, True)


async def test_watchers_see_a_long_log_played_a_little_at_a_time(
    store: Store, link: CommitLink
) -> None:
    live, _ = await live_run(store, link, undo="free")
    run = FollowedRun(ADA, live)
    run.hear([("draw" if at % 2 else "undo", at) for at in range(1, 2001)])
    assert run.play_some_until(1000)
    assert run.seq == IN_A_ROW
    await run.play_in_turns_until(1000)
    assert (run.seq, run.known, run.due_ms) == (1000, 2000, 1001)
    run.play_until(float("inf"))
    assert run.seq == 2000


@pytest.mark.parametrize(("seats", "most"), [(1, 50_000), (2, 50_000), (8, 12_500)])
async def test_a_run_has_so_many_actions_that_its_race_fits_into_a_replay_file(
    store: Store, link: CommitLink, seats: int, most: int
) -> None:
    await live_run(store, link, undo="free")
    state = await store.state()
    options = state.options.model_copy(update={"seats": seats})
    live = LiveRun(replace(state, options=options), 1, 1, link, "n1")
    assert seats * most <= MAX_ACTIONS
    live.replay([("draw" if at % 2 else "undo", at) for at in range(1, most)])
    # The last one that there is room for gets as far as the store, which knows of none before it.
    assert isinstance(await act(live, "undo"), StoreUnavailable)
    live.replay([("undo", most)])
    with pytest.raises(Refusal, match=f"at most {most} actions; bank your result") as refused:
        await act(live, "draw")
    assert refused.value.code is ErrorCode.RUN_OVER
