"""What follows from a race's record: who is where in the order, what the room may see when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from samedeal.protocol.fields import Phase, PlayerView, RaceOptions, Status
from samedeal_server.race import RaceState, SeatState
from samedeal_server.room import Room
from samedeal_server.skill import Shown
from samedeal_server.store.races import Advanced

GO_AT_MS = 1_000_000


def seat(number: int, **run: object) -> SeatState:
    whole = SeatState(seat=number, player=f"{number}" * 16, name=f"p{number}", bot=False, seq=9)
    return replace(whole, **run)  # type: ignore[arg-type]


def race(*seats: SeatState, phase: Phase = Phase.CLOSED) -> RaceState:
    return RaceState(
        id="a" * 16, code="ABCDE", game="lanes", rules_version=1, seed=bytes(32),
        commitment="0" * 64, practice=False, options=RaceOptions(), phase=phase, ver=1, round=1,
        host=1, seats={s.seat: s for s in seats}, now_ms=GO_AT_MS + 9_000, go_at_ms=GO_AT_MS,
        deadline_at_ms=GO_AT_MS + 5_000, closed_at_ms=GO_AT_MS + 4_000, next_race="b" * 16,
    )  # fmt: skip


def places(state: RaceState) -> list[tuple[int, int]]:
    return [(row.place, row.seat) for row in state.order()]


def test_of_two_winners_the_earlier_is_first_whatever_they_opened_when() -> None:
    early = {"ended": Status.WON, "t_ms": 3_000, "t_best_ms": 3_000, "m_best": 9}
    late = {**early, "t_ms": 3_500, "t_best_ms": 100}
    assert places(race(seat(1, **late), seat(2, **early))) == [(1, 2), (2, 1)]


def test_a_winner_is_before_everyone_with_more_opened() -> None:
    won = seat(2, ended=Status.WON, t_ms=4_000, best=1, opened=0)
    assert places(race(seat(1, best=47, opened=18), won)) == [(1, 2), (2, 1)]


def test_the_others_rank_by_best_then_opened_then_when_it_was_reached() -> None:
    seats = (
        seat(1, best=5, opened=9, t_best_ms=10, ended=Status.BANKED),
        seat(2, best=6, opened=1, t_best_ms=900, ended=Status.LEFT),
        seat(3, best=6, opened=2, t_best_ms=900, m_best=8, ended=Status.STUCK),
        seat(4, best=6, opened=2, t_best_ms=900, m_best=7),
        seat(5, seq=0),
        seat(6, best=6, opened=2, t_best_ms=300, m_best=9),
    )
    assert places(race(*seats)) == [(1, 6), (2, 4), (3, 3), (4, 2), (5, 1), (6, 5)]


def test_the_time_in_the_order_is_that_of_the_win_or_of_the_best() -> None:
    won = seat(1, ended=Status.WON, t_ms=4_000, t_best_ms=3_000)
    rows = race(won, seat(2, t_ms=4_500, t_best_ms=2_000)).order()
    assert [row.t_ms for row in rows] == [4_000, 2_000]


def test_status_says_how_a_run_ended_and_what_the_close_did_to_the_others() -> None:
    seats = (seat(1), seat(2, ended=Status.BANKED))
    for phase, open_run in ((Phase.RUNNING, Status.PLAYING), (Phase.CLOSED, Status.CUT_OFF)):
        view = race(*seats, phase=phase).view()
        assert [player.status for player in view.players] == [open_run, Status.BANKED]


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({}, {}),
        ({"bot": True}, {"bot": True}),
        ({"ready": True}, {"ready": True}),
        ({"present": True}, {"present": True}),
        ({"series": 2}, {"series": 2}),
        ({"best": 8, "home": 7, "opened": 5, "t_ms": 9}, None),
        ({"ended": Status.STUCK}, {"status": Status.STUCK}),
        ({"rating": Shown(1512, False)}, {"rating": 1512}),
        ({"rating": Shown(1512, True)}, {"rating": 1512, "provisional": True}),
    ],
    ids=repr,
)
def test_a_row_of_progress_says_all_there_is_to_see_of_a_seat(
    run: dict[str, Any], told: dict[str, Any] | None
) -> None:
    row = PlayerView(**seat(1, **run).fields(Phase.RUNNING))
    assert row == PlayerView(seat=1, name="p1", moves=9, **(run if told is None else told))


def test_the_clock_of_a_view_runs_from_go_and_stops_at_the_close() -> None:
    running, closed = (race(seat(1), phase=p).view() for p in (Phase.RUNNING, Phase.CLOSED))
    assert (running.clock_ms, closed.clock_ms) == (9_000, 4_000)
    assert running.deadline_ms == closed.deadline_ms == 5_000


def test_seed_and_order_are_in_the_view_of_a_closed_race_only() -> None:
    running, closed = (race(seat(1), phase=p).view() for p in (Phase.RUNNING, Phase.CLOSED))
    assert (running.seed, running.order) == (None, ())
    assert closed.seed == bytes(32).hex()
    assert [row.seat for row in closed.order] == [1]
    assert closed.next == "b" * 16


def test_a_lobby_that_was_closed_has_no_clock_no_seed_and_no_order() -> None:
    view = replace(race(seat(1)), go_at_ms=0, deadline_at_ms=0).view()
    assert (view.clock_ms, view.deadline_ms, view.seed, view.order) == (0, 0, None, ())


def test_commits_of_this_node_are_known_without_reading() -> None:
    room = Room(race())
    room.read(4, 0.0)
    for ver in range(5, 500):
        room.committed(ver)
    assert (room.known_ver, room.is_behind, room.own) == (499, False, set())


def test_a_version_of_another_node_is_not_known_until_it_is_read() -> None:
    room = Room(race())
    room.read(4, 0.0)
    for ver in (6, 8, 7):
        room.committed(ver)
    assert (room.ver, room.known_ver, room.is_behind) == (8, 7, True)
    room.committed(5)
    assert (room.known_ver, room.is_behind, room.own) == (8, False, set())
    room.committed(10)
    room.read(9, 1.0)
    assert (room.known_ver, room.is_behind, room.own) == (10, False, set())
    room.rewind(3)
    assert (room.ver, room.known_ver, room.is_behind) == (3, 3, False)


def test_only_another_phase_or_deadline_is_news_while_a_race_runs() -> None:
    known = race(phase=Phase.RUNNING)
    due_ms = known.deadline_at_ms
    assert not Advanced(Phase.RUNNING, known.now_ms, due_ms).is_news_to(known)
    assert Advanced(Phase.RUNNING, known.now_ms, due_ms + 1).is_news_to(known)
    assert Advanced(Phase.RUNNING, known.now_ms, due_ms).is_news_to(race(phase=Phase.COUNTDOWN))
    lobby = replace(race(phase=Phase.LOBBY), go_at_ms=0, deadline_at_ms=0)
    assert not Advanced(Phase.LOBBY, lobby.now_ms, lobby.now_ms + 1).is_news_to(lobby)
    # One that was seen closed may have been rated since.
    assert Advanced(Phase.CLOSED, known.now_ms, 0).is_news_to(race(phase=Phase.CLOSED))


def test_who_cuts_bots_off_has_won_nothing_of_a_series_and_keeps_nobody_from_winning() -> None:
    banked = {"ended": Status.BANKED}
    ahead, behind = seat(1, best=9, **banked), seat(1, best=2, **banked)
    bot = seat(2, best=5)
    assert race(ahead, bot).scores() == {1: 0, 2: 0}
    assert race(behind, bot).scores() == {1: 0, 2: 1}
    # A rival who was done has been beaten all the same.
    assert race(ahead, bot, seat(3, best=1, **banked)).scores() == {1: 1, 2: 0, 3: 0}
    # Of a race that is won, or closed at its time, nobody was kept from the first place.
    assert race(seat(1, ended=Status.WON, t_ms=900), bot).scores() == {1: 1, 2: 0}
    in_time = replace(race(ahead, bot), closed_at_ms=GO_AT_MS + 5_000)
    assert in_time.scores() == {1: 1, 2: 0}
