"""One player's side of a race without I/O: what was sent, what is certain, what is shown.

Messages go in, messages to send come out. The table shows the player's moves at once; each stays in
the outbox until the server's answer, survives a lost connection there, and is rolled back if the
server refuses it. What was acknowledged is remembered too: a server whose store lost some of it is
asked to accept it once more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from samedeal.engine.errors import EngineError, IllegalMove
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.run import UNDO, Action, Run
from samedeal.engine.table import Table
from samedeal.protocol.client_messages import PlayMove, PlayUndo
from samedeal.protocol.fields import BoardView, RaceView
from samedeal.protocol.server_messages import Ack, LogEntry, Progress, Seated

__all__ = ["OutOfStep", "Outgoing", "RaceModel", "Resumed"]


class OutOfStep(Exception):
    """The server's word does not fit this state: take everything anew, with `have` 0."""


@dataclass(slots=True)
class Outgoing:
    """An action on its way."""

    message: PlayMove | PlayUndo
    action: Action
    is_shown: bool = False
    """Whether the table shows it; one whose outcome cannot be foreseen waits unshown."""
    reveals: tuple[int, ...] = ()
    """The cards it turned up when it was acknowledged before, by a server that lost it since."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What taking over the server's state came to."""

    again: tuple[PlayMove | PlayUndo, ...]
    """To be sent, in order."""
    settled: tuple[Ack, ...]
    """Answers to what was in the outbox: the log of the server has it."""
    dropped: tuple[Outgoing, ...]
    """What can never be accepted: the log has other actions in its place."""
    lost: int
    """How many of the actions to send the server had acknowledged, and does not know any more."""


