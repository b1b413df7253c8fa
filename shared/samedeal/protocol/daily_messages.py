"""The daily challenge on the wire: what a player asks about a day, and what the server says."""

from typing import Literal

from samedeal.protocol.fields import (
    Count,
    DayNumber,
    DealLabel,
    Flag,
    FromServer,
    GameId,
    Hex32,
    Home,
    IsoDate,
    Message,
    Ms,
    RaceId,
    RequestId,
    Status,
)

__all__ = ["Daily", "DailyGet", "DailyPlay", "DayGame", "OwnRun", "Promise", "Streak"]


class DailyGet(Message):
    """Ask about a day, today if none is named: its deals, the own runs, what is to come."""

    type: Literal["daily_get"] = "daily_get"
    id: RequestId
    day: DayNumber | None = None
    game: GameId | None = None
    """Only this game; all of them if none is named."""


class DailyPlay(Message):
    """Play the deal of a day, today's if none is named. Asked again, it is the same run.

    The first run at a deal ranks, if it is begun on its day. With `practice` it does not: that is
    how a day is played once more, or one that is past.
    """

    type: Literal["daily_play"] = "daily_play"
    id: RequestId
    game: GameId
    day: DayNumber | None = None
    practice: Flag = False


class OwnRun(FromServer):
    """The asker's run that ranks."""

    race: RaceId
    status: Status
    best: Count
    opened: Count
    home: Home
    moves: Count
    t_ms: Ms
    """Ended: after how many moves and when that was reached. Still on: so far."""
    place: Count = 0
    """Place on the day's board when the run is over; 0 without one."""


class Streak(FromServer):
    """Days played in a row, 10 moves or more each; a missed day takes a freeze if there is one."""

    days: Count
    best: Count
    freezes: Count


class DayGame(FromServer):
    """One game of a day."""

    game: GameId
    label: DealLabel
    commitment: Hex32
    seed: Hex32 | None = None
    """Public when the day is closed."""
    void: Flag = False
    """An operator took the day out of the ranking; it is neutral for streaks."""
    played: Count = 0
    """Players whose run is over."""
    own: OwnRun | None = None
    streak: Streak


class Promise(FromServer):
    """The deal of a day to come, fixed and still secret."""

    day: Count
    date: IsoDate
    game: GameId
    label: DealLabel
    commitment: Hex32


class Daily(FromServer):
    """Answer to `daily_get`."""

    type: Literal["daily"] = "daily"
    id: RequestId
    day: DayNumber
    date: IsoDate
    featured: GameId
    now_ms: Ms
    """The server's clock, in milliseconds since 1970."""
    rollover_ms: Ms
    """Milliseconds until the day ends and the next begins; 0 for a day that is past."""
    closed: Flag
    """Whether the seeds are public: an hour after the end of the day."""
    games: tuple[DayGame, ...]
    coming: tuple[Promise, ...]
