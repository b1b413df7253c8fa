"""What a race goes through in the store: presence, phases, the next race, what is due."""

from collections.abc import Awaitable, Callable

import pytest

from racestore import ADA, EVA, IVO, RACE, ZOE, Store, ear
from samedeal.protocol.fields import Phase, RaceOptions, Status
from samedeal_server.errors import StoreUnavailable
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.leases import LEASE_S, Outage, Outages
from samedeal_server.store.races import LOBBY_MS, Attached, RaceStore, Stale

pytestmark = pytest.mark.usefixtures("every_key_expires")


# Presence


async def test_attaching_raises_the_epoch_and_makes_present(store: Store) -> None:
    await store.open()
    assert not (await store.state()).seats[1].present
    first = await store.races.attach(RACE, ADA)
    second = await store.races.attach(RACE, ADA)
    assert isinstance(first, Attached)
    assert isinstance(second, Attached)
    assert first.seat == second.seat == 1
    assert second.epoch > first.epoch
    seat = (await store.state()).seats[1]
    assert (seat.present, seat.epoch) == (True, second.epoch)


async def test_only_who_sits_there_attaches(store: Store) -> None:
    await store.open()
    assert await store.races.attach(RACE, IVO) == "not_seated"
    assert await store.races.attach("nowhere", IVO) == "missing"
    assert await store.races.load("nowhere") is None


async def test_p01_the_late_end_of_an_older_connection_changes_nothing(store: Store) -> None:
    await store.open()
    first = await store.races.attach(RACE, ADA)
    await store.races.attach(RACE, ADA)
    assert isinstance(first, Attached)
    before = (await store.state()).ver
    await store.races.detach(RACE, first.seat, first.epoch)
    state = await store.state()
    assert (state.seats[1].present, state.ver) == (True, before)


async def test_the_end_of_the_newest_connection_makes_absent(store: Store) -> None:
    await store.open()
    attached = await store.races.attach(RACE, ADA)
    assert isinstance(attached, Attached)
    await store.races.detach(RACE, attached.seat, attached.epoch)
    assert not (await store.state()).seats[1].present


async def test_p11_the_end_of_a_seats_former_holder_is_not_that_of_the_new_one(
    store: Store,
) -> None:
    """A seat given back and taken by another starts no epochs anew."""
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    former = await store.races.attach(RACE, IVO)
    assert isinstance(former, Attached)
    await store.races.leave(RACE, IVO, Status.LEFT)
    await store.races.join(RACE, EVA, "eva", bot=False)
    holder = await store.races.attach(RACE, EVA)
    assert isinstance(holder, Attached)
    assert holder.seat == former.seat
    await store.races.detach(RACE, former.seat, former.epoch)
    assert (await store.state()).seats[2].present
    await store.set(phase="running", go_at=1, deadline="9000000000000")
    assert await store.commit(former, 1) == ["fenced"]
    assert (await store.commit(holder, 1))[0] == "done"


# Phases


async def test_a_lobby_is_left_alone_until_it_waited_too_long(store: Store) -> None:
    await store.open()
    at = await store.advance()
    assert at is not None
    assert at.phase is Phase.LOBBY
    created = int(await store.redis.hget(keys.race(RACE), "created") or 0)
    assert at.due_ms == created + LOBBY_MS
    await store.set(created=at.now_ms - LOBBY_MS)
    closed = await store.advance()
    assert closed is not None
    assert (closed.phase, closed.due_ms) == (Phase.CLOSED, 0)
    assert not (await store.state()).was_run


async def test_a_countdown_is_not_cut_short(store: Store) -> None:
    await store.running(countdown_s=60)
    at = await store.advance()
    state = await store.state()
    assert at is not None
    assert (at.phase, state.phase, at.due_ms) == (
        Phase.COUNTDOWN, Phase.COUNTDOWN, state.go_at_ms
    )  # fmt: skip


async def test_at_go_the_race_runs_once(store: Store) -> None:
    await store.running(countdown_s=60)
    await store.set(go_at=1)
    at = await store.advance()
    state = await store.state()
    assert at is not None
    assert (at.phase, state.phase, at.due_ms) == (
        Phase.RUNNING, Phase.RUNNING, state.deadline_at_ms
    )  # fmt: skip
    assert await store.advance() is not None
    assert (await store.state()).ver == state.ver


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "lost_ms"),
    [
        (-90_000, -70_000, 0),
        (-70_000, -50_000, 10_000),
        (-40_000, -20_000, 20_000),
        (-40_000, 0, 40_000),
        (-9_000, 0, 0),
    ],
    ids=["before GO", "over GO", "while it ran", "over the deadline", "after the deadline"],
)
async def test_p35_an_outage_lengthens_an_open_race_once_by_what_it_took_of_it(
    store: Store, from_ms: int, to_ms: int, lost_ms: int
) -> None:
    await store.running()
    now_ms = (await store.state()).now_ms
    go_at_ms, deadline_ms = now_ms - 60_000, now_ms - 10_000
    await store.set(go_at=go_at_ms, deadline=deadline_ms)
    outage = Outage(7, now_ms + from_ms, now_ms + to_ms)
    for _ in range(2):
        await store.advance(RACE, Outage(6, 1, 2), outage)
        state = await store.state()
        assert (state.go_at_ms, state.paused_ms) == (go_at_ms, lost_ms)
        assert state.deadline_at_ms == deadline_ms + lost_ms
        assert state.phase is (Phase.RUNNING if lost_ms > 10_000 else Phase.CLOSED)
    assert state.view().paused_ms == lost_ms


