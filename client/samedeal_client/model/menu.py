"""A list to choose from by arrows, by the key of an item, or by a click."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from samedeal_client.model.ink import Canvas, Ink, Row, cells
from samedeal_client.model.keys import Action, ScreenKeys

__all__ = ["Item", "Menu"]

_BELOW: Final = 2
"""Rows below the items: a sentence, and the keys."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to choose."""

    action: Action
    """What its key means."""
    name: str
    about: str = ""


class Menu:
    """Items under a title; one of them is the chosen one."""

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        keys: ScreenKeys,
        notes: Sequence[str] = (),
    ) -> None:
        self.title = title
        self.items = items
        self.keys = keys
        self.notes = notes
        """Lines above the items."""
        self.at = 0
        self._first = 3
        """The row of the first item that is drawn, and which one that is."""
        self._from = 0

    def move(self, by: int) -> None:
        """Choose the next or the one before, round and round."""
        self.at = (self.at + by) % len(self.items)

    def press(self, action: Action | None) -> Item | None:
        """Return the item that a key takes, if it takes one."""
        if not self.items:
            return None
        match action:
            case Action.TAKE:
                return self.items[self.at]
            case Action.DOWN | Action.UP:
                self.move(1 if action is Action.DOWN else -1)
            case _:
                return next((item for item in self.items if item.action is action), None)
        return None

    def item_at(self, row: int) -> Item | None:
        """The item drawn in a row."""
        at = row - self._first + self._from
        return self.items[at] if self._from <= at < len(self.items) else None

    def _place(self, end: int) -> None:
        """Have the items begin below the notes, closer where it is low, and the chosen one seen."""
        count = len(self.items)
        roomy = 3 + len(self.notes) + bool(self.notes)
        self._first = roomy if roomy + count <= end else 2 + len(self.notes)
        room = max(1, end - self._first)
        self._from = max(0, min(self._from, self.at, count - room), self.at - room + 1)

    def rows(self, width: int, height: int, sentence: str = "") -> list[Row]:
        """Draw it; `sentence` is what went wrong, or is going on."""
        canvas = Canvas(width, height)
        canvas.put(1, 2, self.title, Ink.TITLE)
        for at, note in enumerate(self.notes, start=2):
            canvas.put(at, 2, note, Ink.DIM)
        told = textwrap.wrap(sentence, width - 4)
        for at, line in enumerate(told, start=height - 1 - len(told)):
            canvas.put(at, 2, line, Ink.BAD)
        if not self.items:
            canvas.put(height - 1, 1, self.keys.foot(width - 2, (Action.BACK, "back")), Ink.DIM)
            return canvas.rows()
        names = [self.keys.name(item.action) for item in self.items]
        indent = 4 + max(map(cells, names))
        widest = max(len(item.name) for item in self.items)
        # What each is about stands beside it if there is room for all, else below for the chosen.
        beside = indent + widest + 2
        all_fit = beside + max(len(item.about) for item in self.items) <= width
        self._place(height - _BELOW)
        last = height - _BELOW - self._first + self._from
        for at, item in enumerate(self.items[:last]):
            row, is_chosen = self._first + at - self._from, at == self.at
            if at < self._from:
                continue
            canvas.put(row, 1, ">" if is_chosen else " ", Ink.TITLE)
            canvas.put(row, 3, names[at], Ink.TITLE)
            canvas.put(row, indent, item.name, Ink.OWN if is_chosen else Ink.PLAIN)
            if all_fit:
                canvas.put(row, beside, item.about, Ink.DIM)
        if not all_fit:
            lines = textwrap.wrap(self.items[self.at].about, width - 6)
            below = min(self._first + len(self.items) + 1, height - 1 - len(lines))
            for at, line in enumerate(lines if not told else ()):
                canvas.put(below + at, indent, line)
        foot = self.keys.foot(
            width - 2,
            ((Action.UP, Action.DOWN), "choose"),
            (Action.TAKE, "or its key takes"),
            (Action.HELP, "help"),
            (Action.BACK, "goes back"),
        )
        canvas.put(height - 1, 1, foot, Ink.DIM)
        return canvas.rows()
