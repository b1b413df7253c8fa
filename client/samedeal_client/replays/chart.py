"""A picture of a race: cards home over time of every player, and what each of them did when."""

import math
from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

import svg

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW
from samedeal.engine.run import UNDO
from samedeal.printable import printable
from samedeal_client.replays.replay import Replay
from samedeal_client.replays.text import time_text
from samedeal_client.replays.track import Track

__all__ = ["chart"]

WIDTH: Final = 960
LEFT: Final = 64
RIGHT: Final = 210
TOP: Final = 64
PLOT_HEIGHT: Final = 340
RUG_ROW: Final = 22
TEXT: Final = 13
INK: Final = "#222222"
GRID: Final = "#dddddd"


class _Style(NamedTuple):
    """How one line is told from the others: by its dashes and its marker, by colour only also."""

    colour: str
    dashes: tuple[float, ...]
    marker: str


_STYLES: Final = (
    _Style("#0072b2", (), "circle"),
    _Style("#d55e00", (8, 4), "square"),
    _Style("#007a5a", (2, 3), "triangle"),
    _Style("#a33f85", (10, 3, 2, 3), "diamond"),
    _Style("#5c5c00", (5, 2), "cross"),
    _Style("#8a4b08", (1, 2), "plus"),
    _Style("#333333", (12, 4, 4, 4), "ring"),
    _Style("#4b3fae", (4, 6), "bar"),
)
_STEPS_S: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)
_STEPS_HOME: Final = (1, 2, 5, 10, 20, 50)


class _Scale(NamedTuple):
    end_ms: int
    least: int
    most: int

    def x(self, t_ms: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * t_ms / self.end_ms, 1)

    def y(self, home: float) -> float:
        share = (home - self.least) / (self.most - self.least)
        return round(TOP + PLOT_HEIGHT * (1 - share), 1)


def chart(replay: Replay, tracks: Sequence[Track] | None = None) -> str:
    """Draw the race as an SVG document; the same race gives the same document.

    Every line has dashes, a marker and a label of its own. The title and the description say in
    words what is drawn.
    """
    shown = list(replay.tracks if tracks is None else tracks)
    file = replay.file
    rules = game(file.game, file.rules_version)
    homes = [frame.home for track in shown for frame in track.frames]
    scale = _Scale(
        end_ms=max(1, *(track.end_ms for track in shown)),
        least=min(0, *homes),
        most=max(1, *homes),
    )
    title = f"{rules.title}, race {printable(file.code or file.race)}: cards home over time"
    height = TOP + PLOT_HEIGHT + 64 + RUG_ROW * len(shown) + 34
    styles = [_STYLES[index % len(_STYLES)] for index in range(len(shown))]
    elements: list[svg.Element] = [
        svg.Title(id="title", text=escape(title)),
        svg.Desc(id="desc", text=escape(_description(shown))),
        svg.Rect(x=0, y=0, width=WIDTH, height=height, fill="#ffffff"),
        _text(LEFT, 28, title, size=17),
        *_axes(scale),
    ]
    for track, style in zip(shown, styles, strict=True):
        elements += _curve(track, style, scale)
    elements += _labels(shown, styles, scale)
    elements += _rug(shown, styles, scale)
    drawing = svg.SVG(
        viewBox=svg.ViewBoxSpec(0, 0, WIDTH, height),
        width=WIDTH,
        height=height,
        extra={"role": "img", "aria-labelledby": "title desc", "font-family": "sans-serif"},
        elements=elements,
    )
    return f"{drawing.as_str()}\n"


def _description(tracks: Sequence[Track]) -> str:
    """What the picture shows, for who cannot see it."""
    said = []
    for track in tracks:
        row = track.standing
        draws = sum(frame.action == DRAW for frame in track.frames)
        undos = sum(frame.action is UNDO for frame in track.frames)
        how = (
            f"won at {time_text(row.t_ms)}"
            if row.won
            else f"had {counted(row.best, 'card')} home at best, at {time_text(row.t_best_ms)}"
        )
        said.append(
            f"Place {row.place}, {track.name}, {how}, with {counted(row.moves, 'move')}, "
            f"{counted(draws, 'draw')} and {counted(undos, 'undo')} among them."
        )
    return " ".join(said)


def _axes(scale: _Scale) -> list[svg.Element]:
    elements: list[svg.Element] = []
    bottom, right = TOP + PLOT_HEIGHT, WIDTH - RIGHT
    step = _step(_STEPS_HOME, scale.most - scale.least, 8)
    for home in range(math.ceil(scale.least / step) * step, scale.most + 1, step):
        y = scale.y(home)
        elements.append(_line(LEFT, y, right, y, GRID))
        elements.append(_text(LEFT - 8, y + 4, str(home), anchor="end"))
    step_ms = _step(_STEPS_S, scale.end_ms / 1000, 8) * 1000
    for t_ms in range(0, scale.end_ms + 1, step_ms):
        x = scale.x(t_ms)
        elements.append(_line(x, bottom, x, bottom + 5, INK))
        label = f"{t_ms // 60000}:{t_ms // 1000 % 60:02}"
        elements.append(_text(x, bottom + 20, label, anchor="middle"))
    elements += [
        _line(LEFT, bottom, right, bottom, INK),
        _line(LEFT, TOP, LEFT, bottom, INK),
        _text(LEFT, TOP - 12, "cards home"),
        _text(right, bottom + 38, "time from GO", anchor="end"),
    ]
    return elements


