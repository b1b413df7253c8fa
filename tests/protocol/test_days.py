"""Day numbers, dates and the games that take turns."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from samedeal.protocol import days


def ms(*when: int) -> int:
    year, month, day, hour, minute, second = when
    return int(datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "2026-01-01"), (334, "2026-11-30"), (366, "2027-01-01"), (790, "2028-02-29"),
     (791, "2028-03-01"), (days.MAX_DAY, "2299-10-16")],
)  # fmt: skip
def test_a_day_has_a_number_and_a_date(number: int, text: str) -> None:
    assert days.date_of(number).isoformat() == text
    assert days.number_of(date.fromisoformat(text)) == number


@pytest.mark.parametrize("text", ["334", "0000334", "2026-11-30", "20261130"])
def test_a_day_is_named_by_number_or_date(text: str) -> None:
    assert days.named(text) == 334


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "100001", "0000003340000", "9" * 5000, "\u0663", "2025-12-31", "2026-02-30",
     "2300-01-01", "9999-12-31", "today"],
    ids=lambda text: text[:15] or "nothing",
)  # fmt: skip
def test_what_names_no_day_gets_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'[^']{0,20}' is no day: a number from 1, or a date"):
        days.named(text)


def test_a_day_begins_and_ends_at_midnight_utc_also_on_29_february() -> None:
    leap = days.number_of(date(2028, 2, 29))
    assert days.begins_at_ms(leap) == ms(2028, 2, 29, 0, 0, 0)
    assert days.number_at(ms(2028, 2, 28, 23, 59, 59) + 999) == leap - 1
    assert days.number_at(ms(2028, 2, 29, 0, 0, 0)) == leap
    assert days.number_at(ms(2028, 2, 29, 23, 59, 59) + 999) == leap
    assert days.number_at(ms(2028, 3, 1, 0, 0, 0)) == leap + 1
    assert days.begins_at_ms(leap + 1) - days.begins_at_ms(leap) == days.DAY_MS


def test_every_game_is_featured_in_its_turn() -> None:
    turns = [days.featured(number) for number in range(1, 11)]
    assert set(turns[:5]) == set(days.DAILY_GAMES)
    assert turns[5:] == turns[:5]
