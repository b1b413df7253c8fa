"""How a race ended: the order, and why it is this one."""

import textwrap
from typing import Final

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.protocol.fields import OrderRow, RaceView, Status
from samedeal_client.cli.order import seed_fits
from samedeal_client.model.ghost_tracks import is_ghost
from samedeal_client.model.ink import Canvas, Ink, Row, clipped, elided
from samedeal_client.model.keys import Action, ScreenKeys
from samedeal_client.model.tracks import is_alone
from samedeal_client.replays.text import time_text

__all__ = ["headline", "put_seed", "result_rows", "share_card", "why"]

_WIDE: Final = 76
"""Below it there is no room for what was opened; where that decides, a sentence says so."""
_HOW = {
    Status.WON: "won",
    Status.BANKED: "banked",
    Status.LEFT: "left",
    Status.STUCK: "no move left",
    Status.CUT_OFF: "cut off",
    Status.PLAYING: "playing",
}


def result_rows(
    view: RaceView,
    seat: int,
    keys: ScreenKeys,
    width: int,
    height: int,
    sentence: str,
    *,
    has_home: bool = True,
) -> list[Row]:
    """Draw the end of a race, or of one that was raced against ghosts."""
    canvas = Canvas(width, height)
    rules = game(view.game)
    most = rules.total - rules.dealt_to_foundations
    what = f"race {view.code}" if view.day is None else f"daily {view.day.number} ({view.day.date})"
    canvas.put(1, 2, f"{rules.title.upper()}  {what}", Ink.TITLE)
    canvas.put(2, 2, headline(view, seat), Ink.GOOD)
    is_wide = width >= _WIDE
    # A name of 20 letters with its marks, and as much of a ghost's as there is room for.
    opened, room = (f" {'opened':>7}", min(36, width - 54)) if is_wide else ("", 14)
    canvas.put(4, 2, f"{'':<{room + 4}}{'home':>8}{opened} {'moves':>6} {'time':>9}", Ink.DIM)
    for at, line in enumerate(view.order, start=5):
        ink = Ink.OWN if line.seat == seat else Ink.PLAIN
        name = f"{line.name}{'*' if line.seat == seat else ''}{' B' if line.bot else ''}"
        best = f"{line.best}/{most}"
        opened = f" {line.opened:>7}" if is_wide else ""
        text = f"{line.place:>2}. {clipped(name, room)}{best:>8}{opened} {line.moves:>6} "
        left = canvas.put(at, 2, f"{text}{time_text(line.t_ms):>9}", ink)
        canvas.put(at, left + 2, _HOW[line.status], Ink.DIM)
    at = 6 + len(view.order)
    for sentence_ in why(view):
        canvas.put(at, 2, sentence_)
        at += 1
    put_seed(canvas, at + 1, view)
    told = textwrap.wrap(sentence, width - 4)
    for row_, line_ in enumerate(told, start=height - 1 - len(told)):
        canvas.put(row_, 2, line_, Ink.TITLE)
    is_haunted = any(is_ghost(line.seat) for line in view.order)
    word = "once more" if is_haunted else "next deal"
    after = [(Action.NEXT, word if view.day is None else "your card")]
    # The replay of a day's run says where the cards lie, which is open once the day's seed is.
    is_open = view.day is None or view.seed is not None
    after += [(Action.REPLAY, "replay")] if is_open else []
    after += [(Action.SHARE, "share card")] if view.day is None else []
    after += [] if is_alone(view) else [(Action.SAY, "say")]
    after += [(Action.GHOST, "race the ghosts")] if not is_haunted and view.day is None else []
    away = "home screen" if has_home else "exit"
    foot = keys.foot(width - 2, *after, (Action.HELP, "help"), (Action.LEAVE, away))
    canvas.put(height - 1, 1, foot, Ink.DIM)
    return canvas.rows()


def put_seed(canvas: Canvas, at: int, view: RaceView) -> None:
    """Show the seed, once it is told, and whether it is the one that was committed to."""
    if view.seed is None:
        return
    fits = seed_fits(view)
    told = "the seed fits the commitment shown before GO"
    if not fits:
        told = "THE SEED DOES NOT FIT the commitment shown before GO"
    canvas.put(at, 2, elided(f"seed {view.seed}", canvas.width - 3), Ink.DIM)
    canvas.put(at + 1, 2, told, Ink.DIM if fits else Ink.BAD)


def headline(view: RaceView, seat: int) -> str:
    """Say in one sentence how it ended for a seat."""
    mine = next((line for line in view.order if line.seat == seat), None)
    if mine is None:
        return "the race is over"
    shared = sum(line.place == mine.place for line in view.order) > 1
    place = f"{'shared ' if shared else ''}place {mine.place} of {len(view.order)}"
    return f"You won: {place}." if mine.won else f"You have {place}."


def why(view: RaceView) -> list[str]:
    """Say for each neighbours in the order what put one before the other."""
    order = view.order
    return [_between(order[at], order[at + 1]) for at in range(min(3, len(order) - 1))]


def _between(one: OrderRow, two: OrderRow) -> str:
    names = f"{one.name} before {two.name}"
    if one.place == two.place:
        return f"{one.name} and {two.name} share the place: equal in everything"
    if one.won and not two.won:
        return f"{names}: a win counts before any score"
    if one.won:
        if one.t_ms // 10 != two.t_ms // 10:
            return f"{names}: won {(two.t_ms - one.t_ms) / 1000:.2f} s earlier"
        return f"{names}: equal times, fewer moves"
    if one.best != two.best:
        more = one.best - two.best
        return f"{names}: {counted(more, 'more card')} home"
    if one.opened != two.opened:
        return f"{names}: equal cards home, {one.opened - two.opened} more opened"
    if two.moves == 0:
        return f"{names}: {two.name} made no move"
    if one.t_ms // 10 != two.t_ms // 10:
        return f"{names}: equal score, reached {(two.t_ms - one.t_ms) / 1000:.2f} s earlier"
    return f"{names}: equal score and time, fewer moves"


def share_card(view: RaceView, seat: int) -> str:
    """A result to paste somewhere: no card is named."""
    rules = game(view.game)
    most = rules.total - rules.dealt_to_foundations
    lines = [f"samedeal {rules.title}, race {view.code}"]
    for line in view.order[:4]:
        full = round(10 * max(0, line.best) / most)
        bar = "#" * full + "." * (10 - full)
        you = "*" if line.seat == seat else ""
        lines.append(
            f"{line.place}. {line.name}{you} [{bar}] {line.best}/{most} "
            f"{_HOW[line.status]} {counted(line.moves, 'move')} {time_text(line.t_ms)}"
        )
    return "\n".join(lines)
