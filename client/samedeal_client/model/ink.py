"""Rows of text with a meaning for each piece: what a terminal draws, whatever its colours."""

import unicodedata
from enum import StrEnum
from typing import NamedTuple, TypeAlias

__all__ = ["Canvas", "Ink", "Row", "Span", "cells", "clipped", "row", "text_of"]


class Ink(StrEnum):
    """What a piece of text is; the palette says how that looks."""

    PLAIN = "plain"
    DIM = "dim"
    TITLE = "title"
    CLUBS = "clubs"
    DIAMONDS = "diamonds"
    HEARTS = "hearts"
    SPADES = "spades"
    PICK = "pick"
    TARGET = "target"
    CURSOR = "cursor"
    GOOD = "good"
    BAD = "bad"
    OWN = "own"


class Span(NamedTuple):
    """Text of one kind."""

    text: str
    ink: Ink = Ink.PLAIN


Row: TypeAlias = tuple[Span, ...]


def row(text: str, ink: Ink = Ink.PLAIN) -> Row:
    """A row of one piece."""
    return (Span(text, ink),) if text else ()


def text_of(line: Row) -> str:
    """The text of a row alone."""
    return "".join(span.text for span in line)


def _width(char: str) -> int:
    """How many cells of a terminal a character takes."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def elided(text: str, width: int) -> str:
    """A text of one-cell characters in so many cells; where it goes on, dots say so."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def clipped(text: str, width: int) -> str:
    """Cut a text to so many cells, and fill it up to them."""
    if text.isascii():
        return text[:width].ljust(width)
    kept, used = "", 0
    for char in text:
        if used + _width(char) > width:
            break
        kept, used = kept + char, used + _width(char)
    return kept + " " * (width - used)


class Canvas:
    """Rows of fixed width to put pieces of text on; what does not fit is cut off."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._cells = [[(" ", Ink.PLAIN)] * width for _ in range(height)]

    def put(self, at: int, left: int, text: str, ink: Ink = Ink.PLAIN) -> int:
        """Put a text into row `at` from cell `left` on. Return the cell after it."""
        for char in text:
            width = _width(char)
            if 0 <= at < self.height and left >= 0 and left + width <= self.width:
                line = self._cells[at]
                if width == 0:
                    if left:
                        line[left - 1] = (line[left - 1][0] + char, line[left - 1][1])
                else:
                    line[left] = (char, ink)
                    if width == 2:
                        # The second half of a wide character is drawn with the first.
                        line[left + 1] = ("", ink)
            left += width
        return left

    def put_row(self, at: int, left: int, line: Row) -> int:
        """Put the pieces of a row one after the other. Return the cell after them."""
        for span in line:
            left = self.put(at, left, *span)
        return left

    def rows(self) -> list[Row]:
        """Everything, in as few pieces as there are kinds in a row."""
        return [_joined(line) for line in self._cells]


def _joined(line: list[tuple[str, Ink]]) -> Row:
    spans: list[Span] = []
    text, ink = "", Ink.PLAIN
    for char, kind in line:
        if kind is not ink:
            if text:
                spans.append(Span(text, ink))
            text, ink = "", kind
        text += char
    if text:
        spans.append(Span(text, ink))
    return tuple(spans)
