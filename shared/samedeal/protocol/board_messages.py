"""Leaderboards and friends on the wire: what is asked, and what is answered."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from samedeal.protocol.fields import (
    Count,
    Flag,
    FromServer,
    GameId,
    IsoDate,
    Message,
    Ms,
    Name,
    NameText,
    PlayerId,
    RequestId,
    text_only,
)

__all__ = [
    "Board",
    "BoardGet",
    "BoardKind",
    "BoardRow",
    "Friend",
    "FriendAdd",
    "FriendRemove",
    "Friends",
    "FriendsGet",
    "Period",
    "RunId",
]

RunId = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-z]{16}\.[1-8]$")]
"""A race and a seat in it: one player's run."""
Cursor = Annotated[str, StringConstraints(strict=True, pattern=r"^[ab][0-9a-z.]{1,100}$")]
"""Where a page begins: a row's whole key, so rows that come and go move no page."""


class BoardKind(StrEnum):
    """What a board ranks by."""

    WINS = "wins"
    """Most races won, then fewer races."""
    FASTEST = "fastest"
    """Quickest win of a ranked race on a random deal, then fewer moves."""
    DAILY = "daily"
    """The deal of a day."""
    RATING = "rating"
    STREAK = "streak"
    """Days played in a row."""
    SEASON = "season"
    """Mean share of the day's players that were beaten, best five days of a week."""


class Period(StrEnum):
    """Over how long a board counts."""

    WEEK = "week"
    MONTH = "month"
    ALL = "all"


KindName = Annotated[BoardKind, BeforeValidator(text_only)]
PeriodName = Annotated[Period, BeforeValidator(text_only)]


class BoardGet(Message):
    """A leaderboard of a game: its top, a page of it, or the rows around the own one."""

    type: Literal["board_get"] = "board_get"
    id: RequestId
    game: GameId
    board: KindName = BoardKind.WINS
    period: PeriodName | None = None
    """Left out: the whole time, for the season the week."""
    day: IsoDate | None = None
    """The day of a daily board; else a day of the week or month meant. Left out: today."""
    bots: Flag = False
    """The board of the bots, which are on none with people."""
    around: Flag = False
    friends: Flag = False
    """Only the asker and the friends it named."""
    page: Cursor | None = None
    """`next` or `previous` of an earlier answer."""
    limit: Annotated[int, Field(strict=True, ge=1, le=100)] = 20


class BoardRow(FromServer):
    """One row; equal ones share a place. Which numbers it has, the board says."""

    place: Count
    player: PlayerId
    name: Name
    run: RunId | None = None
    """The run that opens as a replay: the best, or the last that counted."""
    at_ms: Count
    """When it was achieved, in milliseconds since 1970: of equal rows the earlier is first."""
    wins: Count | None = None
    races: Count | None = None
    won: Flag | None = None
    best: Count | None = None
    opened: Count | None = None
    moves: Count | None = None
    t_ms: Ms | None = None
    rating: Count | None = None
    """As rooms show it: everyone begins with 1500."""
    days: Count | None = None
    percent: Count | None = None
    """In hundredths of a percent."""


class Board(FromServer):
    """Answer to `board_get`."""

    type: Literal["board"] = "board"
    id: RequestId
    game: GameId
    board: KindName
    period: Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9A-Zal-]{3,10}$")]
    """`all`, a week as 2026-W49, a month as 2026-11, or a day."""
    bots: Flag = False
    total: Count
    """Rows of the whole board."""
    rows: tuple[BoardRow, ...]
    me: BoardRow | None = None
    """The own row, wherever it is."""
    beaten: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    """Share of the others that the own row is ahead of, ties half, in hundredths of a percent."""
    previous: Cursor | None = None
    next: Cursor | None = None


class FriendAdd(Message):
    """Name a friend: boards can be shown for friends alone. The friend is not told."""

    type: Literal["friend_add"] = "friend_add"
    id: RequestId
    name: NameText


class FriendRemove(Message):
    """Take a friend off the list."""

    type: Literal["friend_remove"] = "friend_remove"
    id: RequestId
    name: NameText


class FriendsGet(Message):
    """The own list of friends."""

    type: Literal["friends_get"] = "friends_get"
    id: RequestId


class Friend(FromServer):
    """One of the own friends."""

    player: PlayerId
    name: Name


class Friends(FromServer):
    """Answer to `friend_add`, `friend_remove` and `friends_get`: the list as it is now."""

    type: Literal["friends"] = "friends"
    id: RequestId
    friends: tuple[Friend, ...]
