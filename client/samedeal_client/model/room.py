"""The room before the race: who sits where, what was agreed, how others get in."""

import textwrap
from collections.abc import Mapping

from samedeal.engine.games import game
from samedeal.protocol.fields import Phase, PlayerView, RaceView
from samedeal_client.model.clock import clock
from samedeal_client.model.ink import Canvas, Ink, Row
from samedeal_client.model.keys import Action, Hint, ScreenKeys
from samedeal_client.model.tracks import is_alone

__all__ = ["room_rows"]


def room_rows(
    view: RaceView,
    seat: int,
    keys: ScreenKeys,
    server: str,
    clock_ms: int,
    width: int,
    height: int,
    sentence: str,
    said: Mapping[int, str] = {},
) -> list[Row]:
    """Draw the room; `said` is what each seat said last."""
    canvas = Canvas(width, height)
    rules = game(view.game)
    canvas.put(1, 2, f"ROOM {view.code}", Ink.TITLE)
    left = canvas.put(1, 14, rules.title.upper(), Ink.TITLE)
    own = next((player.name for player in view.players if player.seat == seat), "")
    canvas.put(1, left + 2, f"you are {own}")
    summary = textwrap.wrap(rules.summary, width - 4)
    terms = [part for whole in agreed(view) for part in textwrap.wrap(whole, width - 3)]
    gap = 1
    if 10 + len(summary) + view.options.seats + len(terms) > height:
        # Many seats in a low window: what the game is about is in the help, too.
        summary, gap = [], 0
    at = 2
    for line in summary:
        canvas.put(at, 2, line, Ink.DIM)
        at += 1
    at += gap
    if view.options.seats > 1:
        canvas.put(at, 2, "others join with", Ink.DIM)
        canvas.put(at, 20, f"samedeal join {view.code}", Ink.OWN)
    else:
        canvas.put(at, 2, "you race alone, against recorded runs; nothing is ranked")
    canvas.put(at + 1, 2, "on the server", Ink.DIM)
    canvas.put(at + 1, 20, server)
    at += 2 + gap
    at = _seats(canvas, at, view, seat, said) + gap
    for line in terms:
        canvas.put(at, 2, line, Ink.DIM)
        at += 1
    at += gap
    if view.phase is Phase.COUNTDOWN:
        canvas.put(at, 2, f"GO in {max(1, -(clock_ms // 1000))}", Ink.TITLE)
    else:
        canvas.put(at, 2, _waits_for(view, seat, keys), Ink.TITLE)
    canvas.put(height - 2, 2, sentence, Ink.BAD)
    foot = keys.foot(width - 2, *_hints(view, seat))
    canvas.put(height - 1, 1, foot, Ink.DIM)
    return canvas.rows()


def _seats(canvas: Canvas, at: int, view: RaceView, seat: int, said: Mapping[int, str]) -> int:
    """Who sits where. Return the row below."""
    taken = {player.seat: player for player in view.players}
    for number in range(1, view.options.seats + 1):
        canvas.put(at, 2, f"seat {number}", Ink.DIM)
        if (player := taken.get(number)) is not None:
            own = Ink.OWN if number == seat else Ink.PLAIN
            left = canvas.put(at, 10, f"{player.name}{'*' if number == seat else ''}", own) + 2
            left = canvas.put(at, max(left, 33), "ready" if player.ready else "not ready yet")
            left = canvas.put(at, left + 2, _about(view, player), Ink.DIM)
            if number in said:
                canvas.put(at, left + 2, f"says: {said[number]}", Ink.GOOD)
        else:
            canvas.put(at, 10, "free", Ink.DIM)
        at += 1
    return at


def _hints(view: RaceView, seat: int) -> list[Hint]:
    """What can be done in the room."""
    hints: list[Hint] = [(Action.READY, "ready")]
    if view.options.bots and len(view.players) < view.options.seats:
        hints += [(Action.ADD_BOT, "add a bot")]
    if view.host == seat:
        hints += [(Action.OPTIONS, "options"), (Action.START, "start now")]
    hints += [] if is_alone(view) else [(Action.SAY, "say")]
    return [*hints, (Action.HELP, "help"), (Action.LEAVE, "leave")]


def _about(view: RaceView, player: PlayerView) -> str:
    words = ["host"] if player.seat == view.host else []
    words += ["bot"] if player.bot else []
    words += [] if player.present else ["link lost"]
    words += [f"{player.series} won so far"] if player.series else []
    return ", ".join(words)


def agreed(view: RaceView) -> list[str]:
    """What the host has chosen, in words."""
    options = view.options
    last = f"{options.last_call_s} s for the others after a win" if options.last_call_s else ""
    return [
        f"time limit {clock(options.time_limit_s * 1000)}, {last or 'the first win ends it'}",
        f"undo {options.undo}, watching {options.spectating}"
        f"{f' {options.watch_delay_s} s late' if options.watch_delay_s else ''}, "
        f"{'ranked' if options.ranked else 'unranked'}"
        f"{f', best of {options.best_of}' if options.best_of > 1 else ''}"
        f"{', practice: the host chose the deal' if view.practice else ''}",
        f"deal fixed: {view.commitment[:32]}...",
    ]


def _waits_for(view: RaceView, seat: int, keys: ScreenKeys) -> str:
    me = next(player for player in view.players if player.seat == seat)
    free = view.options.seats - len(view.players)
    waiting = [player.name for player in view.players if not player.ready]
    if not me.ready:
        return f"Press {keys.name(Action.READY)} when you are ready."
    if free:
        seats = "one free seat" if free == 1 else f"{free} free seats"
        bot = keys.name(Action.ADD_BOT)
        return f"Waiting for {seats}: share the code, or press {bot} for a bot."
    if waiting:
        return f"Waiting for {', '.join(waiting)}."
    return "Everyone is ready."