async def test_p35_two_outages_add_up_in_whatever_order_they_are_heard_of(store: Store) -> None:
    await store.running()
    now_ms = (await store.state()).now_ms
    await store.set(go_at=now_ms - 60_000, deadline=now_ms + 1000)
    first, second = Outage(1, now_ms - 50_000, now_ms - 40_000), Outage(2, now_ms - 9000, now_ms)
    await store.advance(RACE, first)
    before = (await store.state()).ver
    await store.advance(RACE, first, second)
    await store.advance(RACE, first)
    state = await store.state()
    assert (state.paused_ms, state.ver) == (19_000, before + 1)


async def test_p35_a_race_is_not_closed_by_who_may_not_know_of_an_outage(store: Store) -> None:
    await store.running()
    state = await store.state()
    await store.set(go_at=1, deadline=2)
    with pytest.raises(Stale):
        await store.races.advance(RACE, Outages(state.now_ms - int(LEASE_S * 1000) - 1000))
    assert (await store.state()).ver == state.ver
    await store.races.advance(RACE, Outages(state.now_ms))
    assert (await store.state()).phase is Phase.CLOSED


async def test_a_race_closes_at_its_deadline_and_says_so_once(store: Store) -> None:
    await store.running()
    now_ms = (await store.state()).now_ms
    await store.set(deadline=now_ms - 1000, go_at=now_ms - 5000)
    at = await store.advance()
    assert at is not None
    assert (at.phase, at.due_ms) == (Phase.CLOSED, 0)
    state = await store.state()
    # The sweep was late, the close was not.
    assert (state.phase, state.closed_at_ms) == (Phase.CLOSED, now_ms - 1000)
    later = await store.advance()
    assert later is not None
    assert (later.phase, later.due_ms) == (Phase.CLOSED, 0)
    again = await store.state()
    assert (again.ver, again.closed_at_ms) == (state.ver, state.closed_at_ms)


async def test_a_race_closes_when_every_run_has_ended(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1, won=True)
    await store.advance()
    assert (await store.state()).phase is Phase.RUNNING
    await store.races.leave(RACE, IVO, Status.BANKED)
    at = await store.advance()
    assert at is not None
    assert at.phase is Phase.CLOSED
    state = await store.state()
    assert state.closed_at_ms < state.deadline_at_ms


async def test_a_countdown_that_everyone_left_closes_at_go_and_not_before(store: Store) -> None:
    await store.running(countdown_s=60)
    for player in (ADA, IVO):
        await store.races.leave(RACE, player, Status.LEFT)
    await store.advance()
    assert (await store.state()).phase is Phase.COUNTDOWN
    await store.set(go_at=1)
    await store.advance()
    assert (await store.state()).phase is Phase.CLOSED


async def test_what_is_not_there_does_not_advance(store: Store) -> None:
    assert await store.advance("nowhere") is None


async def test_a_race_closes_when_everyone_still_in_is_stuck(store: Store) -> None:
    ada, ivo = await store.running()
    await store.commit(ada, 1)
    await store.commit(ivo, 1)
    await store.races.mark_stuck(RACE, 1, 1)
    await store.advance()
    assert (await store.state()).phase is Phase.RUNNING
    await store.races.mark_stuck(RACE, 2, 1)
    await store.advance()
    state = await store.state()
    assert state.phase is Phase.CLOSED
    assert [row.status for row in state.order()] == [Status.STUCK, Status.STUCK]


async def test_stuck_is_void_after_the_next_action(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1)
    await store.races.mark_stuck(RACE, 1, 1)
    await store.races.leave(RACE, IVO, Status.BANKED)
    await store.commit(ada, 2)
    await store.advance()
    assert (await store.state()).phase is Phase.RUNNING


async def test_who_is_stuck_plays_on_while_the_race_does(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1)
    await store.races.mark_stuck(RACE, 1, 1)
    await store.advance()
    assert (await store.state()).seats[1].ended is None
    assert (await store.commit(ada, 2))[0] == "done"


