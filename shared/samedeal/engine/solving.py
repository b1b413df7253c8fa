"""Can this position still be won? What a solver answers, and one that looks at every position.

A verdict speaks about hidden cards: it is for closed deals, never for a player of an open one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from samedeal.engine.cards import HIDDEN
from samedeal.engine.errors import IllegalMove
from samedeal.engine.moves import Move
from samedeal.engine.rules import Kind
from samedeal.engine.table import Table

__all__ = ["Dead", "Solve", "Unknown", "Verdict", "Won", "is_a_win", "search"]


@dataclass(frozen=True, slots=True)
class Won:
    """These moves win, automatic ones following by themselves."""

    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Dead:
    """No sequence of moves wins; so many positions were looked at."""

    nodes: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """The budget of positions ran out before it was decided."""

    nodes: int


Verdict: TypeAlias = Won | Dead | Unknown


class Solve(Protocol):
    """A solver: the table is a full one, and afterwards as it was; no more than `nodes` positions.

    Undo is no move to it. The same table and budget give the same verdict.
    """

    def __call__(self, table: Table, *, nodes: int) -> Verdict: ...


def is_a_win(table: Table, moves: Sequence[Move]) -> bool:
    """Whether these moves win from here: a solver's word is believed only after this."""
    made = 0
    try:
        for move in moves:
            table.push(move)
            made += 1
        return table.is_won
    except IllegalMove:
        return False
    finally:
        for _ in range(made):
            table.pop()


def search(table: Table, *, nodes: int) -> Verdict:
    """Look at every position that can be reached, depth first: for small ones.

    About 20,000 positions a second.
    """
    if table.is_view:
        raise ValueError("a view does not know its hidden cards")
    if table.is_won:
        return Won(())
    depth, key = len(table.history), _Key(table)
    seen = {key.of_position()}
    ways: list[Iterator[Move]] = [_by_promise(table)]
    try:
        while ways:
            move = next(ways[-1], None)
            if move is None:
                ways.pop()
                if ways:
                    table.pop()
                continue
            table.push(move)
            if table.is_won:
                return Won(tuple(step.move for step in table.history[depth:]))
            position = key.of_position()
            if position in seen:
                table.pop()
                continue
            if len(seen) >= nodes:
                return Unknown(len(seen))
            seen.add(position)
            ways.append(_by_promise(table))
        return Dead(len(seen))
    finally:
        while len(table.history) > depth:
            table.pop()


def _by_promise(table: Table) -> Iterator[Move]:
    """The legal moves: home first, then what leaves a column, then draws, then taking back."""

    def rank(move: Move) -> int:
        if move.source[0] == "F":
            return 4
        if move.target[0] == "F":
            return 0
        if not move.count:
            return 3
        return 1 if move.source[0] == "T" else 2

    return iter(sorted(table.legal_moves, key=rank))


class _Key:
    """Tells positions of one deal apart, but for which of several like piles is which.

    Of one deal the visible piles settle the hidden cards: stock and waste together never change
    their order, and what lies under a column is as dealt.
    """

    def __init__(self, table: Table) -> None:
        rules = table.rules
        self._table = table
        named: dict[Kind, list[str]] = {kind: [] for kind in Kind}
        for name, kind in rules.piles:
            named[kind].append(name)
        self._others: Final = ["W", *named[Kind.RESERVE]]
        self._columns: Final = named[Kind.COLUMN]
        self._foundations: Final = list(zip(named[Kind.FOUNDATION], rules.foundations, strict=True))

    def of_position(self) -> bytes:
        table = self._table
        columns = []
        for index, name in enumerate(self._columns):
            pile = bytes(table.pile(name))
            # Only where nothing is hidden any more is one column like another.
            columns.append(bytes((index,)) + pile if pile[:1] == _HIDDEN else b"\xfe" + pile)
        homes = sorted(bytes((way + 1, *table.pile(name))) for name, way in self._foundations)
        passes = bytes((table.passes or 0,))
        others = [bytes(table.pile(name)) for name in self._others]
        return b"\xff".join((passes, *others, *homes, *sorted(columns)))


_HIDDEN: Final = bytes((HIDDEN,))
