"""The players of a race as rows: who is where, who is there, and what happened last."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from samedeal.engine.games import game
from samedeal.protocol.fields import PlayerView, RaceView, Status
from samedeal_client.cli.series import series_line
from samedeal_client.model.clock import clock
from samedeal_client.model.ghost_tracks import is_ghost
from samedeal_client.model.ink import Canvas, Ink, Row, cells, clipped

__all__ = ["bar_of", "folded", "in_order", "is_alone", "name_room", "news", "panel", "standing"]

_NAME = 9
_STATUS = {
    Status.WON: "won",
    Status.BANKED: "bank",
    Status.LEFT: "left",
    Status.STUCK: "stuck",
    Status.CUT_OFF: "cut",
}


def in_order(players: Sequence[PlayerView]) -> list[PlayerView]:
    """Players as the order would have them if nobody played on."""
    return sorted(
        players,
        key=lambda one: (
            one.status is not Status.WON,
            -one.best,
            -one.opened,
            one.t_ms if one.moves else 2**53,
            one.seat,
        ),
    )


def is_alone(view: RaceView) -> bool:
    """Whether there is nobody to talk to: a day's run, and any other of one seat."""
    return view.day is not None or view.options.seats == 1


def news(old: PlayerView, new: PlayerView) -> str:
    """What a player did, in a few words; empty for nothing worth telling."""
    if new.status is not old.status:
        return {
            Status.WON: "has won",
            Status.BANKED: f"banked at {new.best}",
            Status.LEFT: "left",
        }.get(new.status, "")
    if new.present is not old.present:
        return "is back" if new.present else "lost the link"
    if new.moves and new.home != old.home:  # else the deal sent it there
        return f"{new.home - old.home:+} home"
    if new.opened > old.opened:
        return f"opened {new.opened - old.opened}"
    return ""


def standing(player: PlayerView) -> str:
    """Why a player is not simply playing, in a word; empty if so."""
    if player.status is Status.PLAYING:
        return "" if player.present else "off"
    return _STATUS[player.status]


def _tag(player: PlayerView, seat: int, width: int) -> str:
    """A name in so many cells, with a star for the own one and a B for a bot's."""
    mark = "*" if player.seat == seat else " B" if player.bot else ""
    if is_ghost(player.seat):
        mark = " G"
    room = width - len(mark)
    name = player.name if cells(player.name) <= room else clipped(player.name, room - 1) + "~"
    return clipped(name + mark, width)


def _bar(player: PlayerView, most: int, width: int) -> str:
    """Cards home as a bar; `>` is the best that was reached, where that was more."""
    bar, full = bar_of(player.home, most, width)
    _, best = bar_of(player.best, most, width)
    if player.best > player.home:
        at = min(max(full, best - 1), width - 1)
        bar = bar[:at] + ">" + bar[at + 1 :]
    return bar


