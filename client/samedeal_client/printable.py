"""Texts that come from elsewhere, made fit for one line of a terminal."""

__all__ = ["printable"]


def printable(text: str, most: int = 40) -> str:
    """Replace what does not print, an escape sequence say, and cut what is too long."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:most])
