"""One player's side of a race without I/O: what was sent, what is certain, what is shown.

Messages go in, messages to send come out. The table shows the player's moves at once; each stays in
the outbox until the server's answer, survives a lost connection there, and is rolled back if the
server refuses it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from samedeal.engine.errors import IllegalMove
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.run import UNDO, Action, Run
from samedeal.engine.table import Table
from samedeal.protocol.client_messages import PlayMove, PlayUndo
from samedeal.protocol.fields import BoardView, RaceView
from samedeal.protocol.server_messages import Ack, LogEntry, Progress, Seated

__all__ = ["OutOfStep", "Outgoing", "RaceModel"]


class OutOfStep(Exception):
    """The server's word does not fit this state: take everything anew, with `have` 0."""


@dataclass(slots=True)
class Outgoing:
    """An action on its way."""

    message: PlayMove | PlayUndo
    action: Action
    is_shown: bool
    """Whether the table shows it; one whose outcome cannot be foreseen waits unshown."""


class RaceModel:
    """A race as one player sees it. `next_id` gives numbers for requests."""

    def __init__(self, seated: Seated, next_id: Callable[[], int]) -> None:
        self.view: RaceView = seated.race
        self.seat = seated.seat
        self.outbox: list[Outgoing] = []
        self._next_id = next_id
        self._run: Run | None = None
        self.resume(seated)

    @property
    def run(self) -> Run:
        """The own run with what is shown already. Raise IllegalMove before GO."""
        if self._run is None:
            raise IllegalMove("the race has not begun; wait for GO")
        return self._run

    @property
    def has_begun(self) -> bool:
        """Whether there is a board."""
        return self._run is not None

    @property
    def table(self) -> Table:
        """The own table with what is shown already."""
        return self.run.table

    @property
    def acked(self) -> int:
        """Number of the last action known to be accepted."""
        if self._run is None:
            return 0
        return self._run.seq - sum(entry.is_shown for entry in self.outbox)

    # What the player does

    def play(self, move: Move) -> PlayMove:
        """Show a move and return what to send. Raise IllegalMove if the visible cards forbid it."""
        self.run.check(move)
        message = PlayMove(
            id=self._next_id(), race=self.view.id, seq=self._next_seq(), move=str(move)
        )
        self._add(message, move)
        return message

    def undo(self) -> PlayUndo:
        """Show an undo and return what to send. Raise IllegalMove if it is not allowed."""
        self.run.check(UNDO)
        message = PlayUndo(id=self._next_id(), race=self.view.id, seq=self._next_seq())
        self._add(message, UNDO)
        return message

    def _next_seq(self) -> int:
        return self.acked + len(self.outbox) + 1

    def _add(self, message: PlayMove | PlayUndo, action: Action) -> None:
        self.outbox.append(Outgoing(message, action, is_shown=False))
        self._show_all()

    def _show_all(self) -> None:
        """Show the outbox on the table, as far as its outcome can be foreseen."""
        for entry in self.outbox:
            if entry.is_shown:
                continue
            try:
                self.run.act(entry.action, self.run.t_last_ms)
            except IllegalMove:
                return
            entry.is_shown = True

    def _hide_all(self) -> None:
        """Roll back to what is certain."""
        for entry in reversed(self.outbox):
            if entry.is_shown:
                self.run.take_back()
                entry.is_shown = False

    # What the server says

    def acknowledged(self, ack: Ack) -> None:
        """An action is in the log. Raise OutOfStep if it is not what this client sent."""
        if not self.outbox or self.outbox[0].message.seq != ack.seq:
            if ack.seq <= self.acked:
                return
            raise OutOfStep(f"an ack for action {ack.seq} came out of turn")
        self._hide_all()
        entry = self.outbox.pop(0)
        try:
            self.run.act(entry.action, ack.t_ms, ack.reveals)
        except IllegalMove as error:
            raise OutOfStep(str(error)) from None
        if self.table.hash != ack.hash:
            raise OutOfStep("the table differs from the server's")
        self._note_own_progress()
        self._show_all()

    def _note_own_progress(self) -> None:
        """Have the room's view show the own run as far as it is certain."""
        run = self.run
        news = {
            "home": run.home,
            "best": run.best,
            "opened": run.opened,
            "moves": run.moves,
            "t_ms": run.t_last_ms,
        }
        players = tuple(
            player.model_copy(update=news) if player.seat == self.seat else player
            for player in self.view.players
        )
        self.view = self.view.model_copy(update={"players": players})

    def refused(self, request: int) -> list[Outgoing]:
        """An action was refused: roll it back with all that stands on it. Return those dropped."""
        for at, entry in enumerate(self.outbox):
            if entry.message.id == request:
                self._hide_all()
                dropped = self.outbox[at:]
                del self.outbox[at:]
                self._show_all()
                return dropped
        return []

    def begin(self, board: BoardView, hash_: int) -> None:
        """GO: take the board as dealt. Raise OutOfStep if it does not have the server's hash."""
        self._run = self._dealt(board)
        if self._run.table.hash != hash_:
            raise OutOfStep("the board differs from the server's")

    def resume(self, seated: Seated) -> list[PlayMove | PlayUndo]:
        """Take over what the server knows; return what has to be sent again, in order.

        Raise OutOfStep if the run cannot be brought to the server's state.
        """
        self.view, self.seat = seated.race, seated.seat
        if seated.board is None:
            return []
        if self._run is not None:
            self._hide_all()
        first = seated.log[0].seq if seated.log else seated.seq + 1
        if self._run is None or first <= self._run.seq:
            self._run = self._dealt(seated.board)
        for entry in seated.log:
            self._follow(entry)
        if self._run.seq != seated.seq or self._run.table.hash != seated.hash:
            raise OutOfStep("the run differs from the server's")
        self.outbox = [entry for entry in self.outbox if entry.message.seq > seated.seq]
        self._show_all()
        return [entry.message for entry in self.outbox]

    def _dealt(self, board: BoardView) -> Run:
        rules = game(self.view.game)
        table = Table.from_piles(rules, board.piles, base=board.base, passes=board.passes)
        return Run(table, self.view.options.undo)

    def _follow(self, entry: LogEntry) -> None:
        action: Action = UNDO if entry.move is None else Move.parse(entry.move)
        try:
            self.run.act(action, entry.t_ms, entry.reveals)
        except IllegalMove as error:
            raise OutOfStep(str(error)) from None

    def take_view(self, view: RaceView) -> None:
        """Take a newer view of the room."""
        if view.id == self.view.id and view.ver >= self.view.ver:
            self.view = view

    def take_progress(self, progress: Progress) -> None:
        """Take how others moved on; older news is let go."""
        news = {player.seat: player for player in progress.players}
        players = tuple(
            new if (new := news.get(old.seat)) is not None and new.moves >= old.moves else old
            for old in self.view.players
        )
        ver = max(progress.ver, self.view.ver)
        self.view = self.view.model_copy(update={"players": players, "ver": ver})
