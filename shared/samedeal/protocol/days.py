"""The days of the daily challenge: their numbers, their dates, when they begin and end (UTC)."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

from samedeal.engine.games.five import FIVE

__all__ = [
    "AHEAD",
    "DAILY_GAMES",
    "DAY_MS",
    "GRACE_MS",
    "MAX_DAY",
    "begins_at_ms",
    "date_of",
    "featured",
    "named",
    "number_at",
    "number_of",
    "number_of_iso",
]

DAY_MS: Final = 24 * 3600 * 1000
GRACE_MS: Final = 3600 * 1000
"""How long after its day a run may end; then the day closes, and its seeds are public."""
AHEAD: Final = 7
"""Days to come whose deals are made, and promised in public."""
MAX_DAY: Final = 100_000
DAILY_GAMES: Final = tuple(rules.id for rules in FIVE)

_DAY_ZERO: Final = date(2025, 12, 31)


def number_of(day: date) -> int:
    """Return the number of a date; 1 January 2026 is day 1."""
    return (day - _DAY_ZERO).days


def number_of_iso(text: str) -> int:
    """Return the number of a date as in 2026-11-30. Raise ValueError if it is none."""
    return number_of(date.fromisoformat(text))


def named(text: str) -> int:
    """Return the number of a day named by its number or its date, as 334 or 2026-11-30.

    Raise ValueError, with a sentence, if there is no such day.
    """
    try:
        # A date without dashes has more digits than any number of a day.
        is_number = text.isascii() and text.isdecimal() and len(text) < len("20261130")
        number = int(text) if is_number else number_of_iso(text)
    except ValueError:
        number = 0
    if not 1 <= number <= MAX_DAY:
        sentence = f"{text[:20]!r} is no day: a number from 1, or a date from 2026-01-01 on"
        raise ValueError(sentence)
    return number


def date_of(number: int) -> date:
    """Return the date of a day."""
    return _DAY_ZERO + timedelta(days=number)


def begins_at_ms(number: int) -> int:
    """Return when a day begins, in milliseconds since 1970."""
    day = date_of(number)
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def number_at(now_ms: int) -> int:
    """Return the number of the day at a time in milliseconds since 1970."""
    return number_of(datetime.fromtimestamp(now_ms // 1000, UTC).date())


def featured(number: int) -> str:
    """Return the game that a day features; they take turns."""
    return DAILY_GAMES[number % len(DAILY_GAMES)]
