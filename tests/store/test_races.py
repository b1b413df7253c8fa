"""The rules of a room as the store keeps them: codes, seats, ready, options, leaving."""

import asyncio

import pytest

from racestore import ADA, CODE, EVA, IVO, RACE, Store, new_race
from samedeal.protocol.fields import Phase, RaceOptions, Status
from samedeal_server.race import SeatState
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.races import RaceStore

pytestmark = pytest.mark.usefixtures("every_key_expires")


# Codes


async def test_a_code_leads_to_the_race_that_claimed_it_first(store: Store) -> None:
    assert await store.races.claim_code(CODE, RACE)
    assert not await store.races.claim_code(CODE, "another")
    assert await store.races.find(CODE) == RACE


async def test_a_code_nobody_claimed_leads_nowhere(store: Store) -> None:
    assert await store.races.find("NOPE2") is None


async def test_a_code_moves_on_to_the_next_race_of_its_room(store: Store) -> None:
    await store.races.claim_code(CODE, RACE)
    await store.races.move_code(CODE, RACE, "second")
    assert await store.races.find(CODE) == "second"


async def test_a_code_never_moves_back_to_an_earlier_race(store: Store) -> None:
    """Whoever asks late for the race after the first must not pull the room back to it."""
    await store.races.claim_code(CODE, RACE)
    await store.races.move_code(CODE, RACE, "second")
    await store.races.move_code(CODE, "second", "third")
    await store.races.move_code(CODE, RACE, "second")
    assert await store.races.find(CODE) == "third"


# Opening


async def test_a_race_opens_as_a_lobby_with_its_roster(store: Store) -> None:
    await store.open(seats=3, time_limit_s=77)
    state = await store.state()
    assert (state.phase, state.code, state.game, state.host) == (Phase.LOBBY, CODE, "lanes", 1)
    assert (state.options.seats, state.options.time_limit_s) == (3, 77)
    assert [(seat.player, seat.seq, seat.ended) for seat in state.seats.values()] == [
        (ADA, 0, None)
    ]
    assert not state.was_run


async def test_opening_a_race_again_changes_nothing(store: Store) -> None:
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    before = await store.state()
    await store.races.create(new_race(seats=8))
    after = await store.state()
    assert (after.ver, after.options, len(after.seats)) == (before.ver, before.options, 2)


async def test_an_opened_race_is_one_the_sweep_looks_at(store: Store) -> None:
    await store.open()
    assert await store.races.overdue(10) == [RACE]


async def test_a_race_opens_with_the_series_score_of_its_roster(store: Store) -> None:
    roster = (
        SeatState(seat=2, player=IVO, name="ivo", bot=True, series=3),
        SeatState(seat=5, player=ADA, name="ada", bot=False, series=1),
    )
    await store.races.create(new_race(roster=roster, seats=8))
    seats = (await store.state()).seats
    assert {n: (s.player, s.bot, s.series) for n, s in seats.items()} == {
        2: (IVO, True, 3),
        5: (ADA, False, 1),
    }
    assert await store.races.join(RACE, ADA, "ada", bot=False) == ("seated", 5)
    assert await store.races.join(RACE, EVA, "eva", bot=False) == ("seated", 1)


async def test_a_race_that_is_not_there_cannot_be_loaded(store: Store) -> None:
    assert await store.races.load("nowhere") is None


# Joining


async def test_players_get_the_free_seats_in_order(store: Store) -> None:
    await store.open(seats=3)
    assert await store.races.join(RACE, IVO, "ivo", bot=False) == ("seated", 2)
    assert await store.races.join(RACE, EVA, "eva", bot=True) == ("seated", 3)
    seats = (await store.state()).seats
    assert [(s.name, s.bot) for s in seats.values()] == [
        ("ada", False), ("ivo", False), ("eva", True)
    ]  # fmt: skip


