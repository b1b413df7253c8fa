"""A number of things in words: one is not many."""

__all__ = ["counted"]


def counted(number: int, noun: str, width: int = 0) -> str:
    """Say how many there are of what; the number takes at least `width` places.

    >>> counted(1, "move"), counted(2, "move"), counted(0, "more card")
    ('1 move', '2 moves', '0 more cards')
    """
    return f"{number:>{width}} {noun}{'s' * (number != 1)}"
