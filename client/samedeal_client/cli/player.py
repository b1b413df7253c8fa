"""A replay on a terminal: what keys do and what is drawn, and the loop that asks for keys."""

import os
import select
import shutil
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from samedeal.engine.counts import counted
from samedeal_client.replays import Alignment, ReplayModel
from samedeal_client.replays.text import action_line, beside, board_rows, read_time, time_text

__all__ = ["TextPlayer", "play_on_terminal"]

KEYS: Final = (
    "space play or pause   right/l step   left/h back   up/+ faster   down/- slower   "
    "g go to an action or time   d next difference   a by time or by action   "
    "tab next player   s side by side   0/home begin   $/end end   q quit"
)
BAR: Final = 24
REDRAW_MS: Final = 250.0
"""The clock moves at least this often while something plays."""
_NAMED: Final = {
    b"[C": "right",
    b"[D": "left",
    b"[A": "up",
    b"[B": "down",
    b"[H": "home",
    b"[F": "end",
}


class TextPlayer:
    """Takes keys, gives rows; time and the terminal are somebody else's."""

    def __init__(self, model: ReplayModel, *, is_side: bool) -> None:
        self.model = model
        self.is_side = is_side
        self.is_over = False
        self.message = "? lists the keys"
        self._typed: str | None = None
        """What was typed of a point to go to; None while no such question is open."""

    def press(self, key: str) -> None:
        """Do what a key says."""
        if self._typed is not None:
            self._type(self._typed, key)
            return
        model = self.model
        self.message = ""
        match key:
            case "q" | "Q" | "\x03" | "\x04":
                self.is_over = True
            case " ":
                model.pause() if model.is_playing else model.play()
            case "right" | "l" | "\r" | "\n":
                self._stop_and(model.step)
            case "left" | "h":
                self._stop_and(lambda: model.step(-1))
            case "up" | "+" | "=":
                model.faster()
            case "down" | "-":
                model.slower()
            case "0" | "home":
                self._stop_and(lambda: model.seek(0))
            case "$" | "end":
                self._stop_and(lambda: model.step(model.end))
            case "g":
                self._typed = ""
            case "d":
                self._stop_and(self._difference)
            case "a":
                is_timed = model.alignment is Alignment.TIME
                model.align(Alignment.ACTION if is_timed else Alignment.TIME)
            case "\t":
                model.turn_focus()
            case "s":
                self.is_side = not self.is_side
            case "?":
                self.message = KEYS
            case _:
                self.message = "no such key; ? lists the keys"

    def rows(self, width: int, height: int) -> list[str]:
        """Draw it; what does not fit is cut off, and said to be."""
        model = self.model
        boards = [
            [f"{track.name}, action {frame.seq} of {track.last}", *board_rows(track, frame)]
            for index, (track, frame) in enumerate(zip(model.tracks, model.frames, strict=True))
            if self.is_side or index == model.focus
        ]
        top = [self._status(), "" if model.last is None else action_line(*model.last), ""]
        bottom = ["", *self._progress(), *_wrapped(self._says(), width)]
        middle = _fitting(beside(boards, width), max(1, height - len(top) - len(bottom)))
        return [row[:width] for row in (*top, *middle, *bottom)][:height]

    def _status(self) -> str:
        model = self.model
        state = "playing" if model.is_playing else "paused"
        return (
            f"{state} {model.speed:g}x  {time_text(model.t_ms)} of {time_text(model.end_ms)}  "
            f"action {model.at} of {model.end}  by {model.alignment.value}"
        )

    def _progress(self) -> Iterator[str]:
        model = self.model
        most = max(1, max(track.frames[-1].best for track in model.tracks))
        for index, (track, frame) in enumerate(zip(model.tracks, model.frames, strict=True)):
            full = BAR * max(0, frame.home) // most
            mark = ">" if index == model.focus else " "
            end = "" if frame.seq < track.last else "  done"
            bar = "#" * full + "." * (BAR - full)
            yield f"{mark} {track.name:<20} [{bar}] home {frame.home:>3}  moves {frame.seq:>3}{end}"

    def _says(self) -> str:
        if self._typed is None:
            return self.message
        return f"go to action or time (12, 1:05.3), then Enter: {self._typed}"

    def _type(self, typed: str, key: str) -> None:
        if key in ("\r", "\n"):
            self._typed = None
            self._go(typed)
        elif key in ("\x7f", "\b"):
            self._typed = typed[:-1]
        elif key in ("\x03", "escape"):
            self._typed = None
        elif len(key) == 1 and key in "0123456789:." and len(typed) < 12:
            self._typed = typed + key

    def _go(self, point: str) -> None:
        if point.isdecimal():
            self._stop_and(lambda: self.model.seek(int(point)))
        elif (t_ms := read_time(point)) is not None:
            self._stop_and(lambda: self.model.seek_time(t_ms))
        else:
            self.message = f"{point!r} is neither an action's number nor a time"

    def _stop_and(self, go: Callable[[], object]) -> None:
        self.model.pause()
        go()

    def _difference(self) -> None:
        if not self.model.next_difference():
            two = len(self.model.tracks) > 1
            self.message = "no further difference" if two else "there is one run only"