def _curve(track: Track, style: _Style, scale: _Scale) -> list[svg.Element]:
    """The steps of one run, a marker where cards came home, though not one on another."""
    points: list[float] = [scale.x(0), scale.y(track.frames[0].home)]
    markers: list[svg.Element] = []
    shown_x = -math.inf
    for before, frame in zip(track.frames, track.frames[1:], strict=False):
        x = scale.x(frame.t_ms)
        if frame.home != before.home:
            points += [x, scale.y(before.home), x, scale.y(frame.home)]
            if frame.home > before.home and x - shown_x >= 26:
                markers.append(_marker(style, x, scale.y(frame.home)))
                shown_x = x
    last = track.frames[-1]
    points += [scale.x(last.t_ms), scale.y(last.home)]
    line = svg.Polyline(
        points=_points(points),
        fill="none",
        stroke=style.colour,
        stroke_width=2,
        stroke_dasharray=list(style.dashes) or None,
    )
    return [line, *markers]


def _labels(tracks: Sequence[Track], styles: Sequence[_Style], scale: _Scale) -> list[svg.Element]:
    """Name, place and result of every line to its right, moved apart where they would overlap."""
    wanted = sorted((scale.y(track.frames[-1].home), index) for index, track in enumerate(tracks))
    places = [y for y, _ in wanted]
    gap = TEXT + 4.0
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + gap)
    over = max(0.0, places[-1] - (TOP + PLOT_HEIGHT))
    for number in range(len(places) - 1, -1, -1):
        ceiling = places[number + 1] - gap if number + 1 < len(places) else places[number] - over
        places[number] = min(places[number], ceiling)
    elements: list[svg.Element] = []
    at = WIDTH - RIGHT + 14
    for y, (end_y, index) in zip(places, wanted, strict=True):
        track, style = tracks[index], styles[index]
        row = track.standing
        how = "won" if row.won else str(row.best)
        end_x = scale.x(track.end_ms)
        right = WIDTH - RIGHT
        elements.append(
            svg.Polyline(
                points=_points([end_x, end_y, right, end_y, at - 4, round(y, 1)]),
                fill="none",
                stroke="#999999",
                stroke_dasharray=[1, 4],
            )
        )
        elements.append(_marker(style, at + 4, y))
        elements.append(
            _text(at + 14, y + 4, f"{row.place}. {_short(track.name)}: {how}", colour=style.colour)
        )
    return elements


def _rug(tracks: Sequence[Track], styles: Sequence[_Style], scale: _Scale) -> list[svg.Element]:
    """One row a player: a long mark a move, a short one a draw, a cross an undo."""
    elements: list[svg.Element] = []
    y = float(TOP + PLOT_HEIGHT + 64)
    for track, style in zip(tracks, styles, strict=True):
        path: list[svg.PathData] = []
        for frame in track.frames[1:]:
            x = scale.x(frame.t_ms)
            if frame.action is UNDO:
                path += [svg.M(x - 3, y - 3), svg.L(x + 3, y + 3)]
                path += [svg.M(x - 3, y + 3), svg.L(x + 3, y - 3)]
            else:
                top = y if frame.action == DRAW else y - 7
                path += [svg.M(x, top), svg.L(x, y + 5)]
        if path:
            elements.append(svg.Path(d=path, stroke=style.colour, stroke_width=1, fill="none"))
        elements.append(_marker(style, WIDTH - RIGHT + 18, y))
        elements.append(_text(WIDTH - RIGHT + 28, y + 4, _short(track.name), colour=style.colour))
        y += RUG_ROW
    elements.append(
        _text(LEFT, y + 8, "each row: long mark a move, short mark a draw, cross an undo")
    )
    return elements


def _marker(style: _Style, x: float, y: float) -> svg.Element:
    colour = style.colour
    shapes: dict[str, list[float]] = {
        "square": [-4, -4, 4, -4, 4, 4, -4, 4],
        "triangle": [0, -5, 5, 4, -5, 4],
        "diamond": [0, -6, 5, 0, 0, 6, -5, 0],
        "bar": [-2, -6, 2, -6, 2, 6, -2, 6],
    }
    if style.marker in shapes:
        corners = shapes[style.marker]
        points = [round(value + (y if at % 2 else x), 1) for at, value in enumerate(corners)]
        return svg.Polygon(points=_points(points), fill=colour)
    strokes: dict[str, list[tuple[float, float, float, float]]] = {
        "cross": [(-4, -4, 4, 4), (-4, 4, 4, -4)],
        "plus": [(-5, 0, 5, 0), (0, -5, 0, 5)],
    }
    if style.marker in strokes:
        path: list[svg.PathData] = []
        for x1, y1, x2, y2 in strokes[style.marker]:
            path += [svg.M(round(x + x1, 1), round(y + y1, 1))]
            path += [svg.L(round(x + x2, 1), round(y + y2, 1))]
        return svg.Path(d=path, stroke=colour, stroke_width=2.5, fill="none")
    fill = "#ffffff" if style.marker == "ring" else colour
    return svg.Circle(cx=x, cy=y, r=4, fill=fill, stroke=colour, stroke_width=2)


def _points(flat: Sequence[float]) -> list[svg.Point]:
    return [svg.Point(x, y) for x, y in zip(flat[::2], flat[1::2], strict=True)]


def _step(steps: Sequence[int], span: float, most: int) -> int:
    """The smallest step that cuts a span into at most so many pieces."""
    return next((step for step in steps if span / step <= most), math.ceil(span / most))


def _short(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:19]}…"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> svg.Line:
    return svg.Line(
        x1=round(x1, 1), y1=round(y1, 1), x2=round(x2, 1), y2=round(y2, 1), stroke=colour
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = TEXT, colour: str = INK
) -> svg.Text:
    return svg.Text(
        x=round(x, 1),
        y=round(y, 1),
        text=escape(text),
        font_size=size,
        fill=colour,
        extra={"text-anchor": anchor},
    )