async def test_the_same_player_joins_the_same_seat_twice(store: Store) -> None:
    await store.open(seats=3)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    before = (await store.state()).ver
    assert await store.races.join(RACE, IVO, "ivo", bot=False) == ("seated", 2)
    assert (await store.state()).ver == before


async def test_a_full_race_takes_nobody_in(store: Store) -> None:
    await store.open(seats=2)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    assert await store.races.join(RACE, EVA, "eva", bot=False) == ("full", 0)
    assert len((await store.state()).seats) == 2


async def test_a_bot_is_kept_out_where_the_host_wants_none(store: Store) -> None:
    await store.open(bots=False)
    assert await store.races.join(RACE, IVO, "ivo", bot=True) == ("no_bots", 0)
    assert await store.races.join(RACE, IVO, "ivo", bot=False) == ("seated", 2)


async def test_nobody_joins_what_is_not_there(store: Store) -> None:
    assert await store.races.join("nowhere", IVO, "ivo", bot=False) == ("missing", 0)


@pytest.mark.parametrize("phase", [Phase.COUNTDOWN, Phase.RUNNING, Phase.CLOSED])
async def test_after_the_lobby_only_who_sits_may_join_again(store: Store, phase: Phase) -> None:
    await store.open()
    await store.set(phase=phase.value)
    assert await store.races.join(RACE, IVO, "ivo", bot=False) == ("phase", 0)
    assert await store.races.join(RACE, ADA, "ada", bot=False) == ("seated", 1)


async def test_p09_200_joins_at_once_give_one_seat_a_player_and_no_seat_too_many(
    store: Store, valkey_url: str
) -> None:
    await store.open(seats=8)
    clients = [StoreAddress.parse(valkey_url).client() for _ in range(10)]
    players = [f"player{number:010}" for number in range(20)]
    answers = await asyncio.gather(
        *(
            RaceStore(client, f"n{n}").join(RACE, player, player[-3:], bot=False)
            for player in players
            for n, client in enumerate(clients)
        )
    )
    for client in clients:
        await client.aclose()
    seated = {seat.player: number for number, seat in (await store.state()).seats.items()}
    assert sorted(seated.values()) == list(range(1, 9))
    for at, player in enumerate(players):
        own = set(answers[at * 10 : at * 10 + 10])
        assert own == {("seated", seated[player]) if player in seated else ("full", 0)}


# Ready, options, start


async def test_ready_can_be_said_and_taken_back(store: Store) -> None:
    await store.open()
    assert await store.races.ready(RACE, ADA, ready=True) == "done"
    assert (await store.state()).seats[1].ready
    assert await store.races.ready(RACE, ADA, ready=False) == "done"
    assert not (await store.state()).seats[1].ready


async def test_only_who_sits_there_is_ready_and_only_in_the_lobby(store: Store) -> None:
    await store.open()
    assert await store.races.ready(RACE, IVO, ready=True) == "not_seated"
    await store.set(phase="countdown")
    assert await store.races.ready(RACE, ADA, ready=True) == "phase"
    assert not (await store.state()).seats[1].ready


async def test_the_last_one_ready_in_a_full_room_starts_the_countdown(store: Store) -> None:
    await store.open(countdown_s=3, time_limit_s=100)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.ready(RACE, IVO, ready=True)
    assert (await store.state()).phase is Phase.LOBBY
    await store.races.ready(RACE, ADA, ready=True)
    state = await store.state()
    assert state.phase is Phase.COUNTDOWN
    assert 0 < state.go_at_ms - state.now_ms <= 3_000
    assert state.deadline_at_ms == state.go_at_ms + 100_000


async def test_a_room_with_a_free_seat_does_not_start_by_itself(store: Store) -> None:
    await store.open(seats=3)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    for player in (ADA, IVO):
        await store.races.ready(RACE, player, ready=True)
    assert (await store.state()).phase is Phase.LOBBY


