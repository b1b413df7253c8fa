"""How does one player's play of one deal stand after these actions?

A `Run` is a fold over actions, a move or an undo each. The server runs it on the full table and the
client on its view; anyone who checks a replay folds the same actions and gets the same numbers.
Callers hand in times in milliseconds since GO, never decreasing within a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import Final, Literal, TypeAlias

from samedeal.engine.errors import IllegalMove
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.scoring import Outcome
from samedeal.engine.table import Step, Table

OVER: Final = "the run is over"
DRAWS_COUNTED: Final = 255
"""`draws_in_a_row` stops here, beyond the longest pass of any game."""


class Undo(Enum):
    """The one action that is not a move of cards."""

    UNDO = "undo"

    def __str__(self) -> str:
        return self.value


UNDO: Final = Undo.UNDO
Action: TypeAlias = Move | Literal[Undo.UNDO]


def parse_action(text: str) -> Action:
    """Read an action as logs have it: `undo`, or a move. Raise Unreadable for anything else."""
    return UNDO if text == UNDO.value else Move.parse(text)


class UndoPolicy(StrEnum):
    """How far a player may take steps back."""

    SAFE = "safe"
    """Back to the last revealing action, which itself stands."""
    NONE = "none"
    FREE = "free"
    """Back to the deal."""


_Before: TypeAlias = tuple[int, int, int, int, int, int, tuple[int, ...], Step | None]
"""What an action changed, as it was before, and the step that it took back, if it was an undo."""


class Run:
    """One player's play of one deal under an undo policy.

    `table` is the table as dealt, or its view; it belongs to the run from now on. Steps it already
    carries cannot be undone.
    """

    def __init__(self, table: Table, policy: UndoPolicy) -> None:
        self.table: Final = table
        self.policy: Final = policy
        self._steps_before = len(table.history)
        self._is_view = "?" in str(table)
        self.seq = 0
        """Number of actions accepted so far: the first has seq 1."""
        self.best = table.best
        """Highest `home` reached in this run, undone or not."""
        self.opened = table.opened
        """Dealt heights less the lowest heights reached in this run, undone or not."""
        self.t_best_ms = 0
        """Time at which the present pair of `best` and `opened` was reached."""
        self.m_best = 0
        """Number of moves made when the present pair of `best` and `opened` was reached."""
        self.t_last_ms = 0
        """Time of the last action; 0 before the first."""
        self.draws_in_a_row = 0
        """Draws since the last action other than a draw, at most DRAWS_COUNTED."""
        # Lowest heights reached before the last undo; empty while nothing was undone.
        self._lows: tuple[int, ...] = ()
        self._past: list[_Before] = []

    def check(self, action: Action) -> None:
        """Raise IllegalMove if `action` would be refused now; change nothing."""
        if action is UNDO:
            refusal = self.undo_refusal
        else:
            refusal = OVER if self.table.is_won else self.table.refusal(action)
        if refusal is not None:
            raise IllegalMove(refusal)

    def play(self, move: Move, t_ms: int, reveals: Sequence[int] = ()) -> Step:
        """Apply `move` at `t_ms`. Raise IllegalMove and change nothing if it is refused.

        On a view, `reveals` are the cards that the server says were turned up.
        """
        table = self.table
        if table.is_won:
            raise IllegalMove(OVER)
        table_opened = table.opened
        step = table.push(move, reveals)
        self._note(None)
        self.seq += 1
        self.t_last_ms = t_ms
        if move.count:
            self.draws_in_a_row = 0
        elif self.draws_in_a_row < DRAWS_COUNTED:
            self.draws_in_a_row += 1
        if table.best > self.best or table.opened != table_opened:
            best, opened = max(self.best, table.best), self._opened_with(self._lows)
            if best != self.best or opened != self.opened:
                self.best, self.opened = best, opened
                self.t_best_ms, self.m_best = t_ms, self.seq
        return step

    def undo(self, t_ms: int) -> Step:
        """Take the last step back at `t_ms`, which is a move by itself, and return that step.

        What was reached stays reached: `best` and `opened` are kept. Raise IllegalMove and change
        nothing if the policy or the position forbids it.
        """
        refusal = self.undo_refusal
        if refusal is not None:
            raise IllegalMove(refusal)
        table = self.table
        table_opened, table_lows = table.opened, table.lows
        step = table.pop()
        self._note(step)
        self.seq += 1
        self.t_last_ms = t_ms
        self.draws_in_a_row = 0
        if table.opened != table_opened:
            # What the step opened stays opened; the table forgets it.
            lows = self._lows
            self._lows = tuple(map(min, table_lows, lows)) if lows else table_lows
        return step

    def _note(self, undone: Step | None) -> None:
        """Keep what `take_back` needs of an action that is on its way."""
        before = (
            self.best, self.opened, self.t_best_ms, self.m_best, self.t_last_ms,
            self.draws_in_a_row, self._lows, undone,
        )  # fmt: skip
        self._past.append(before)

    def act(self, action: Action, t_ms: int, reveals: Sequence[int] = ()) -> Step:
        """Play a move or undo, whichever `action` is; see `play` and `undo`."""
        return self.undo(t_ms) if action is UNDO else self.play(action, t_ms, reveals)

    def take_back(self) -> None:
        """Make the last action, a move or an undo, as if it had never been accepted.

        This is not an action of the player: the server does it when a commit fails, the client when
        the server refuses what it showed already. Raise IndexError if there is no action, or if
        the last one is settled.
        """
        (
            self.best, self.opened, self.t_best_ms, self.m_best, self.t_last_ms,
            self.draws_in_a_row, self._lows, undone,
        ) = self._past.pop()  # fmt: skip
        self.seq -= 1
        if undone is None:
            self.table.pop()
        else:
            self.table.push(undone.move, undone.reveals)

    def settle(self, t_ms: int) -> None:
        """Put the time of the last action right, when the clock that counts has named it.

        From then on it stands: `take_back` reaches no further.
        """
        self._past.clear()
        self.t_last_ms = t_ms
        if self.m_best == self.seq:
            self.t_best_ms = t_ms

    @property
    def moves(self) -> int:
        """Moves made as the rules count them: every action is one."""
        return self.seq

    @property
    def home(self) -> int:
        """Cards on foundations now, less those that the deal put there."""
        return self.table.home

    @property
    def lows(self) -> tuple[int, ...]:
        """Lowest height reached per column and reserve, undone or not."""
        return self._lowest_with(self._lows)

    @property
    def is_won(self) -> bool:
        return self.table.is_won

    @property
    def t_won_ms(self) -> int | None:
        """Time of the win: nothing is accepted after it."""
        return self.t_last_ms if self.table.is_won else None

    @property
    def undo_refusal(self) -> str | None:
        """Why an undo would be refused now, as a sentence; None if it would be accepted."""
        if self.table.is_won:
            return OVER
        if self.policy is UndoPolicy.NONE:
            return "undo is switched off here"
        history = self.table.history
        if len(history) <= self._steps_before:
            return "there is nothing to undo"
        if self.policy is UndoPolicy.SAFE and history[-1].is_revealing:
            return "the last move turned up a card, so it stands"
        return None

    @property
    def can_undo(self) -> bool:
        return self.undo_refusal is None

    def outcome(self, seat: int) -> Outcome:
        """Give what ranks this run as that of `seat`."""
        return Outcome(
            seat=seat,
            has_moved=self.seq > 0,
            has_won=self.is_won,
            t_ms=self.t_won_ms or 0,
            moves=self.seq,
            best=self.best,
            opened=self.opened,
            t_best_ms=self.t_best_ms,
            m_best=self.m_best,
        )

    @property
    def is_stuck_for_good(self) -> bool:
        """Whether no action can ever lead to progress, undos included. Full tables only.

        It looks into the hidden stock, so it must not reach the player. Cheap unless the position
        is stuck.
        """
        undone: list[Step] = []
        try:
            while self.table.is_stuck:
                if not self.can_undo:
                    return True
                undone.append(self.table.pop())
            return False
        finally:
            self._put_back(undone)

    @property
    def is_known_stuck(self) -> bool:
        """Whether "no legal move left" follows from cards that this player has seen.

        After a whole pass of draws the player has seen every card of stock and waste, so that even
        the answer of a full table gives nothing away. A view, which forgets them with each
        turn-over, goes by the positions on the way: it never says so before the full table does.
        """
        table = self.table
        if table.is_stuck_visibly:
            return True
        length = table.pass_length
        if length is None or self.draws_in_a_row < length:
            return False
        if self._is_view:
            return self._saw_a_pass_without_moves(length)
        return table.is_stuck

    def _saw_a_pass_without_moves(self, length: int) -> bool:
        """Whether the last `length` actions, all draws, came round without any other legal move.

        Where a draw turns several cards, a pass begun in the middle may not come round at once.
        """
        here = self.table.hash
        undone: list[Step] = []
        try:
            for _ in range(length):
                if any(move != DRAW for move in self.table.legal_moves):
                    return False
                undone.append(self.table.pop())
            return self.table.hash == here
        finally:
            self._put_back(undone)

    def _put_back(self, undone: list[Step]) -> None:
        """Push steps again that were popped, the last popped first."""
        for step in reversed(undone):
            self.table.push(step.move, step.reveals)

    def _lowest_with(self, lows: tuple[int, ...]) -> tuple[int, ...]:
        """Lower `lows`, if there are any, to what the table has reached since."""
        return tuple(map(min, self.table.lows, lows)) if lows else self.table.lows

    def _opened_with(self, lows: tuple[int, ...]) -> int:
        """Count what the table opened together with what was opened before an undo."""
        opened = self.table.opened
        if lows:
            opened += sum(self.table.lows) - sum(self._lowest_with(lows))
        return opened
