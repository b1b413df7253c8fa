"""The screen of a race in a window of any size: which part goes where, and what each says."""

import textwrap
from dataclasses import dataclass
from typing import Final

from samedeal.engine.games import game
from samedeal.engine.rules import Rules
from samedeal.protocol.fields import Phase
from samedeal_client.model.board import Picture, draw
from samedeal_client.model.clock import clock
from samedeal_client.model.days import day_panel
from samedeal_client.model.faces import Faces
from samedeal_client.model.ghost_tracks import with_ghosts
from samedeal_client.model.help import how
from samedeal_client.model.ink import Canvas, Ink, Row, row
from samedeal_client.model.keys import Action, ScreenKeys
from samedeal_client.model.keytable import PILES
from samedeal_client.model.play import PlayModel
from samedeal_client.model.tracks import folded, panel

__all__ = [
    "MIN_HEIGHT",
    "MIN_WIDTH",
    "Window",
    "header",
    "key_bar",
    "message",
]

MIN_WIDTH: Final = 60
MIN_HEIGHT: Final = 20
_PANEL: Final = 31
_PANEL_MOST: Final = 50
_BOXES: Final = 68
"""The width of nine columns of boxes."""


@dataclass(frozen=True, slots=True)
class Window:
    """A size, and what fits into it."""

    width: int
    height: int

    @property
    def is_too_small(self) -> bool:
        return self.width < MIN_WIDTH or self.height < MIN_HEIGHT

    @property
    def is_folded(self) -> bool:
        """Whether the players are told in one row instead of a panel."""
        return self.width < 80 or self.height < 24

    @property
    def is_large(self) -> bool:
        """Whether cards are boxes."""
        return self.width >= 100 and self.height >= 30

    @property
    def board_width(self) -> int:
        return self.width if self.is_folded else self.width - self.panel_width - 1

    @property
    def board_height(self) -> int:
        """Below the header; above the rule, or the row of players, the sentence and the keys."""
        return self.height - 4

    @property
    def panel_width(self) -> int:
        """What the largest board leaves free, within reason."""
        return min(_PANEL_MOST, max(_PANEL, self.width - _BOXES - 1))

    def missing(self) -> list[Row]:
        """What a window lacks that is too small for a screen."""
        sentence = (
            f"This needs {MIN_WIDTH} by {MIN_HEIGHT} characters; the window has {self.width} by "
            f"{self.height}. Make it larger, or use samedeal join CODE --plain."
        )
        return [row(part) for part in textwrap.wrap(sentence, max(1, self.width))]

    def board(self, play: PlayModel, faces: Faces) -> Picture:
        """Draw the own board."""
        return draw(
            play.table,
            self.board_width,
            self.board_height,
            Faces(faces.is_ascii, self.is_large),
            play.marks(),
            boxes=self.is_large,
            scroll=play.scroll,
            reserves=(play.name_of(Action.RESERVE_1), play.name_of(Action.RESERVE_2)),
        )

    def players(self, play: PlayModel, clock_ms: int) -> list[Row]:
        """Draw the panel, or its one row."""
        view, seat = play.race.view, play.race.seat
        if view.day is not None and not self.is_folded and play.page == "tracks":
            return day_panel(view, play.daily, clock_ms, self.panel_width, self.board_height)
        if play.ghosts is not None:
            view = with_ghosts(view, play.ghosts, clock_ms)
        if self.is_folded:
            return [folded(view, seat, self.width)]
        return panel(
            view,
            seat,
            self.panel_width,
            self.board_height,
            page=play.page,
            last=play.chronicle.last,
            log=play.chronicle.log,
            said=play.chronicle.said,
            tall=self.is_large,
            how=() if play.race.run.moves else how(play.table.rules),
        )