async def test_without_auto_start_the_room_waits_for_its_host(store: Store) -> None:
    await store.open(auto_start=False)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    for player in (ADA, IVO):
        await store.races.ready(RACE, player, ready=True)
    assert (await store.state()).phase is Phase.LOBBY
    assert await store.races.start(RACE, ADA) == ("done", 0)
    assert (await store.state()).phase is Phase.COUNTDOWN


async def test_who_takes_ready_back_does_not_start_the_race(store: Store) -> None:
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.ready(RACE, IVO, ready=True)
    await store.races.ready(RACE, IVO, ready=False)
    await store.races.ready(RACE, ADA, ready=True)
    assert (await store.state()).phase is Phase.LOBBY


async def test_the_host_starts_when_all_others_are_ready(store: Store) -> None:
    await store.open(seats=4, countdown_s=5)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    assert await store.races.start(RACE, ADA) == ("not_ready", 2)
    await store.races.ready(RACE, IVO, ready=True)
    assert await store.races.start(RACE, ADA) == ("done", 0)
    state = await store.state()
    assert state.phase is Phase.COUNTDOWN
    assert state.seats[1].ready


async def test_only_the_host_starts(store: Store) -> None:
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.ready(RACE, ADA, ready=True)
    assert await store.races.start(RACE, IVO) == ("not_host", 0)
    assert await store.races.start(RACE, EVA) == ("not_seated", 0)


async def test_nobody_races_alone(store: Store) -> None:
    await store.open()
    assert await store.races.start(RACE, ADA) == ("alone", 0)


async def test_a_race_is_started_once(store: Store) -> None:
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.ready(RACE, IVO, ready=True)
    await store.races.start(RACE, ADA)
    go_at_ms = (await store.state()).go_at_ms
    assert await store.races.start(RACE, ADA) == ("phase", 0)
    assert (await store.state()).go_at_ms == go_at_ms


async def test_the_host_changes_options_and_everyone_has_to_be_ready_again(store: Store) -> None:
    await store.open(seats=3)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.ready(RACE, IVO, ready=True)
    options = RaceOptions(seats=2, time_limit_s=50, last_call_s=7, countdown_s=0, bots=False)
    assert await store.races.set_options(RACE, ADA, options) == "done"
    state = await store.state()
    assert state.options == options
    assert not any(seat.ready for seat in state.seats.values())
    # The scripts go by the new ones, too.
    for player in (IVO, ADA):
        await store.races.ready(RACE, player, ready=True)
    state = await store.state()
    assert state.deadline_at_ms - state.go_at_ms == 50_000


async def test_only_the_host_changes_options_and_only_in_the_lobby(store: Store) -> None:
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    before = (await store.state()).options
    wanted = RaceOptions(time_limit_s=50)
    assert await store.races.set_options(RACE, IVO, wanted) == "not_host"
    assert await store.races.set_options(RACE, EVA, wanted) == "not_seated"
    await store.set(phase="countdown")
    assert await store.races.set_options(RACE, ADA, wanted) == "phase"
    assert (await store.state()).options == before


async def test_a_seat_that_is_taken_cannot_be_optioned_away(store: Store) -> None:
    await store.open(seats=4)
    for player in (IVO, EVA):
        await store.races.join(RACE, player, player[:3], bot=False)
    assert await store.races.set_options(RACE, ADA, RaceOptions(seats=2)) == "seats"
    assert await store.races.set_options(RACE, ADA, RaceOptions(seats=3)) == "done"


# Leaving and banking


async def test_who_leaves_the_lobby_gives_the_seat_back(store: Store) -> None:
    await store.open()
    await store.races.join(RACE, IVO, "ivo", bot=False)
    assert await store.races.leave(RACE, IVO, Status.LEFT) == "done"
    assert list((await store.state()).seats) == [1]
    assert await store.races.join(RACE, EVA, "eva", bot=False) == ("seated", 2)