class RaceModel:
    """A race as one player sees it. `next_id` gives numbers for requests."""

    def __init__(self, seated: Seated, next_id: Callable[[], int]) -> None:
        self.view: RaceView = seated.race
        self.seat = seated.seat
        self.outbox: list[Outgoing] = []
        self._next_id = next_id
        self._run: Run | None = None
        self._log: list[tuple[Action, tuple[int, ...]]] = []
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
        return len(self._log)

    def is_under_way(self, request: int) -> bool:
        """Whether a request's action waits for its answer."""
        return any(entry.message.id == request for entry in self.outbox)

    # What the player does

    def play(self, move: Move) -> PlayMove | PlayUndo:
        """Show a move and return what to send. Raise IllegalMove if the visible cards forbid it."""
        return self._act(move)

    def undo(self) -> PlayMove | PlayUndo:
        """Show an undo and return what to send. Raise IllegalMove if it is not allowed."""
        return self._act(UNDO)

    def _act(self, action: Action) -> PlayMove | PlayUndo:
        self.run.check(action)
        message = self._request(action, self.acked + len(self.outbox) + 1)
        self.outbox.append(Outgoing(message, action))
        self._show_all()
        return message

    def _request(self, action: Action, seq: int) -> PlayMove | PlayUndo:
        if action is UNDO:
            return PlayUndo(id=self._next_id(), race=self.view.id, seq=seq)
        return PlayMove(id=self._next_id(), race=self.view.id, seq=seq, move=str(action))

    def _show_all(self) -> None:
        """Show the outbox on the table, as far as its outcome can be foreseen."""
        for entry in self.outbox:
            if entry.is_shown:
                continue
            try:
                self.run.act(entry.action, self.run.t_last_ms, entry.reveals)
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
        self._accept(self.run, entry.action, ack.t_ms, ack.reveals)
        self._log.append((entry.action, ack.reveals))
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

    def begin(self, board: BoardView, hash_: int) -> list[PlayMove | PlayUndo]:
        """GO: take the board as dealt. Return what has to be sent again.

        That is something only where the server had forgotten that the race had begun. Raise
        OutOfStep if the board does not have the server's hash.
        """
        run = self._dealt(board)
        if run.table.hash != hash_:
            raise OutOfStep("the board differs from the server's")
        self._run = run
        self._show_all()
        return [entry.message for entry in self.outbox]

    def resume(self, seated: Seated) -> Resumed:
        """Take over what the server knows, and keep what it does not know yet, or any more.

        Raise OutOfStep, and change nothing but the view, if the run cannot be brought to the
        server's state.
        """
        self.view, self.seat = seated.race, seated.seat
        if seated.board is None:
            return self._before_go()
        self._hide_all()
        try:
            return self._follow(seated, seated.board)
        finally:
            # Also where it does not fit: what is shown stays shown until all is taken anew.
            if self._run is not None:
                self._show_all()

    def _before_go(self) -> Resumed:
        """There is no board, or none any more: everything has to be played again after GO."""
        lost = len(self._log)
        if self._run is not None:
            self._hide_all()
            self.outbox[:0] = self._once_more(0)
            self._run, self._log = None, []
        return Resumed((), (), (), lost)

    def _follow(self, seated: Seated, board: BoardView) -> Resumed:
        """Fold the log of the server, and sort out what it says of the own actions."""
        first = seated.log[0].seq if seated.log else seated.seq + 1
        run, log = self._run, list(self._log)
        if run is None or first == 1:
            # Everything is told from the deal on, also where the server knows less than was acked.
            run, log = self._dealt(board), []
        news = [entry for entry in seated.log if entry.seq > len(log)]
        hashes = self._fold(run, news, seated)
        log += [(_action(entry), entry.reveals) for entry in news]
        mine = [action for action, _ in self._log] + [entry.action for entry in self.outbox]
        agreed = 0
        for own, (action, _) in zip(mine, log, strict=False):
            if own != action:
                break
            agreed += 1
        asked = {entry.message.seq: entry for entry in self.outbox}
        settled = tuple(
            self._ack(asked[entry.seq], entry, hashes[entry.seq])
            for entry in news
            if entry.seq <= agreed and entry.seq in asked
        )
        lost = self._once_more(agreed)
        rest = lost + [entry for entry in self.outbox if entry.message.seq > agreed]
        fits = agreed == min(len(mine), len(log))
        self._run, self._log = run, log
        self.outbox = rest if fits else []
        return Resumed(
            again=tuple(entry.message for entry in self.outbox),
            settled=settled,
            dropped=() if fits else tuple(rest),
            lost=len(lost) if fits else 0,
        )

    def _fold(self, run: Run, news: list[LogEntry], seated: Seated) -> dict[int, int]:
        """Play `news` on `run`. Return the hash after each action.

        Raise OutOfStep, with `run` as it was, if that does not lead to the server's state.
        """
        start, hashes = run.seq, {}
        try:
            for entry in news:
                if entry.seq != run.seq + 1:
                    raise OutOfStep(f"action {run.seq + 1} is missing in the server's log")
                self._accept(run, _action(entry), entry.t_ms, entry.reveals)
                hashes[entry.seq] = run.table.hash
            if run.seq != seated.seq or run.table.hash != seated.hash:
                raise OutOfStep("the run differs from the server's")
        except OutOfStep:
            while run.seq > start:
                run.take_back()
            raise
        return hashes

    def _once_more(self, after: int) -> list[Outgoing]:
        """Make requests anew of what was acknowledged beyond action `after`."""
        return [
            Outgoing(self._request(action, seq), action, reveals=reveals)
            for seq, (action, reveals) in enumerate(self._log[after:], start=after + 1)
        ]

    def _ack(self, asked: Outgoing, entry: LogEntry, hash_: int) -> Ack:
        """The answer that was lost on the way."""
        return Ack(
            id=asked.message.id,
            race=self.view.id,
            seq=entry.seq,
            t_ms=entry.t_ms,
            hash=hash_,
            reveals=entry.reveals,
        )

    def _dealt(self, board: BoardView) -> Run:
        try:
            rules = game(self.view.game)
            table = Table.from_piles(rules, board.piles, base=board.base, passes=board.passes)
        except EngineError as error:
            raise OutOfStep(str(error)) from None
        return Run(table, self.view.options.undo)

    def _accept(self, run: Run, action: Action, t_ms: int, reveals: Sequence[int]) -> None:
        try:
            run.act(action, t_ms, reveals)
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


def _action(entry: LogEntry) -> Action:
    try:
        return UNDO if entry.move is None else Move.parse(entry.move)
    except EngineError as error:
        raise OutOfStep(str(error)) from None
