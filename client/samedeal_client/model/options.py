"""A form of all options of a room."""

from collections.abc import Sequence
from typing import Final

from samedeal.engine.run import UndoPolicy
from samedeal.protocol.fields import RANKED_UNLESS_NAMED, RaceOptions, Spectating
from samedeal.protocol.limits import MAX_SEATS, MIN_SEATS
from samedeal_client.model.ink import Canvas, Ink, Row
from samedeal_client.model.keys import Action, ScreenKeys

__all__ = ["OptionsForm"]

_LIMITS: Final = (60, 120, 180, 300, 480, 600, 900, 1200, 1800, 3600)
_CHOICES: Final[tuple[tuple[str, str, Sequence[object]], ...]] = (
    ("seats", "seats", range(MIN_SEATS, MAX_SEATS + 1)),
    ("time_limit_s", "time limit, seconds", _LIMITS),
    ("last_call_s", "after a win the others have, seconds", (0, 10, 30, 60, 120, 300)),
    ("countdown_s", "countdown, seconds", (0, 3, 5, 10, 30)),
    ("undo", "undo", tuple(UndoPolicy)),
    ("spectating", "others may watch", tuple(Spectating)),
    ("watch_delay_s", "boards are shown late by, seconds", (0, 10, 30, 60, 300)),
    ("listed", "listed among the open rooms", (False, True)),
    ("ranked", "ranked", (False, True)),
    ("bots", "bots may join", (False, True)),
    ("auto_start", "starts when all are ready", (False, True)),
    ("best_of", "best of", (1, 3, 5)),
)
_ABOUT: Final = {
    UndoPolicy.SAFE: "back to the last card that was turned up; each undo is a move",
    UndoPolicy.NONE: "no move can be taken back",
    UndoPolicy.FREE: "back to the deal, redo too; unranked only",
    Spectating.BOARDS: "whole boards, live",
    Spectating.SHAPE: "heights of the piles, no cards",
    Spectating.COUNTS: "the number of cards home",
    Spectating.OFF: "nothing before the race is over",
}


class OptionsForm:
    """Which option is chosen, and what is changed."""

    def __init__(self, options: RaceOptions, title: str) -> None:
        self.title = title
        self.at = 0
        self._options = options
        self.changes: dict[str, object] = {}
        """What differs from what it was."""

    def _value(self, name: str) -> object:
        return self.changes.get(name, self._unchanged(name))

    def _unchanged(self, name: str) -> object:
        """What an option will be if it is not changed itself."""
        own: object = getattr(self._options, name)
        return RANKED_UNLESS_NAMED.get(name, own) if self.changes.get("ranked") else own

    def move(self, by: int) -> None:
        """Go to the next option or the one before."""
        self.at = (self.at + by) % len(_CHOICES)

    def change(self, by: int) -> None:
        """Give the option the next value or the one before."""
        name, _, choices = _CHOICES[self.at]
        value = self._value(name)
        if value in choices:
            at = (list(choices).index(value) + by) % len(choices)
        else:
            # A value that was set by command line: on to the next one of the list.
            numbers = [one for one in choices if isinstance(one, int)]
            assert isinstance(value, int)
            at = sum(one < value for one in numbers) % len(numbers)
        self.changes[name] = choices[at]
        if self.changes[name] == self._unchanged(name):
            del self.changes[name]

    def rows(self, keys: ScreenKeys, width: int, height: int, sentence: str) -> list[Row]:
        """Draw it."""
        canvas = Canvas(width, height)
        canvas.put(1, 2, self.title, Ink.TITLE)
        for at, (name, label, _) in enumerate(_CHOICES):
            value, is_chosen = self._value(name), at == self.at
            ink = Ink.OWN if is_chosen else Ink.PLAIN
            canvas.put(3 + at, 1, ">" if is_chosen else " ", Ink.TITLE)
            canvas.put(3 + at, 3, label, ink)
            left = canvas.put(3 + at, 42, f"< {_shown(value)} >" if is_chosen else _shown(value))
            about = _ABOUT.get(value, "") if isinstance(value, UndoPolicy | Spectating) else ""
            if is_chosen and about:
                canvas.put(4 + len(_CHOICES), 3, about, Ink.DIM)
            if name in self.changes:
                canvas.put(3 + at, left + 1, "changed", Ink.DIM)
        canvas.put(height - 2, 2, sentence, Ink.BAD)
        foot = keys.foot(
            width - 2,
            ((Action.UP, Action.DOWN), "choose"),
            ((Action.LEFT, Action.RIGHT), "change"),
            (Action.TAKE, "done"),
            (Action.BACK, "back"),
        )
        canvas.put(height - 1, 1, foot, Ink.DIM)
        return canvas.rows()


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