def bar_of(home: int, most: int, width: int) -> tuple[str, int]:
    """Draw cards home as a bar. Return it with its full cells: rounded up, the first card shows."""
    full = min(width, -(-width * max(0, home) // most))
    return "#" * full + "." * (width - full), full


def name_room(width: int) -> int:
    """The cells for a name in a row of so many: whole, with its marks, where that can be."""
    return 14 if width < 80 else 26


def _most(view: RaceView) -> int:
    rules = game(view.game)
    return rules.total - rules.dealt_to_foundations


def panel(
    view: RaceView,
    seat: int,
    width: int,
    height: int,
    *,
    page: str = "tracks",
    last: Mapping[int, str] = {},
    log: Sequence[str] = (),
    said: Mapping[int, str] = {},
    tall: bool = False,
    how: Sequence[str] = (),
) -> list[Row]:
    """Draw the panel beside a board. `last` is what each seat did last, `said` what it
    said; `tall` has the former in rows. `how` the game goes is for who has not begun yet."""
    canvas = Canvas(width, height)
    players = view.players
    here = sum(player.present for player in players)
    canvas.put(0, 1, f"RACE {view.code}", Ink.TITLE)
    right = f"{here}/{len(players)} in, live"
    if any(is_ghost(player.seat) for player in players):
        right = "ghosts, unranked"
    canvas.put(0, width - len(right), right, Ink.DIM)
    if page == "log":
        lines = [line for text in log for line in textwrap.wrap(text, width - 2)]
        _lines(canvas, 1, lines[-(height - 2) :])
    elif page == "numbers":
        _numbers(canvas, view, seat)
    else:
        at = _tracks(canvas, view, seat, last if tall else None)
        at = _last_of(canvas, at, view, said, Ink.GOOD)
        _rest(canvas, at, view, seat, {} if tall else last, how)
    return canvas.rows()


def _tracks(canvas: Canvas, view: RaceView, seat: int, last: Mapping[int, str] | None) -> int:
    """Every player's track, with `last` what it did in a row of its own. Return the row below."""
    at = 1
    for place, player in enumerate(in_order(view.players), start=1):
        _track(canvas, at, view, player, place, seat)
        at += 1
        if last is not None and at < canvas.height:
            canvas.put(at, 3, last.get(player.seat, ""), Ink.DIM)
            at += 1
    return at + 1


def _last_of(canvas: Canvas, at: int, view: RaceView, words: Mapping[int, str], ink: Ink) -> int:
    """The last three of what seats said or did. Return the row below, with a gap."""
    names = {player.seat: player.name for player in view.players}
    lines = [f"{names.get(seat, '?')}: {text}" for seat, text in words.items()][-3:]
    return _lines(canvas, at, [clipped(line, canvas.width - 1) for line in lines], ink) + bool(
        lines
    )


def _rest(
    canvas: Canvas,
    at: int,
    view: RaceView,
    seat: int,
    last: Mapping[int, str],
    how: Sequence[str],
) -> None:
    """Notes, then how the game goes; where only one of both has room, the latter."""
    told = [line for text in how for line in textwrap.wrap(text, canvas.width - 1)]
    # Where they end is seen by writing them, here to be thrown away.
    below = _notes(Canvas(canvas.width, canvas.height), at, view, seat, last) + 1
    if told and below + len(told) > canvas.height >= at + len(told):
        # Who has not begun yet needs the rules more than what the others do.
        _legend(canvas, _lines(canvas, at, told) + 1, view, marks_first=True)
        return
    _notes(canvas, at, view, seat, last)
    if below + len(told) <= canvas.height:
        _lines(canvas, below, told)


def _lines(canvas: Canvas, at: int, lines: Iterable[str], ink: Ink = Ink.PLAIN) -> int:
    """Lines below each other. Return the row below."""
    for line in lines:
        canvas.put(at, 1, line, ink)
        at += 1
    return at


def _track(
    canvas: Canvas, at: int, view: RaceView, player: PlayerView, place: int, seat: int
) -> None:
    most = _most(view)
    width = canvas.width - 1
    ink = Ink.OWN if player.seat == seat else Ink.PLAIN
    state = standing(player)
    room = width - (2 + _NAME + 1 + 3 + 2 + 1 + 5)
    left = canvas.put(at, 1, f"{place} {_tag(player, seat, _NAME)} {player.home:>3} [", ink)
    left = canvas.put(at, left, _bar(player, most, room), ink)
    left = canvas.put(at, left, "]", ink)
    bad = Ink.BAD if state in ("off", "left") else Ink.GOOD
    canvas.put(at, left + 1, state, bad)


def _numbers(canvas: Canvas, view: RaceView, seat: int) -> None:
    canvas.put(1, 1, f"{'':<{_NAME}} home best open moves", Ink.DIM)
    for at, player in enumerate(in_order(view.players), start=2):
        ink = Ink.OWN if player.seat == seat else Ink.PLAIN
        text = f"{player.home:>4} {player.best:>4} {player.opened:>4} {player.moves:>5}"
        canvas.put(at, 1, f"{_tag(player, seat, _NAME)} {text}", ink)


def _notes(
    canvas: Canvas,
    at: int,
    view: RaceView,
    seat: int,
    last: Mapping[int, str],
) -> int:
    """What else there is to tell, as far as there is room. Return the row below."""
    rules = game(view.game)
    opening = sum(rules.columns) + rules.reserves * rules.reserve_size
    if rules.columns and not rules.open_columns:
        canvas.put(at, 1, f"opened, of {opening}", Ink.DIM)
        left = 1
        at += 1
        for player in in_order(view.players):
            text = f"{_tag(player, seat, _NAME).rstrip()} {player.opened}"
            if left + cells(text) > canvas.width:
                left, at = 1, at + 1
            left = canvas.put(at, left, text) + 2
        at += 2
    at = _last_of(canvas, at, view, last, Ink.PLAIN)
    series = textwrap.wrap(series_line(view, seat), canvas.width - 1)
    return _legend(canvas, _lines(canvas, at, series) + bool(series), view)


def _legend(canvas: Canvas, at: int, view: RaceView, *, marks_first: bool = False) -> int:
    """What ends the race and what the marks mean, as far as there is room. Return the row below."""
    rules, options = game(view.game), view.options
    ends = [f"limit {clock(options.time_limit_s * 1000)}, then best-so-far"]
    if options.last_call_s:
        ends.append(f"first win: others get {options.last_call_s} s")
    notes: list[str] = []
    if not rules.open_columns:
        notes.append("#n = n face-down cards")
    if any(player.best > player.home for player in view.players):
        notes.append("> = best so far")
    if any(player.bot for player in view.players):
        notes.append("B = bot")
    if any(is_ghost(player.seat) for player in view.players):
        notes.append("G = ghost, a recorded run")
    if any(standing(player) == "off" for player in view.players):
        notes.append("off = link lost")
    if any(player.status is Status.BANKED for player in view.players):
        notes.append("bank = result locked in")
    return _lines(canvas, at, notes + ends if marks_first else ends + notes, Ink.DIM)


def folded(view: RaceView, seat: int, width: int) -> Row:
    """All tracks in one row, for narrow or low windows."""
    canvas = Canvas(width, 1)
    left = 1
    players = in_order(view.players)
    for place, player in enumerate(players, start=1):
        name = _tag(player, seat, _NAME).rstrip()
        best = f">{player.best}" if player.best > player.home else ""
        state = standing(player)[:1]
        text = f"{place} {name} {player.home}{best}{state}"
        rest = len(players) - place + 1
        if left + cells(text) > width - (5 if rest > 1 else 0):
            canvas.put(0, left, f"+{rest}", Ink.DIM)
            break
        ink = Ink.OWN if player.seat == seat else Ink.PLAIN
        left = canvas.put(0, left, text, ink) + 2
    return canvas.rows()[0]
