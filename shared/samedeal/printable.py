"""Texts that come from elsewhere, made fit for one line of a terminal."""

from typing import Final

__all__ = ["MAX_SENTENCE", "printable"]

MAX_SENTENCE: Final = 1000
"""Letters of a complaint, whatever it quotes."""


def printable(text: str, most: int = 40) -> str:
    """Replace what does not print, an escape sequence say, and cut what is too long."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:most])
