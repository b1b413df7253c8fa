"""Streaks: days in a row, freezes, void days."""

from __future__ import annotations

import pytest

from samedeal_server.days_in_a_row import DaysInARow, days_in_a_row

WEEK, MONTH = frozenset(range(1, 8)), frozenset(range(1, 29))


@pytest.mark.parametrize(
    ("played", "void", "open_from", "streak"),
    [
        pytest.param(set(), set(), 5, DaysInARow(), id="nothing played"),
        pytest.param({5}, set(), 5, DaysInARow(1, 1, 0), id="today alone"),
        pytest.param({3, 4}, set(), 5, DaysInARow(2, 2, 0), id="today is not over"),
        pytest.param({3, 4}, set(), 6, DaysInARow(0, 2, 0), id="a missed day ends it"),
        pytest.param({1, 2, 4}, set(), 4, DaysInARow(1, 2, 0), id="and a new one begins"),
        pytest.param({1, 2, 4}, {3}, 4, DaysInARow(3, 3, 0), id="a void day missed is no gap"),
        pytest.param({1, 2, 3}, {2}, 3, DaysInARow(2, 2, 0), id="a void day played counts nothing"),
        pytest.param(WEEK, set(), 8, DaysInARow(7, 7, 1), id="seven days earn a freeze"),
        pytest.param(WEEK, set(), 9, DaysInARow(7, 7, 0), id="a missed day takes it"),
        pytest.param(WEEK, set(), 10, DaysInARow(0, 7, 0), id="two missed days are too many"),
        pytest.param(WEEK | {9}, set(), 9, DaysInARow(8, 8, 0), id="the streak goes on after it"),
        pytest.param(MONTH, set(), 29, DaysInARow(28, 28, 2), id="two are held at most"),
        pytest.param(MONTH, set(), 31, DaysInARow(28, 28, 0), id="two missed take both"),
        pytest.param({1, 5}, set(), 2, DaysInARow(2, 2, 0), id="days to come are no gap"),
    ],
)
def test_a_streak_is_a_function_of_the_days_played(
    played: set[int], void: set[int], open_from: int, streak: DaysInARow
) -> None:
    assert days_in_a_row(played, void, open_from) == streak
