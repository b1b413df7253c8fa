"""Cards as small whole numbers, and their text."""

from __future__ import annotations

from typing import Final

from samedeal.engine.errors import Unreadable

__all__ = ["EMPTY", "HIDDEN", "RANKS", "SUITS", "card_text", "is_red", "parse_card", "rank", "suit"]

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"

HIDDEN: Final = 52
"""Stands in a pile for a card that the viewer may not see."""
EMPTY: Final = 53
"""Stands for the top card of a pile without cards, in the tables of what accepts what."""

_TEXTS: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
_CARDS: Final = {text: card for card, text in enumerate(_TEXTS)}


def card_text(card: int) -> str:
    """Write a card, 0 to 51: rank, then suit."""
    return _TEXTS[card]


def parse_card(text: str) -> int:
    """Read a card: suit * 13 + rank. Raise Unreadable for anything but its one form."""
    card = _CARDS.get(text)
    if card is None:
        raise Unreadable(
            text, f"{text[:20]!r} is not a card: a rank of {RANKS} and a suit of {SUITS}, as in TH"
        )
    return card


def rank(card: int) -> int:
    """Rank of a card: 0 for the ace, 12 for the King."""
    return card % 13


def suit(card: int) -> int:
    """Suit of a card: 0 to 3 for clubs, diamonds, hearts, spades."""
    return card // 13


def is_red(card: int) -> bool:
    """Whether it is a diamond or a heart."""
    return card // 13 in (1, 2)