async def test_a_seat_given_back_is_not_ready_for_the_next_one(store: Store) -> None:
    await store.open(seats=3)
    await store.races.join(RACE, IVO, "ivo", bot=False)
    await store.races.ready(RACE, IVO, ready=True)
    await store.races.leave(RACE, IVO, Status.LEFT)
    await store.races.join(RACE, EVA, "eva", bot=False)
    assert not (await store.state()).seats[2].ready


async def test_when_the_host_leaves_the_lobby_the_lowest_seat_is_host(store: Store) -> None:
    await store.open(seats=3)
    for player in (IVO, EVA):
        await store.races.join(RACE, player, player[:3], bot=False)
    await store.races.leave(RACE, ADA, Status.LEFT)
    assert (await store.state()).host == 2
    assert await store.races.set_options(RACE, IVO, RaceOptions(seats=3)) == "done"
    # Whoever comes to the first seat is no host for that.
    assert await store.races.join(RACE, ADA, "ada", bot=False) == ("seated", 1)
    assert (await store.state()).host == 2
    # Nor is it who sits lowest when some other one leaves.
    await store.races.leave(RACE, EVA, Status.LEFT)
    assert (await store.state()).host == 2


async def test_a_lobby_that_everyone_left_is_closed_without_a_result(store: Store) -> None:
    await store.open()
    await store.races.leave(RACE, ADA, Status.LEFT)
    state = await store.state()
    assert (state.phase, state.was_run, state.seats) == (Phase.CLOSED, False, {})
    assert state.view().seed is None
    assert await store.races.join(RACE, IVO, "ivo", bot=False) == ("phase", 0)


async def test_nothing_can_be_banked_before_go(store: Store) -> None:
    await store.open(countdown_s=60)
    assert await store.races.leave(RACE, ADA, Status.BANKED) == "phase"
    await store.races.join(RACE, IVO, "ivo", bot=False)
    for player in (ADA, IVO):
        await store.races.ready(RACE, player, ready=True)
    assert await store.races.leave(RACE, ADA, Status.BANKED) == "phase"
    assert await store.races.leave(RACE, IVO, Status.LEFT) == "done"
    assert (await store.state()).seats[2].ended is Status.LEFT


@pytest.mark.parametrize("how", [Status.BANKED, Status.LEFT])
async def test_who_banks_or_leaves_keeps_the_result(store: Store, how: Status) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1, home=2, best=2, opened=1, rose=True)
    assert await store.races.leave(RACE, ADA, how) == "done"
    seat = (await store.state()).seats[1]
    assert (seat.ended, seat.best, seat.opened, seat.seq) == (how, 2, 1, 1)
    assert (await store.commit(ada, 2))[0] == "closed"


async def test_banking_twice_is_banking_once(store: Store) -> None:
    await store.running()
    assert await store.races.leave(RACE, ADA, Status.BANKED) == "done"
    before = (await store.state()).ver
    assert await store.races.leave(RACE, ADA, Status.BANKED) == "done"
    assert (await store.state()).ver == before


async def test_a_run_that_ended_stays_ended_as_it_did(store: Store) -> None:
    ada, _ = await store.running()
    await store.commit(ada, 1, won=True)
    assert await store.races.leave(RACE, ADA, Status.BANKED) == "over"
    assert await store.races.leave(RACE, ADA, Status.LEFT) == "done"
    assert (await store.state()).seats[1].ended is Status.WON


@pytest.mark.parametrize("how", [Status.BANKED, Status.LEFT])
@pytest.mark.parametrize("late", [{"deadline": 1}, {"phase": "closed"}], ids=["time", "closed"])
async def test_nothing_ends_after_the_close(
    store: Store, how: Status, late: dict[str, str | int]
) -> None:
    await store.running()
    await store.set(**late)
    assert await store.races.leave(RACE, ADA, how) == "closed"
    await store.advance()
    assert await store.races.leave(RACE, ADA, how) == "closed"
    assert (await store.state()).seats[1].ended is None


async def test_a_stranger_ends_nothing(store: Store) -> None:
    await store.running()
    assert await store.races.leave(RACE, EVA, Status.LEFT) == "not_seated"
