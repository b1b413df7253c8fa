"""The daily challenge on a screen: the deals of today, the own runs, what is to come."""

from datetime import datetime
from typing import Final

from samedeal.engine.games import game
from samedeal.protocol import server_messages as say
from samedeal.protocol.daily_messages import DayGame
from samedeal.protocol.fields import RaceView
from samedeal_client.cli.daytext import card, day_lines, is_over, own_line
from samedeal_client.model.ink import Canvas, Ink, Row, clipped, elided
from samedeal_client.model.keys import Action, ScreenKeys

__all__ = ["DayChoice", "day_panel", "day_rows"]

_WIDE: Final = 100
"""Below it a result has to be told in fewer words to stand beside its game."""


class DayChoice:
    """Which of a day's games is chosen."""

    def __init__(self, daily: say.Daily, game_id: str | None = None) -> None:
        """The game that is named is chosen, else the featured one."""
        self.daily = daily
        games = [each.game for each in daily.games]
        first = game_id or daily.featured
        self.at = games.index(first) if first in games else 0

    @property
    def chosen(self) -> DayGame:
        return self.daily.games[self.at]

    def move(self, by: int) -> None:
        """Choose the next game or the one before."""
        self.at = (self.at + by) % len(self.daily.games)

    @property
    def is_over(self) -> bool:
        """Whether the own run that ranks is over."""
        return is_over(self.chosen)

    @property
    def card(self) -> list[str]:
        """The result to show around; empty before there is one."""
        return card(self.daily, self.chosen).splitlines() if self.is_over else []


def day_rows(
    choice: DayChoice | None,
    keys: ScreenKeys,
    now: datetime,
    width: int,
    height: int,
    sentence: str,
    *,
    since_ms: int = 0,
) -> list[Row]:
    """Draw it, so long after it was told; without a choice it is still being asked for."""
    canvas = Canvas(width, height)
    canvas.put(1, 2, "DAILY", Ink.TITLE)
    if choice is not None:
        left_ms = max(0, choice.daily.rollover_ms - since_ms)
        told = choice.daily.model_copy(update={"games": (), "rollover_ms": left_ms})
        head = day_lines(told, now)[0]
        canvas.put(1, 8, elided(head.removeprefix("daily"), width - 9))
        _games(canvas, 3, choice)
        _chosen(canvas, 4 + len(choice.daily.games), choice)
    canvas.put(height - 2, 2, clipped(sentence, width - 2), Ink.BAD)
    offers: list[tuple[Action, str]] = []
    if choice is not None and choice.is_over:
        offers = [(Action.SHARE, "share card")]
    elif choice is not None:
        is_on = choice.chosen.own is not None
        offers = [(Action.TAKE, "goes on" if is_on else "plays, ranked")]
    foot = keys.foot(
        width - 1,
        ((Action.UP, Action.DOWN), "choose"),
        *offers,
        (Action.PRACTICE, "practice"),
        (Action.HELP, "help"),
        (Action.BACK, "back"),
    )
    canvas.put(height - 1, 1, foot, Ink.DIM)
    return canvas.rows()


def _games(canvas: Canvas, top: int, choice: DayChoice) -> None:
    """The games of the day, a row each."""
    is_short = canvas.width < _WIDE
    for at, each in enumerate(choice.daily.games):
        mark, ink = (">", Ink.OWN) if at == choice.at else (" ", Ink.PLAIN)
        star = " featured" if each.game == choice.daily.featured else ""
        title = clipped(f"{game(each.game).title}{star}", 26)
        canvas.put(top + at, 1, f"{mark} {title} {own_line(each, is_short=is_short)}", ink)


def _chosen(canvas: Canvas, top: int, choice: DayChoice) -> None:
    """All that is told of the game chosen, as far as there is room."""
    each = choice.chosen
    played = (
        f"{each.played} {'has' if each.played == 1 else 'have'} finished it"
        if each.played
        else "nobody has finished it yet"
    )
    about = [f"{each.label.value} deal, {played}", f"commitment {each.commitment}"]
    if each.void:
        about.append("taken out of the ranking by the operators")
    if not choice.is_over:
        about.append("results of others stay hidden until your own run is over")
        about.append("your first run ranks; its clock runs on when you leave")
    lines = [*about, "", *choice.card, "", *_promises(choice.daily, each.game)]
    for at, line in enumerate(lines[: max(0, canvas.height - 2 - top)], start=top):
        ink = Ink.DIM if line in about else Ink.PLAIN
        canvas.put(at, 2, elided(line, canvas.width - 3), ink)


def _promises(daily: say.Daily, game_id: str) -> list[str]:
    """The commitments of days to come for one game."""
    lines = [f"{each.date}  {each.commitment}" for each in daily.coming if each.game == game_id]
    return ["promised for the days to come:", *lines] if lines else []


def day_panel(
    view: RaceView, daily: say.Daily | None, clock_ms: int, width: int, height: int
) -> list[Row]:
    """Draw the panel beside the board of a day: no rivals, by policy."""
    canvas = Canvas(width, height)
    day = view.day
    assert day is not None
    canvas.put(0, 1, f"DAILY {day.number}", Ink.TITLE)
    left = max(0, view.deadline_ms - clock_ms) // 1000
    ends = f"run ends in {left // 3600:02}:{left // 60 % 60:02}:{left % 60:02}"
    canvas.put(0, width - len(ends), ends, Ink.DIM)
    me = view.players[0]
    rules = game(view.game)
    most = rules.total - rules.dealt_to_foundations
    room = width - 20
    full = room * max(0, me.home) // most
    canvas.put(1, 1, f"you* {me.home:>11} [{'#' * full}{'.' * (room - full)}]", Ink.OWN)
    lines: list[str] = []
    if view.practice:
        lines += ["practice: it counts for nothing"]
    elif daily is not None:
        played = next((each.played for each in daily.games if each.game == view.game), 0)
        have = {0: "Nobody has played", 1: "1 has played"}.get(played, f"{played} have played")
        lines += [f"{have}. Results of", "others stay hidden until you", "finish."]
    lines += [
        "",
        "ranking here",
        "1 won   2 best cards home",
        "3 columns opened",
        "4 fewest moves up to that best",
        "5 time up to that best",
        "",
        "this run",
        f"best {me.best} home, opened {me.opened}",
        f"moves {me.moves}, the clock goes on",
        "",
        "Link lost? Start the client",
        "again: the run resumes.",
    ]
    for at, line in enumerate(lines, start=3):
        canvas.put(at, 1, line, Ink.DIM)
    return canvas.rows()
