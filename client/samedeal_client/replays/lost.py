"""Where in a run the win was lost: after which move no win was left."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from samedeal.engine.moves import Move
from samedeal.engine.replay import Verified
from samedeal.engine.run import UNDO
from samedeal.engine.solving import Dead, Solve, Unknown, Verdict, Won, is_a_win, search
from samedeal.engine.table import Table
from samedeal_client.replays.track import actions_of, fresh_run

__all__ = ["POSITIONS", "Lost", "LostAtDeal", "Never", "Undecided", "where_lost"]

POSITIONS: Final = 20_000
"""Positions that may be looked at for each verdict."""


@dataclass(frozen=True, slots=True)
class Never:
    """The run was won, or a win was still there when it ended."""

    won: bool


@dataclass(frozen=True, slots=True)
class LostAtDeal:
    """The deal cannot be won at all."""


@dataclass(frozen=True, slots=True)
class Lost:
    """After action `seq`, which was `move`, no win was left."""

    seq: int
    move: Move
    could_win: int | None
    """After this action of the run a win was still there, 0 being the deal; if it is the one
    before in what stood at the end, `move` lost the win. None if none such could be found."""
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Undecided:
    """It could not be decided within the budget whether a win was left at the end."""


Verdicts: TypeAlias = Never | LostAtDeal | Lost | Undecided


def where_lost(
    file: Verified, seat: int, *, solve: Solve = search, nodes: int = POSITIONS
) -> Verdicts:
    """Find the move after which no win was left, of what stood when the run ended.

    What was taken back is left out: it lost nothing. This takes up to some ten verdicts of `nodes`
    positions each, half a minute of one core at worst: not for an event loop.
    """
    line = _Line(file, seat, solve, nodes)
    last = len(line.seqs)
    if line.table_at(last).is_won:
        return Never(won=True)
    verdict = line.verdict(last)
    if isinstance(verdict, Won):
        return Never(won=False)
    if isinstance(verdict, Unknown):
        return Undecided()
    dead, won, unclear = last, -1, -1
    stride = 1
    # Late positions are the small ones: back from the end in growing strides, then halve.
    while dead - max(won, unclear) > 1:
        floor = max(won, unclear)
        at = max(floor + 1, dead - stride) if floor < 0 else (floor + dead) // 2
        stride *= 2
        match line.verdict(at):
            case Dead():
                dead = at
            case Won():
                won = at
            case Unknown():
                unclear = at
    if dead == 0:
        return LostAtDeal()
    return Lost(
        seq=line.seqs[dead - 1],
        move=line.moves[dead - 1],
        could_win=None if won < 0 else line.seqs[won - 1] if won else 0,
        is_exact=won == dead - 1,
    )


class _Line:
    """The moves of a run that stood at its end, and verdicts on the positions between them."""

    def __init__(self, file: Verified, seat: int, solve: Solve, nodes: int) -> None:
        self.seqs: list[int] = []
        """Number of the action that each move was."""
        self.moves: list[Move] = []
        self._solve, self._nodes = solve, nodes
        for entry in actions_of(file, seat):
            if entry.action is UNDO:
                self.seqs.pop()
                self.moves.pop()
            else:
                self.seqs.append(entry.seq)
                self.moves.append(entry.action)
        self._table = fresh_run(file).table
        self._at = 0

    def table_at(self, at: int) -> Table:
        """The position after so many moves."""
        while self._at < at:
            self._table.push(self.moves[self._at])
            self._at += 1
        while self._at > at:
            self._table.pop()
            self._at -= 1
        return self._table

    def verdict(self, at: int) -> Verdict:
        """What the solver says of a position; a win only if the engine plays it to the end."""
        table = self.table_at(at)
        verdict = self._solve(table, nodes=self._nodes)
        if isinstance(verdict, Won) and not is_a_win(table, verdict.moves):
            return Unknown(0)
        return verdict
