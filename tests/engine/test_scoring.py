"""The order of a race: who stands before whom, and who shares a place."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from samedeal.engine.scoring import Outcome, Placed, final_order

UNMOVED = Outcome(
    seat=1,
    has_moved=False,
    has_won=False,
    t_ms=0,
    moves=0,
    best=0,
    opened=0,
    t_best_ms=0,
    m_best=0,
)


def winner(seat: int, t_ms: int, moves: int = 100) -> Outcome:
    return Outcome(
        seat=seat,
        has_moved=True,
        has_won=True,
        t_ms=t_ms,
        moves=moves,
        best=52,
        opened=28,
        t_best_ms=t_ms,
        m_best=moves,
    )


def loser(
    seat: int, best: int, opened: int = 10, t_best_ms: int = 5_000, m_best: int = 30
) -> Outcome:
    return Outcome(
        seat=seat,
        has_moved=True,
        has_won=False,
        t_ms=0,
        moves=80,
        best=best,
        opened=opened,
        t_best_ms=t_best_ms,
        m_best=m_best,
    )


def places(*outcomes: Outcome) -> list[tuple[int, int]]:
    return [(placed.place, placed.seat) for placed in final_order(outcomes)]


def test_a_win_comes_before_any_unfinished_run() -> None:
    assert places(loser(1, best=51), winner(2, t_ms=900_000)) == [(1, 2), (2, 1)]


def test_the_earlier_win_comes_first() -> None:
    assert places(winner(1, t_ms=60_010), winner(2, t_ms=60_000)) == [(1, 2), (2, 1)]


def test_wins_within_the_same_ten_milliseconds_go_by_moves() -> None:
    assert places(winner(1, 60_000, moves=90), winner(2, 60_009, moves=80)) == [(1, 2), (2, 1)]


def test_one_millisecond_counts_when_it_crosses_a_step_of_ten() -> None:
    assert places(winner(1, 60_010, moves=80), winner(2, 60_009, moves=90)) == [(1, 2), (2, 1)]


def test_wins_equal_in_time_and_moves_share_the_place_and_stand_by_seat() -> None:
    assert places(winner(3, 60_004), winner(2, 60_008)) == [(1, 2), (1, 3)]


def test_winners_are_not_told_apart_by_anything_but_time_and_moves() -> None:
    first = winner(1, 60_000)
    second = replace(winner(2, 60_000), opened=3, t_best_ms=7, m_best=7)
    assert places(first, second) == [(1, 1), (1, 2)]


def test_the_highest_best_comes_first_whatever_was_opened() -> None:
    assert places(loser(1, best=9, opened=28), loser(2, best=10, opened=0)) == [(1, 2), (2, 1)]


def test_equal_best_goes_by_what_was_opened() -> None:
    assert places(loser(1, best=9, opened=4), loser(2, best=9, opened=5)) == [(1, 2), (2, 1)]


def test_equal_states_go_by_the_time_they_were_reached() -> None:
    late, early = loser(1, best=9, t_best_ms=4_010), loser(2, best=9, t_best_ms=4_009, m_best=99)
    assert places(late, early) == [(1, 2), (2, 1)]


def test_states_reached_within_the_same_ten_milliseconds_go_by_moves() -> None:
    many = loser(1, best=9, t_best_ms=4_000, m_best=31)
    few = loser(2, best=9, t_best_ms=4_009, m_best=30)
    assert places(many, few) == [(1, 2), (2, 1)]


def test_playing_on_without_progress_never_costs() -> None:
    gave_up, played_on = loser(1, best=9), replace(loser(2, best=9), moves=500)
    assert places(gave_up, played_on) == [(1, 1), (1, 2)]


def test_after_a_shared_place_the_next_is_left_out() -> None:
    outcomes = [winner(1, 60_000), loser(4, best=9), loser(2, best=9), loser(3, best=2)]
    assert places(*outcomes) == [(1, 1), (2, 2), (2, 4), (4, 3)]


def test_who_never_moved_is_last_even_behind_a_run_that_achieved_nothing() -> None:
    nothing = loser(2, best=0, opened=0, t_best_ms=0, m_best=0)
    assert places(replace(UNMOVED, seat=1), nothing) == [(1, 2), (2, 1)]


def test_all_who_never_moved_share_the_last_place() -> None:
    first = replace(UNMOVED, seat=1, best=3, opened=2)
    second = replace(UNMOVED, seat=5)
    assert places(second, loser(3, best=1), first) == [(1, 3), (2, 1), (2, 5)]


def test_a_race_of_nobody_has_an_empty_order() -> None:
    assert final_order([]) == ()


def test_the_order_does_not_depend_on_the_order_of_the_runs() -> None:
    outcomes = [winner(1, 5), winner(2, 5), loser(3, best=1), replace(UNMOVED, seat=4)]
    assert len({final_order(some) for some in permutations(outcomes)}) == 1


small = st.integers(0, 2)
outcome = st.builds(
    Outcome,
    seat=st.just(1),
    has_moved=st.just(True),
    has_won=st.booleans(),
    t_ms=st.integers(0, 25),
    moves=small,
    best=small,
    opened=small,
    t_best_ms=st.integers(0, 25),
    m_best=small,
)


@given(st.lists(outcome, max_size=8))
def test_a_place_is_one_more_than_the_number_of_strictly_better_runs(drawn: list[Outcome]) -> None:
    race = [replace(one, seat=seat) for seat, one in enumerate(drawn, start=1)]
    order = final_order(race)

    for placed in order:
        better = 0
        for rival in race:
            if rival.seat != placed.seat:
                duel = final_order([race[placed.seat - 1], rival])
                better += Placed(2, placed.seat) in duel
        assert placed.place == better + 1
