"""A greedy player that never thinks ahead: home, then what uncovers a card, then the stock."""

import random

from samedeal.engine.moves import DRAW, Move
from samedeal.engine.table import Table

__all__ = ["Greedy"]

IDLE_PASSES = 2
"""Passes through the stock without any other move after which it has seen enough."""


class Greedy:
    """Chooses moves from the visible table; the same seed chooses the same."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(seed)
        self._draws = 0

    def choose(self, table: Table) -> Move | None:
        """Return a move, or None when nothing is left that promises anything."""
        best: list[Move] = []
        best_value = 0
        for move in table.legal_moves:
            value = self._value(table, move)
            if value > best_value:
                best, best_value = [move], value
            elif value == best_value and value > 0:
                best.append(move)
        if best:
            self._draws = 0
            return self._rng.choice(best)
        if DRAW in table.legal_moves and self._draws < self._enough(table):
            self._draws += 1
            return DRAW
        return None

    def _enough(self, table: Table) -> int:
        length = table.pass_length
        return 200 if length is None else IDLE_PASSES * length

    def _value(self, table: Table, move: Move) -> int:
        """How much a move promises; 0 for nothing."""
        if move == DRAW or move.source.startswith("F"):
            return 0
        if move.target.startswith("F"):
            return 100 - table.pile(move.source)[-1] % 13
        rest = len(table.pile(move.source)) - move.count
        if move.source.startswith("T"):
            if table.face_down(move.source) and rest == table.face_down(move.source):
                return 60
            empties = rest == 0 and bool(table.pile(move.target))
            return 40 if empties else 0
        if move.source == "W":
            return 30 if table.pile(move.target) else 10
        return 20
