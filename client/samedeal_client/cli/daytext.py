"""The daily challenge in words: what a day is, how the own run stands, a card to share."""

import shlex
from datetime import datetime, timedelta
from typing import Final

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.protocol import server_messages as say
from samedeal.protocol.daily_messages import DayGame, OwnRun
from samedeal.protocol.fields import DayTag, RaceView, Status

__all__ = [
    "card",
    "coming",
    "day_lines",
    "goes_on_first",
    "greeting",
    "is_over",
    "own_line",
    "way_back",
]

_ROW: Final = 30


def greeting(view: RaceView, name: str) -> list[str]:
    """What a player is told when the board of a day is dealt."""
    assert view.day is not None
    counts = "practice: it counts for nothing" if view.practice else "your first run: it ranks"
    return [
        f"* daily {view.day.number} ({view.day.date}), {game(view.game).title}, "
        f"{view.day.label.value} deal; you are {name}",
        f"* {counts}; the clock runs on, and the run ends in "
        f"{_span(view.deadline_ms - view.clock_ms)} at the latest",
        f"* the deal is fixed: commitment {view.commitment}",
    ]


def goes_on_first(day: DayTag) -> str:
    """Say past midnight that the run of the day before is what is played."""
    return f"day {day.number} ({day.date}) goes on first: your run of it is still open"


def way_back(view: RaceView, options: list[str]) -> str:
    """The command that comes back to a day's run."""
    assert view.day is not None
    words = ["samedeal", "daily", "--game", view.game, "--day", str(view.day.number)]
    return shlex.join([*words, *(["--practice"] if view.practice else []), *options])


def day_lines(daily: say.Daily, now: datetime, *, is_whole: bool = True) -> list[str]:
    """What day it is and until when, and its games; `now` is the local time.

    A text that is not whole leaves out the commitments and seeds.
    """
    head = f"daily {daily.day} ({daily.date} UTC)"
    if daily.rollover_ms:
        at = now + timedelta(milliseconds=daily.rollover_ms)
        here = f"{at:%H:%M %Z}".rstrip()
        head += f", ends in {_span(daily.rollover_ms)}, at 00:00 UTC ({here} here)"
    else:
        head += ", past" if daily.closed else ", over; runs that are on may end within the hour"
    lines = [head]
    for each in daily.games:
        lines.append(_game_line(each, is_featured=each.game == daily.featured))
        if is_whole:
            lines.append(f"  commitment {each.commitment}")
        if is_whole and each.seed is not None:
            lines.append(f"  seed {each.seed}")
        lines.append(f"  you: {own_line(each)}")
    return lines


def is_over(each: DayGame) -> bool:
    """Whether the own run that ranks is over."""
    return each.own is not None and each.own.status is not Status.PLAYING


def coming(daily: say.Daily) -> list[str]:
    """The promises for the days to come."""
    return [
        f"day {each.day} ({each.date}) {each.game}, {each.label.value} deal: {each.commitment}"
        for each in daily.coming
    ]


def _game_line(each: DayGame, *, is_featured: bool) -> str:
    parts = [f"{each.label.value} deal"]
    if is_featured:
        parts.append("featured")
    parts.append(
        f"{each.played} {'has' if each.played == 1 else 'have'} played"
        if each.played
        else "nobody has finished it yet"
    )
    if each.void:
        parts.append("taken out of the ranking by the operators")
    return f"{each.game}: {', '.join(parts)}"


def own_line(each: DayGame, *, is_short: bool = False) -> str:
    """How the own run and the streak stand; in fewer words on a narrow screen."""
    own, streak = each.own, each.streak
    if own is None:
        line = "not played"
    elif own.status is Status.PLAYING:
        line = f"on, {counted(own.moves, 'move')}, best {own.best}"
    else:
        result = _short(each.game, own) if is_short else _result(each.game, own)
        line = f"{result}{_place(each)}"
    if is_short and streak.days:
        line += f"; streak {streak.days}"
    elif streak.days:
        freezes = f", {counted(streak.freezes, 'freeze')}" * bool(streak.freezes)
        line += f"; streak of {counted(streak.days, 'day')}{freezes}"
    return line


def card(daily: say.Daily, each: DayGame) -> str:
    """A result to show around, without a word of the cards: 4 lines."""
    own = each.own
    assert own is not None
    total = _total(each.game)
    done = max(0, min(_ROW, own.best * _ROW // total))
    lines = [
        f"samedeal daily {daily.day}, {game(each.game).title} ({each.label.value})",
        _result(each.game, own),
        f"[{'#' * done}{'.' * (_ROW - done)}] {own.best}/{total}",
    ]
    last = [part for part in (_place(each).removeprefix("; "), _streak(each)) if part]
    if last:
        lines.append(", ".join(last))
    return "\n".join(lines)


def _streak(each: DayGame) -> str:
    days = each.streak.days
    return f"streak of {days} days" if days > 1 else ""


def _result(game_id: str, own: OwnRun) -> str:
    moves, at = counted(own.moves, "move"), f"{_span(own.t_ms)}.{own.t_ms // 100 % 10}"
    if own.status is Status.WON:
        return f"won in {moves}, {at}"
    return f"{own.best} of {_total(game_id)} home, {own.opened} opened after {moves}, {at}"


def _short(game_id: str, own: OwnRun) -> str:
    how = "won" if own.status is Status.WON else f"{own.best}/{_total(game_id)}"
    return f"{how}, {counted(own.moves, 'move')}"


def _place(each: DayGame) -> str:
    own = each.own
    return f"; place {own.place} of {each.played}" if own is not None and own.place else ""


def _total(game_id: str) -> int:
    rules = game(game_id)
    return rules.total - rules.dealt_to_foundations


def _span(ms: int) -> str:
    minutes, seconds = divmod(max(0, ms) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
