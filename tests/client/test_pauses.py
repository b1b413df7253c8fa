"""Pauses between tries: growing, spread, bounded, and never before the server wants it."""

import random

import pytest

from samedeal_client.pauses import LAST_PAUSE_S, LONGEST_HINT_S, Pauses


class Most(random.Random):
    """Draws the end of every range."""

    def uniform(self, a: float, b: float) -> float:
        return b


class Least(random.Random):
    """Draws the beginning of every range."""

    def uniform(self, a: float, b: float) -> float:
        return a


def test_pauses_double_up_to_a_limit() -> None:
    pauses = Pauses(Most())
    assert [pauses.after(None) for _ in range(8)] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 8.0, 8.0]


def test_pauses_are_spread_down_to_nothing() -> None:
    pauses = Pauses(Least())
    assert [pauses.after(None) for _ in range(3)] == [0.0, 0.0, 0.0]


def test_after_a_success_the_first_pause_is_short_again() -> None:
    pauses = Pauses(Most())
    for _ in range(5):
        pauses.after(None)
    pauses.reset()
    assert pauses.after(None) == 0.2


def test_nobody_comes_before_the_hint() -> None:
    assert Pauses(Least()).after(1500) == 1.5


def test_many_with_the_same_hint_are_spread_over_half_as_much_again() -> None:
    assert Pauses(Most()).after(4000) == 6.0


@pytest.mark.parametrize("hint_ms", [0, 5, 60_000, 999_999])
def test_no_pause_is_longer_than_the_bounds(hint_ms: int) -> None:
    pauses = Pauses(Most())
    longest = max(pauses.after(hint_ms) for _ in range(20))
    assert longest <= LONGEST_HINT_S + max(LAST_PAUSE_S, LONGEST_HINT_S / 2)
