"""Moves as typed words: the keys of the terminal client, with blanks between."""

import re
from typing import Final

from samedeal.engine.cards import HIDDEN, RANKS, card_text, rank, suit
from samedeal.engine.counts import counted
from samedeal.engine.errors import AmbiguousMove
from samedeal.engine.moves import Move
from samedeal.engine.rules import UP
from samedeal.engine.table import Table
from samedeal_client.model.hand import Hand, called, home_moves, home_refusal, safe_move

__all__ = ["WORDS", "is_words", "looked_at", "pile_named", "spelled"]

WORDS: Final = (
    "draw, 4 9 (column 4 to 9), 4:2 9 (two cards), w 3 (waste to column 3), f (waste home), 4 f, "
    "r f and t f (reserves), w [ and w ] (up or down), x 3 (from home to column 3), xs 3 (spades)"
)
_WORDS: Final = re.compile(
    r"(?:(w|[1-9]|r[12]?|t|x[cdhs]?)(?::([1-9]|1[0-3]))? ?)?([f\[\]]|(?<= )[1-9])", re.IGNORECASE
)
_SUITS: Final = ("clubs", "diamonds", "hearts", "spades")
_RANKS: Final = {"A": "ace", "T": "10", "J": "Jack", "Q": "Queen", "K": "King"}


def is_words(line: str) -> bool:
    """Whether a line is a move in words, or asks for all safe ones: `F`."""
    return line == "F" or _WORDS.fullmatch(line) is not None


def pile_named(word: str) -> str:
    """The pile a key stands for."""
    word = word.upper()
    if word.isdigit():
        return f"T{word}"
    return {"R": "R1", "T": "R2"}.get(word, word)


def spelled(table: Table, line: str) -> Move | None:
    """The move that words mean on a table, legal or not; None if `F` finds none.

    Raise AmbiguousMove where a card could go home both up and down.
    """
    if line == "F":
        return safe_move(table)
    words = _WORDS.fullmatch(line)
    assert words is not None
    source, count, target = words[1] or "w", words[2], words[3].lower()
    if source[0].lower() == "x":
        return _taken_back(table, source[1:], pile_named(target))
    pile, kinds = pile_named(source), dict(table.rules.piles)
    if pile not in kinds:
        return Move(pile, "F1" if target in ("f", "[", "]") else pile_named(target))
    if target in ("f", "[", "]"):
        way = {"[": UP, "]": -UP}.get(target)
        moves = home_moves(table, pile, way)
        if len(moves) > 1:
            raise AmbiguousMove(line, [str(move) for move in moves])
        return moves[0] if moves else home_refusal(table, pile)
    hand = Hand()
    hand.pile, hand.count = pile, None if count is None else int(count)
    if pile_named(target) not in kinds:
        return Move(pile, pile_named(target))
    return hand.onto(table, pile_named(target))


def _taken_back(table: Table, letter: str, target: str) -> Move:
    """The foundation card that goes to a column, of a suit if one is named."""
    givers = [
        name
        for name, _ in table.rules.piles
        if name.startswith("F")
        and table.is_legal(Move(name, target))
        and (not letter or card_text(table.pile(name)[-1])[1] == letter.upper())
    ]
    if len(givers) > 1:
        raise AmbiguousMove(f"x{letter}", [str(Move(name, target)) for name in givers])
    return Move(givers[0] if givers else "F1", target)


def looked_at(table: Table, pile: str) -> str:
    """Say what lies in a pile, in words: the top card last."""
    hidden = table.face_down(pile)
    cards = [_spoken(card) for card in table.pile(pile)[hidden:]]
    size = len(table.pile(pile))
    many = counted(size, "card")
    below = f" {hidden} face down." if hidden else ""
    return f"{called(table, pile)}: {many}.{below} {', '.join(cards)}".rstrip() + "." * bool(cards)


def _spoken(card: int) -> str:
    if card == HIDDEN:
        return "a card not known yet"
    letter = RANKS[rank(card)]
    return f"{_RANKS.get(letter, letter)} of {_SUITS[suit(card)]}"
