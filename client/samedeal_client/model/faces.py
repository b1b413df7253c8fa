"""How a card is written on a screen: suits as glyphs or letters, the ten as T or 10."""

import re
from dataclasses import dataclass
from typing import Final

from samedeal.engine.cards import HIDDEN, RANKS, SUITS, rank, suit
from samedeal_client.model.ink import Ink

__all__ = ["Faces"]

_GLYPHS: Final = "♣♦♥♠"
_INKS: Final = (Ink.CLUBS, Ink.DIAMONDS, Ink.HEARTS, Ink.SPADES)
_CARD: Final = re.compile(rf"\b([{RANKS}])([{SUITS}])\b")


@dataclass(frozen=True, slots=True)
class Faces:
    """A way to write cards."""

    is_ascii: bool = False
    has_wide_tens: bool = False

    def suit(self, number: int) -> str:
        """Write a suit, 0 to 3."""
        return (SUITS if self.is_ascii else _GLYPHS)[number]

    def rank(self, number: int) -> str:
        """Write a rank, 0 to 12."""
        return "10" if number == 9 and self.has_wide_tens else RANKS[number]

    def card(self, number: int) -> str:
        """Write a card; one that is not known yet is `??`."""
        return "??" if number == HIDDEN else f"{self.rank(rank(number))}{self.suit(suit(number))}"

    def ink(self, number: int) -> Ink:
        """What kind of text a card is."""
        return Ink.DIM if number == HIDDEN else _INKS[suit(number)]

    def suit_ink(self, number: int) -> Ink:
        """What kind of text a suit is."""
        return _INKS[number]

    def sentence(self, text: str) -> str:
        """Write the cards in a sentence of the engine, `TH`, this way."""
        return _CARD.sub(
            lambda match: f"{self.rank(RANKS.index(match[1]))}{self.suit(SUITS.index(match[2]))}",
            text,
        )
