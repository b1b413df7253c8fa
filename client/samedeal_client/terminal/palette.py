"""What each kind of text looks like: two colours, four, or none at all."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from rich.style import Style

from samedeal_client.model.ink import Ink

__all__ = ["Palette", "styles"]


class Palette(StrEnum):
    """How suits are coloured."""

    TWO = "two"
    FOUR = "four"
    MONO = "mono"

    @property
    def following(self) -> "Palette":
        """The next one, round and round."""
        every = list(Palette)
        return every[(every.index(self) + 1) % len(every)]


_RED: Final = "#ff6b6b"
_MONO: Final = {
    Ink.PLAIN: Style(),
    Ink.DIM: Style(dim=True),
    Ink.TITLE: Style(bold=True),
    Ink.CLUBS: Style(),
    Ink.DIAMONDS: Style(),
    Ink.HEARTS: Style(),
    Ink.SPADES: Style(),
    Ink.PICK: Style(bold=True, reverse=True),
    Ink.TARGET: Style(bold=True, underline=True),
    Ink.CURSOR: Style(reverse=True),
    Ink.GOOD: Style(bold=True),
    Ink.BAD: Style(bold=True, underline=True),
    Ink.OWN: Style(bold=True),
}
_TWO: Final = {
    **_MONO,
    Ink.DIM: Style(color="#9a9a9a"),
    Ink.DIAMONDS: Style(color=_RED),
    Ink.HEARTS: Style(color=_RED),
    Ink.TARGET: Style(bold=True, color="#7ee787"),
    Ink.GOOD: Style(bold=True, color="#7ee787"),
    Ink.BAD: Style(bold=True, color="#ffb454"),
}
_FOUR: Final = {**_TWO, Ink.CLUBS: Style(color="#7ee787"), Ink.DIAMONDS: Style(color="#79c0ff")}
_STYLES: Final[Mapping[Palette, Mapping[Ink, Style]]] = {
    Palette.TWO: _TWO,
    Palette.FOUR: _FOUR,
    Palette.MONO: _MONO,
}


def styles(palette: Palette) -> Mapping[Ink, Style]:
    """The style of each kind of text."""
    return _STYLES[palette]
