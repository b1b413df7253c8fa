"""Which boards are there, and how does a row sort? As a text of fixed width, so by itself.

A row is its order, then when it was achieved, whose it is, and the run that it shows. Rows of one
board differ in length nowhere before the player, so plain comparison of texts is the exact order
of any number of fields, equal ones by the earlier achievement.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from samedeal.protocol.board_messages import BoardKind, Period

__all__ = [
    "ALL",
    "DAY_MS",
    "ORDERS",
    "PERIODS",
    "SEASON_UNIT",
    "Board",
    "Order",
    "Row",
    "Span",
    "day_of",
    "period_of",
]

ALL = "all"
DAY_MS = 24 * 3600 * 1000
SEASON_UNIT = 60
"""Parts of a hundredth of a percent, so that the mean of 3, 4 or 5 days is a whole number."""
KEPT_MS = 400 * DAY_MS
"""How long the board of a day, a week or a month is kept after it is over."""
_PLAYER = 16
_AT = 12
FOREVER = "g" * _AT
"""Later than every time in hexadecimal."""


class Field(NamedTuple):
    """A number of a row: how many hexadecimal digits it takes, and which end comes first."""

    name: str
    width: int
    most_first: bool = False


class Order:
    """What a board ranks by: the first field decides, then the second, and so on."""

    def __init__(self, *fields: Field) -> None:
        self.fields = fields
        self.width = sum(field.width for field in fields)

    def encode(self, *values: int) -> str:
        """Write the values of a row. What is out of a field's range counts as its end."""
        texts = []
        for field, value in zip(self.fields, values, strict=True):
            most = 16**field.width - 1
            value = min(max(value, 0), most)
            texts.append(f"{most - value if field.most_first else value:0{field.width}x}")
        return "".join(texts)

    def decode(self, text: str) -> dict[str, int]:
        """Read the values back."""
        values, at = {}, 0
        for field in self.fields:
            value = int(text[at : at + field.width], 16)
            values[field.name] = 16**field.width - 1 - value if field.most_first else value
            at += field.width
        return values


ORDERS = {
    BoardKind.WINS: Order(Field("wins", 8, most_first=True), Field("races", 8)),
    BoardKind.FASTEST: Order(Field("t_10ms", 6), Field("moves", 8)),
    BoardKind.DAILY: Order(
        Field("won", 1, most_first=True),
        Field("best", 2, most_first=True),
        Field("opened", 2, most_first=True),
        Field("moves", 8),
        Field("t_100ms", 6),
    ),
    BoardKind.RATING: Order(Field("rating", 8, most_first=True)),
    BoardKind.STREAK: Order(Field("days", 6, most_first=True)),
    BoardKind.SEASON: Order(Field("points", 8, most_first=True)),
}

PERIODS = {
    BoardKind.WINS: (Period.ALL, Period.WEEK),
    BoardKind.FASTEST: (Period.ALL, Period.MONTH, Period.WEEK),
    BoardKind.DAILY: (),
    BoardKind.RATING: (Period.ALL,),
    BoardKind.STREAK: (Period.ALL,),
    BoardKind.SEASON: (Period.WEEK,),
}
"""Which boards of a kind there are, the usual one first. A daily board is of its day."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a board."""

    order: str
    at_ms: int
    player: str
    run: str = ""

    @property
    def text(self) -> str:
        """The row as it is stored."""
        return f"{self.order}{self.at_ms:0{_AT}x}{self.player}{self.run}"

    @classmethod
    def parse(cls, kind: BoardKind, text: str) -> Self:
        """Read a stored row."""
        at = ORDERS[kind].width
        player = at + _AT
        run = player + _PLAYER
        return cls(text[:at], int(text[at:player], 16), text[player:run], text[run:])


@dataclass(frozen=True, slots=True)
class Board:
    """One board: `put` rows on it, read it."""

    game: str
    kind: BoardKind
    period: str = ALL
    bots: bool = False

    @property
    def order(self) -> Order:
        """What it ranks by."""
        return ORDERS[self.kind]

    @property
    def expires_ms(self) -> int:
        """When it is forgotten, in milliseconds since 1970; 0 for never."""
        span = Span.of(self.period)
        return 0 if span is None else span.end_ms + KEPT_MS


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of time, its end not part of it, in milliseconds since 1970."""

    start_ms: int
    end_ms: int

    @classmethod
    def of(cls, period: str) -> Self | None:
        """The time of a week (2026-W49), a month (2026-11) or a day; None for all of it."""
        if period == ALL:
            return None
        if "W" in period:
            year, _, week = period.partition("-W")
            first = datetime.date.fromisocalendar(int(year), int(week), 1)
            after = first + datetime.timedelta(days=7)
        elif len(period) == len("2026-11"):
            first = datetime.date.fromisoformat(f"{period}-01")
            after = (first + datetime.timedelta(days=31)).replace(day=1)
        else:
            first = datetime.date.fromisoformat(period)
            after = first + datetime.timedelta(days=1)
        return cls(_ms(first), _ms(after))

    @property
    def days(self) -> Iterator[str]:
        """Its days, first to last."""
        for at in range(self.start_ms, self.end_ms, DAY_MS):
            yield day_of(at)


def day_of(at_ms: int) -> str:
    """The UTC day of a moment."""
    return datetime.datetime.fromtimestamp(at_ms // 1000, datetime.UTC).date().isoformat()


def period_of(period: Period, at_ms: int) -> str:
    """The ISO week, the month or the whole time that a moment belongs to."""
    date = datetime.datetime.fromtimestamp(at_ms // 1000, datetime.UTC).date()
    if period is Period.WEEK:
        year, week, _ = date.isocalendar()
        return f"{year}-W{week:02}"
    return date.isoformat()[:7] if period is Period.MONTH else ALL


def _ms(date: datetime.date) -> int:
    midnight = datetime.datetime(date.year, date.month, date.day, tzinfo=datetime.UTC)
    return int(midnight.timestamp()) * 1000