def _fitting(rows: list[str], height: int) -> list[str]:
    """Cut rows off, and say so: they hold the cards that can be played."""
    if len(rows) <= height:
        return rows
    kept = rows[: height - 1]
    return [*kept, f"... {counted(len(rows) - len(kept), 'more row')}; make the terminal taller"]


def _wrapped(text: str, width: int) -> list[str]:
    rows, row = [], ""
    for word in text.split("   "):
        if row and len(row) + 3 + len(word) > width:
            rows.append(row)
            row = word
        else:
            row = f"{row}   {word}" if row else word
    return [*rows, row]


def play_on_terminal(player: TextPlayer) -> None:
    """Show a player and feed it keys until it is over; the terminal is left as it was."""
    keys, screen = sys.stdin.fileno(), sys.stdout
    before = termios.tcgetattr(keys)
    ended_by = signal.signal(signal.SIGTERM, _end)
    screen.write("\x1b[?1049h\x1b[?25l")
    try:
        # Ctrl-C is a key like any other here.
        tty.setraw(keys)
        _loop(player, keys)
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, before)
        screen.write("\x1b[?25h\x1b[?1049l")
        screen.flush()
        signal.signal(signal.SIGTERM, ended_by)


def _end(number: int, _frame: object) -> NoReturn:
    """End by way of what puts the terminal right."""
    raise SystemExit(128 + number)


def _loop(player: TextPlayer, keys: int) -> None:
    last_s = time.monotonic()
    while not player.is_over:
        size = shutil.get_terminal_size()
        rows = player.rows(size.columns, size.lines)
        sys.stdout.write("\x1b[H" + "\r\n".join(f"\x1b[2K{row}" for row in rows) + "\x1b[J")
        sys.stdout.flush()
        due_ms = player.model.next_after_ms()
        wait_s = None if due_ms is None else min(due_ms + 1, REDRAW_MS) / 1000
        ready, _, _ = select.select([keys], [], [], wait_s)
        now_s = time.monotonic()
        player.model.advance((now_s - last_s) * 1000)
        last_s = now_s
        if ready:
            pressed = os.read(keys, 1024)
            if not pressed:
                return
            for key in split_keys(pressed):
                player.press(key)


def split_keys(pressed: bytes) -> Iterator[str]:
    """Take what was read from a terminal apart into keys."""
    rest = pressed
    while rest:
        if rest[:1] == b"\x1b":
            named = _NAMED.get(rest[1:3].replace(b"O", b"["))
            yield named or "escape"
            rest = rest[3:] if named else rest[1:]
        else:
            yield rest[:1].decode("latin-1")
            rest = rest[1:]
