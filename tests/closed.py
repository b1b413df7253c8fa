"""Records of races that are over, as a node has them when it books what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from samedeal.protocol.days import DAY_MS, begins_at_ms, number_of
from samedeal.protocol.fields import DealLabel, Phase, RaceOptions, Status
from samedeal_server.race import RaceDay, RaceState, SeatState

__all__ = ["FIRST", "Who", "closed_race", "race_closed"]

FIRST: date = datetime.now(UTC).date() - timedelta(days=5)
"""Of the five days up to yesterday, so that streaks go on."""

Who = tuple[str, str]
"""A player's id and name."""


def closed_race(
    number: int, *who: Who, t_ms: int = 60_000, on: int | None = None, bots: bool = False
) -> RaceState:
    """A race that the first has won; or, `on` a day after the first, the run of one at its deal."""
    at_ms = begins_at_ms(number_of(FIRST)) + 12 * 3600 * 1000 + (on or 0) * DAY_MS + number
    seats = {}
    for place, (player, name) in enumerate(who, start=1):
        has_won = place == 1
        seats[place] = SeatState(
            seat=place,
            player=player,
            name=name,
            bot=bots,
            seq=80,
            ended=Status.WON if has_won else Status.BANKED,
            t_ms=t_ms,
            t_best_ms=t_ms,
            best=52 if has_won else 3,
            m_best=80,
        )
    day = None
    if on is not None:
        today = number_of(FIRST) + on
        day = RaceDay(today, DealLabel.OPEN, begins_at_ms(today + 1))
    return race_closed(number, seats, at_ms, RaceOptions(ranked=True), day=day)


def race_closed(
    number: int,
    seats: Mapping[int, SeatState],
    at_ms: int,
    options: RaceOptions,
    *,
    practice: bool = False,
    day: RaceDay | None = None,
) -> RaceState:
    """A race of lanes that closed at a time, ten minutes after GO."""
    return RaceState(
        id=f"race{number:012}",
        code="ABCDE",
        game="lanes",
        rules_version=1,
        seed=bytes(32),
        commitment="0" * 64,
        practice=practice,
        options=options,
        phase=Phase.CLOSED,
        ver=9,
        round=1,
        host=1,
        seats=dict(seats),
        now_ms=at_ms,
        go_at_ms=at_ms - 600_000,
        closed_at_ms=at_ms,
        day=day,
    )