async def test_the_close_tells_stuck_from_cut_off_and_from_left(store: Store) -> None:
    ada, _ = await store.running(seats=3)
    await store.races.join(RACE, EVA, "eva", bot=False)
    await store.races.ready(RACE, EVA, ready=True)
    await store.advance()
    await store.commit(ada, 1)
    await store.races.mark_stuck(RACE, 1, 1)
    await store.races.leave(RACE, EVA, Status.LEFT)
    await store.set(deadline=2, go_at=1)
    await store.advance()
    assert {row.seat: row.status for row in (await store.state()).order()} == {
        1: Status.STUCK, 2: Status.CUT_OFF, 3: Status.LEFT,
    }  # fmt: skip


# The next race


async def test_the_first_name_of_the_next_race_stands(store: Store) -> None:
    await store.running()
    await store.set(phase="closed")
    assert await store.races.next_race(RACE, ADA, "second") == ("done", "second")
    ver = (await store.state()).ver
    assert await store.races.next_race(RACE, ADA, "other") == ("done", "second")
    assert await store.races.next_race(RACE, IVO, "third") == ("done", "second")
    state = await store.state()
    assert (state.next_race, state.ver) == ("second", ver)


async def test_the_next_race_is_for_those_who_sat_in_a_race_that_was_run(store: Store) -> None:
    await store.running()
    assert await store.races.next_race(RACE, ADA, "second") == ("phase", "")
    await store.set(phase="closed")
    assert await store.races.next_race(RACE, EVA, "second") == ("not_seated", "")
    await store.redis.hdel(keys.race(RACE), "go_at")
    assert await store.races.next_race(RACE, ADA, "second") == ("phase", "")


# What is due


async def test_what_is_due_is_given_once_it_is_and_until_it_is_done(store: Store) -> None:
    await store.open()
    now_ms = (await store.state()).now_ms
    await store.races.schedule({RACE: now_ms + 60_000})
    assert await store.races.overdue(10) == []
    await store.races.schedule({RACE: now_ms - 1})
    assert await store.races.overdue(10) == [RACE]
    await store.races.unschedule(RACE)
    assert await store.races.overdue(10) == []


async def test_only_so_many_are_given_at_a_time(store: Store) -> None:
    for number in range(5):
        await store.races.schedule({f"race{number}": number})
    assert await store.races.overdue(2) == ["race0", "race1"]


async def test_an_opened_race_keeps_its_place_in_the_sweep(store: Store) -> None:
    await store.open()
    now_ms = (await store.state()).now_ms
    await store.races.schedule({RACE: now_ms + 60_000})
    await store.open()
    assert await store.races.overdue(10) == []


async def test_no_store_is_one_error_of_our_own() -> None:
    client = StoreAddress.parse("unix:///nowhere/store.sock").client()
    with pytest.raises(StoreUnavailable):
        await RaceStore(client, "n1").load(RACE)
    await client.aclose()


# Every change is news


async def test_every_change_raises_the_version_and_rings_once_at_another_node(
    store: Store, valkey_url: str
) -> None:
    """Other nodes read a race again when they hear of it; a change in silence would be missed."""
    races, options = store.races, RaceOptions(seats=4, auto_start=False, countdown_s=0)
    far = RaceStore(store.redis, "n2")
    epochs: list[Attached] = []

    async def attach() -> None:
        attached = await races.attach(RACE, ADA)
        assert isinstance(attached, Attached)
        epochs.append(attached)

    await store.open()
    await races.set_options(RACE, ADA, options)
    await far.join(RACE, ZOE, "zoe", bot=False)
    await far.attach(RACE, ZOE)
    changes: dict[str, Callable[[], Awaitable[object]]] = {
        "options": lambda: races.set_options(RACE, ADA, options),
        "join": lambda: races.join(RACE, IVO, "ivo", bot=False),
        "another join": lambda: races.join(RACE, EVA, "eva", bot=False),
        "leave the lobby": lambda: races.leave(RACE, EVA, Status.LEFT),
        "attach": attach,
        "detach": lambda: races.detach(RACE, 1, epochs[0].epoch),
        "ready": lambda: races.ready(RACE, IVO, ready=True),
        "another ready": lambda: races.ready(RACE, ZOE, ready=True),
        "start": lambda: races.start(RACE, ADA),
        "go": lambda: store.advance(),
        "bank": lambda: races.leave(RACE, ADA, Status.BANKED),
        "leave": lambda: races.leave(RACE, IVO, Status.LEFT),
        "the last one leaves": lambda: races.leave(RACE, ZOE, Status.LEFT),
        "close": lambda: store.advance(),
        "next": lambda: races.next_race(RACE, ADA, "second"),
    }
    async with ear(valkey_url, "n2") as heard:
        before = (await store.state()).ver
        for ver, (name, change) in enumerate(changes.items(), start=before + 1):
            await change()
            assert await heard() == (keys.bell("n2"), f"{keys.race(RACE)} {ver} changed"), name
            assert (await store.state()).ver == ver, name


async def test_a_lobby_that_waited_too_long_rings_when_it_closes(store: Store) -> None:
    await store.open()
    await store.set(created=1)
    before = (await store.state()).ver
    await store.advance()
    assert (await store.state()).ver == before + 1
