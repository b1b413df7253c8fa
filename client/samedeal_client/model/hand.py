"""What a player has picked up, and which move a pile named next makes of it."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from samedeal.engine.cards import HIDDEN, SUITS, card_text, is_red, suit
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.rules import UP, Kind
from samedeal.engine.table import Table

__all__ = ["Ask", "Hand", "finish", "home_moves", "safe_move", "sources_of"]

_MOST: Final = 13


@dataclass(frozen=True, slots=True)
class Ask:
    """A sentence for the player: nothing was moved."""

    sentence: str


class Hand:
    """The picked pile, how many of its cards, and how they were picked."""

    def __init__(self) -> None:
        self.pile: str | None = None
        self.count: int | None = None
        """Cards to carry; None for as many as fit the target."""
        self.takes_back = False
        """Whether it goes round the foundations that give a card back."""

    def clear(self) -> None:
        """Put it down."""
        self.pile, self.count, self.takes_back = None, None, False

    def pick(self, table: Table, pile: str, count: int | None = None) -> Ask | None:
        """Pick a pile up, if it has a card that may leave."""
        self.clear()
        if not table.pile(pile):
            return Ask(f"{called(table, pile)} is empty")
        if pile.startswith("F") and not table.rules.takes_back:
            return Ask("foundation cards never leave")
        run = run_length(table, pile)
        self.pile = pile
        self.count = None if count is None else max(1, min(count, run))
        return None

    def carried(self, table: Table) -> int:
        """How many cards are marked: those chosen, or the longest run."""
        if self.pile is None:
            return 0
        return run_length(table, self.pile) if self.count is None else self.count

    def resize(self, table: Table, by: int) -> Ask | None:
        """Carry one card more or fewer of a run."""
        if self.pile is None:
            return Ask("pick a column first, then choose how many cards")
        run = run_length(table, self.pile)
        self.count = max(1, min(self.carried(table) + by, run))
        return None if run > 1 else Ask("only one card can be carried from there")

    def targets(self, table: Table) -> frozenset[str]:
        """The piles that take what is picked."""
        if self.pile is None:
            return frozenset()
        return frozenset(
            move.target
            for move in table.legal_moves
            if move.source == self.pile and self.count in (None, move.count)
        )

    def onto(self, table: Table, pile: str) -> Move:
        """The move that carries the pick to a pile, legal or not, with the cards that fit."""
        assert self.pile is not None
        source = self.pile
        if self.takes_back and not table.is_legal(Move(source, pile)):
            givers = [name for name in sources_of(table) if table.is_legal(Move(name, pile))]
            source = givers[0] if len(givers) == 1 else source
        if self.count is not None:
            return Move(source, pile, self.count)
        fitting = [
            move.count
            for move in table.legal_moves
            if move.source == source and move.target == pile
        ]
        # Where nothing fits, the refusal is about the cards most likely meant.
        return Move(source, pile, max(fitting, default=_likely(table, source, pile)))

    def take_back(self, table: Table) -> Ask | None:
        """Pick the next foundation that gives a card back."""
        givers = sources_of(table)
        if not table.rules.takes_back:
            return Ask("foundation cards never leave in this game")
        if not givers:
            return Ask("no foundation card can go anywhere now")
        at = givers.index(self.pile) + 1 if self.pile in givers else 0
        self.pile, self.count, self.takes_back = givers[at % len(givers)], 1, True
        return None

    def take_back_suit(self, table: Table, letter: str) -> bool:
        """Pick the foundation of a suit, while taking back. Return whether there is one."""
        if not self.takes_back or letter.upper() not in SUITS:
            return False
        number = SUITS.index(letter.upper())
        givers = [name for name in sources_of(table) if suit(table.pile(name)[-1]) == number]
        if givers:
            at = givers.index(self.pile) + 1 if self.pile in givers else 0
            self.pile = givers[at % len(givers)]
        return bool(givers)


def sources_of(table: Table) -> list[str]:
    """The foundations whose top card has somewhere to go."""
    found = {move.source for move in table.legal_moves if move.source.startswith("F")}
    return [name for name, _ in table.rules.piles if name in found]


def run_length(table: Table, pile: str) -> int:
    """Cards of the ordered run on top of a pile that may move as one."""
    if not table.rules.moves_runs or not pile.startswith("T"):
        return 1
    cards = table.pile(pile)
    builds = table.rules.tables(table.base or 0).builds
    most, length = len(cards) - table.face_down(pile), 1
    while length < most and builds[cards[-length - 1] * 54 + cards[-length]]:
        length += 1
    return max(1, min(length, _MOST))


def _likely(table: Table, source: str, target: str) -> int:
    """How many cards someone means who names a target that takes none."""
    cards, goal = table.pile(source), table.pile(target)
    if not target.startswith("T") or not goal or not cards or HIDDEN in (goal[-1], cards[-1]):
        return 1
    for count in range(1, run_length(table, source) + 1):
        if is_red(cards[-count]) != is_red(goal[-1]):
            return count
    return 1


def home_moves(table: Table, source: str, way: int | None = None) -> list[Move]:
    """The moves that send a pile's top card home, one for each foundation that differs in effect.

    Foundations of one direction with equal ranks on top do not differ.
    """
    found: dict[int, Move] = {}
    ways = table.rules.foundations
    for move in table.legal_moves:
        if move.source == source and move.target.startswith("F") and move.count == 1:
            towards = ways[int(move.target[1:]) - 1]
            started = bool(table.pile(move.target))
            if way in (None, towards) and (towards not in found or started):
                found[towards] = move
    return [found[towards] for towards in (UP, -UP) if towards in found]


def home_refusal(table: Table, source: str) -> Move:
    """The move home to ask the rules about when none is legal: to the foundation of its suit."""
    cards = table.pile(source)
    for name, kind in table.rules.piles:
        if kind is Kind.FOUNDATION and cards and cards[-1] != HIDDEN:
            pile = table.pile(name)
            if pile and (not table.rules.in_suit or suit(pile[-1]) == suit(cards[-1])):
                return Move(source, name)
    empty = (
        name for name, kind in table.rules.piles if kind is Kind.FOUNDATION and not table.pile(name)
    )
    return Move(source, next(empty, "F1"))


def safe_move(table: Table) -> Move | None:
    """A card that can go home and that no card still to come could be built on."""
    rules = table.rules
    if not rules.in_suit:
        return None
    for move in table.legal_moves:
        if (
            move.target.startswith("F")
            and not move.source.startswith("F")
            and _is_needless(table, table.pile(move.source)[-1])
        ):
            return move
    return None


def _is_needless(table: Table, card: int) -> bool:
    """Whether all cards that could be built on this one are home."""
    rules = table.rules
    builds = rules.tables(table.base or 0).builds
    home = Counter(
        one for name, kind in rules.piles if kind is Kind.FOUNDATION for one in table.pile(name)
    )
    return all(home[other] == rules.packs for other in range(HIDDEN) if builds[card * 54 + other])


def finish(table: Table) -> list[Move]:
    """The moves that play a finished game out, or none: all is face up, and home is the only way.

    It is tried on the table and taken back.
    """
    if table.pile("S") or table.is_won or any(HIDDEN in cards for _, cards in table.piles()):
        return []
    if any(hidden for hidden, _ in table.piles()):
        return []
    made: list[Move] = []
    try:
        while not table.is_won:
            move = next(
                (
                    move
                    for move in table.legal_moves
                    if move.target.startswith("F") and not move.source.startswith("F")
                ),
                None,
            )
            if move is None:
                return []
            table.push(move)
            made.append(move)
    finally:
        for _ in made:
            table.pop()
    return made


def called(table: Table, pile: str) -> str:
    """Name a pile in a sentence."""
    if pile == "S":
        return "the stock"
    if pile == "W":
        return "the waste"
    kind = {"T": "column", "R": "reserve", "F": "foundation"}[pile[0]]
    return f"{kind} {pile[1:]}"


def told(table: Table, move: Move) -> str:
    """Name a move in a sentence, before it is made."""
    if move == DRAW:
        return "a turn of the stock"
    cards = table.pile(move.source)
    text = card_text(cards[-move.count]) if cards and cards[-move.count] != HIDDEN else "the card"
    more = f" and {move.count - 1} more" if move.count > 1 else ""
    goal = "home" if move.target.startswith("F") else f"to {called(table, move.target)}"
    return f"{text}{more} {goal}"