def header(play: PlayModel, clock_ms: int, width: int) -> Row:
    """Game, room, clock, moves, undo policy, link; the last of them fall off where it is narrow."""
    view = play.race.view
    canvas = Canvas(width, 1)
    left = canvas.put(0, 1, game(view.game).title.upper(), Ink.TITLE)
    if view.day is not None:
        name = f"daily {view.day.number} ({view.day.label})"
    else:
        name = f"race {view.code}"
    left = canvas.put(0, left + 2, name)
    time = clock(clock_ms)
    if view.phase is Phase.COUNTDOWN:
        time = f"GO in {-(clock_ms // 1000)}"
    elif view.deadline_ms and view.day is None:
        time = f"{time} of {clock(view.deadline_ms)}"
    parts = [time]
    if play.race.has_begun:
        run = play.race.run
        parts.append(f"moves {run.moves}")
        if run.best > run.home:
            parts.append(f"best {run.best}")
    parts.append(f"undo {view.options.undo}")
    if play.banner:
        parts.append("link LOST")
    elif play.link_ms is not None:
        parts.append(f"link {play.link_ms:.0f} ms")
    if view.practice:
        parts.append("practice")
    for part in parts:
        if left + 3 + len(part) > width:
            break
        ink = Ink.BAD if part == "link LOST" else Ink.PLAIN
        left = canvas.put(0, left + 3, part, ink)
    return canvas.rows()[0]


def message(play: PlayModel, faces: Faces, width: int) -> list[Row]:
    """The last sentence in one row, or two if it is long; below it what is wrong with the link."""

    def rows(text: str, ink: Ink, most: int) -> list[Row]:
        lines = textwrap.wrap(faces.sentence(text), width - 2, max_lines=most, placeholder=" ...")
        return [row(f" {line}", ink) for line in lines]

    if not play.banner:
        return rows(play.sentence, play.ink, 2) or [()]
    waiting = len(play.race.outbox)
    kept = f"; {waiting} of your moves wait{'s' * (waiting == 1)} here" if waiting else ""
    told = rows(play.sentence, play.ink, 1)
    return told + rows(f"! {play.banner}{kept}", Ink.BAD, 2 - len(told))


def key_bar(
    rules: Rules,
    keys: ScreenKeys,
    width: int,
    *,
    is_over: bool = False,
    is_alone: bool = False,
    can_end: bool = False,
    has_undo: bool = True,
) -> Row:
    """The keys that matter now, as many as fit; `can_end`: only bots play on."""
    name = keys.name
    columns = len(rules.columns)
    word = "space" if not rules.builds else "col"
    if is_over:
        # What can be done with a result comes when the others have theirs, too.
        hints = [
            *([(name(Action.END_RACE), "end the race now")] if can_end else []),
            (name(Action.QUIT), "leave, your result stands"),
            (name(Action.PANEL), "tracks, numbers"),
            (name(Action.HELP), "help"),
            *([] if is_alone else [(name(Action.SAY), "say")]),
        ]
    else:
        hints = [
            (f"{name(Action.PILE_1)}-{name(PILES[columns - 1])}", word),
            (name(Action.WASTE), "waste"),
            (name(Action.HOME), "home"),
            (name(Action.DRAW), "turn"),
            *([(name(Action.UNDO), "undo")] if has_undo else []),
        ]
        if rules.reserves:
            both = f"{name(Action.RESERVE_1)} {name(Action.RESERVE_2)}"
            hints[1:1] = [(both, "reserve")]
            hints[4:4] = [(name(Action.UP_PILE), "up"), (name(Action.DOWN_PILE), "down")]
        hints += [
            (name(Action.HELP), "help"),
            (name(Action.CURSOR), "cursor"),
            (name(Action.BANK), "bank"),
            (name(Action.QUIT), "quit"),
        ]
        hints += [] if is_alone else [(name(Action.SAY), "say")]
    canvas, left = Canvas(width, 1), 1
    for key, what in hints:
        if left + len(key) + 1 + len(what) > width:
            break
        left = canvas.put(0, left, key, Ink.TITLE)
        left = canvas.put(0, left + 1, what, Ink.DIM) + 2
    return canvas.rows()[0]
