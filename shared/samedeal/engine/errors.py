"""How the engine says no.

EngineError
├── Unreadable       cannot be read: a card, pile, position, move, seed or game; `part` is the text
├── IllegalMove      can be read, but the rules forbid it now; `sentence` says what is missing
└── AmbiguousMove    can be read in more than one way; `choices` are the moves it could mean
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["AmbiguousMove", "EngineError", "IllegalMove", "Unreadable"]


class EngineError(Exception):
    """Root of what this package raises."""


class Unreadable(EngineError):
    """A text is not what it should be. `part` is the part that cannot be read."""

    def __init__(self, part: str, sentence: str) -> None:
        self.part = part
        self.sentence = sentence
        super().__init__(part, sentence)

    def __str__(self) -> str:
        return self.sentence


class IllegalMove(EngineError):
    """The rules forbid a move now."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)

    def __str__(self) -> str:
        return self.sentence


class AmbiguousMove(EngineError):
    """A short form fits several moves."""

    def __init__(self, text: str, choices: Sequence[str]) -> None:
        self.text = text
        self.choices = tuple(choices)
        super().__init__(text, self.choices)

    def __str__(self) -> str:
        return f"{self.text} may mean {' or '.join(self.choices)}"
