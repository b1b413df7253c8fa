"""What does a player know of a race, and what is shown before the server has answered? No I/O.

A `RaceModel` holds the room and the own run. An own action is played on the table at once and kept
in the outbox until the server has answered. Every answer takes what is shown ahead of it off the
table, puts the confirmed action there with the cards it turned up, and shows the rest again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from samedeal.engine.deals import commitment
from samedeal.engine.errors import EngineError, IllegalMove
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.rules import Rules
from samedeal.engine.run import UNDO, Action, Run
from samedeal.engine.table import Step, Table
from samedeal.protocol import server_messages as wire
from samedeal.protocol.client_messages import PlayMove, PlayUndo
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import BoardView, Phase, PlayerView, RaceView, Status
from samedeal_client import events
from samedeal_client.errors import OutOfStep, Refused

__all__ = ["RaceEvent", "RaceModel", "is_temporary"]

RaceEvent: TypeAlias = (
    wire.Room | wire.Go | wire.Progress | wire.Notice | wire.Closed | wire.Moved | wire.TakenOver
)
"""What the server says of a race by itself."""

_PHASES: Final = tuple(Phase)


def is_temporary(refusal: wire.Refused) -> bool:
    """Whether the same request may be sent again later."""
    return refusal.retry_ms is not None or refusal.code in (
        ErrorCode.SEQ_GAP,
        ErrorCode.STORE_UNAVAILABLE,
        ErrorCode.SHUTTING_DOWN,
    )


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """An action in the outbox, and the request that asks for it."""

    action: Action
    request: PlayMove | PlayUndo


class RaceModel:
    """One race as one player sees it. `now_s` is any clock that does not go back."""

    def __init__(self, seated: wire.Seated, ids: Iterator[int], now_s: float) -> None:
        self.seat: Final = seated.seat
        self.view = seated.race
        """The room; the newest of what the server said."""
        self.commitment: Final = seated.race.commitment
        """As it was when the seat was taken: a later one must not differ."""
        self.needs_resync = False
        """Whether the table has gone out of step: resume with `have`, which is 0 then."""
        self._ids = ids
        self._run: Run | None = None
        self._log: list[Action] = []
        self._outbox: list[_Unanswered] = []
        self._shown = 0
        self._go_at_s = 0.0
        self.seated(seated, now_s)

    # How it stands

    @property
    def rules(self) -> Rules:
        """The game."""
        return game(self.view.game)

    @property
    def own(self) -> PlayerView | None:
        """The own seat as the others see it; None after it was given back."""
        return next((one for one in self.view.players if one.seat == self.seat), None)

    @property
    def run(self) -> Run | None:
        """The own run with what is shown ahead of the server; None before GO."""
        return self._run

    @property
    def have(self) -> int:
        """Accepted actions this model is sure of."""
        return 0 if self.needs_resync else len(self._log)

    @property
    def outbox(self) -> Sequence[PlayMove | PlayUndo]:
        """Requests not answered yet, oldest first. To send one twice does no harm."""
        return [entry.request for entry in self._outbox]

    @property
    def is_playing(self) -> bool:
        """Whether an action of this player could still count."""
        return (
            self.view.phase is Phase.RUNNING
            and self._run is not None
            and not self._run.is_won
            and self.own is not None
            and self.own.status is Status.PLAYING
        )

    def clock_ms(self, now_s: float) -> int:
        """Time since GO as the server counts it, link delay apart; negative in the countdown."""
        if self.view.phase in (Phase.LOBBY, Phase.CLOSED):
            return self.view.clock_ms
        return round((now_s - self._go_at_s) * 1000)

    @property
    def is_commitment_kept(self) -> bool:
        """Whether the seed, known after the close, gives the deal promised when the seat was taken."""
        seed = self.view.seed
        return seed is not None and commitment(self.rules, bytes.fromhex(seed)) == self.commitment

    # What the player does

    def play(self, move: Move) -> PlayMove:
        """Show `move` and return the request for it.

        Raise IllegalMove, or Refused where no move counts now; nothing changes then.
        """
        run = self._open_run()
        run.play(move, run.t_last_ms)
        request = PlayMove(
            id=next(self._ids), race=self.view.id, seq=self._next_seq, move=str(move)
        )
        return self._sent(move, request)

    def undo(self) -> PlayUndo:
        """Show the last step undone and return the request for it. Raise as `play` does."""
        run = self._open_run()
        run.undo(run.t_last_ms)
        return self._sent(
            UNDO, PlayUndo(id=next(self._ids), race=self.view.id, seq=self._next_seq)
        )

    @property
    def _next_seq(self) -> int:
        return len(self._log) + len(self._outbox) + 1

    def _open_run(self) -> Run:
        own = self.own
        if own is None:
            raise Refused(ErrorCode.NOT_SEATED, "you have left this race")
        if self.view.phase is Phase.CLOSED or own.status is not Status.PLAYING:
            raise Refused(ErrorCode.RUN_OVER, "your run is over: nothing more counts")
        if self._run is None:
            raise Refused(ErrorCode.WRONG_PHASE, "the race has not begun; wait for GO")
        if self._shown < len(self._outbox):
            raise IllegalMove("wait: what was played before is not settled yet")
        return self._run

    def _sent[Request: (PlayMove, PlayUndo)](self, action: Action, request: Request) -> Request:
        self._outbox.append(_Unanswered(action, request))
        self._shown += 1
        return request

    # What the server says

    def received(self, message: RaceEvent, now_s: float) -> list[events.Event]:
        """Take in an event of this race."""
        before = self.view
        match message:
            case wire.Room():
                self._look(message.race, now_s)
                return [events.RoomChanged(before, self.view)]
            case wire.Go():
                self._look(message.race, now_s)
                if self._run is None:
                    self._deal(message.board)
                    self._check(message.hash)
                return [events.Go(self.view)]
            case wire.Progress():
                return self._progress(message)
            case wire.Notice():
                return [events.Notice(message.kind, message.sentence)]
            case wire.Closed():
                self._look(message.race, now_s)
                return [events.Closed(self.view)]
            case wire.Moved():
                if self.view.next == message.to:
                    return []
                self.view = self.view.model_copy(update={"next": message.to})
                return [events.Moved(message.to, message.code)]
            case wire.TakenOver():
                return [events.TakenOver(message.sentence)]
            case _:
                assert_never(message)

    def acked(self, ack: wire.Ack) -> list[events.Event]:
        """Take in the answer to an action. One that was answered before changes nothing."""
        if self._run is None or not any(entry.request.id == ack.id for entry in self._outbox):
            return []
        if self._outbox[0].request.id != ack.id or ack.seq != len(self._log) + 1:
            self.needs_resync = True
            return []
        self._hide()
        entry = self._outbox.pop(0)
        accepted = self._accept(entry.action, ack.t_ms, ack.reveals)
        self._check(ack.hash)
        self._show()
        if accepted is None:
            self._outbox.insert(0, entry)
            return []
        return [events.Acked(ack.id, ack.seq, ack.t_ms, entry.action, accepted)]

    def refused(self, refusal: wire.Refused) -> list[events.Event]:
        """Take in that an action is refused: it and what was built on it come off the table.

        A temporary refusal changes nothing: the outbox is to be sent again.
        """
        at = next((at for at, e in enumerate(self._outbox) if e.request.id == refusal.id), None)
        if at is None:
            return []
        lost_by_server = (
            refusal.expected is not None and refusal.expected < self._outbox[0].request.seq
        )
        if refusal.code is ErrorCode.SEQ_CONFLICT or lost_by_server:
            self.needs_resync = True
            return []
        if is_temporary(refusal):
            return []
        self._hide()
        rolled_back = self._drop(at, refusal.code, refusal.sentence)
        self._show()
        return rolled_back

    def seated(self, seated: wire.Seated, now_s: float) -> list[events.Event]:
        """Take in the answer to a resume: fold in what happened, keep what is still to be sent.

        Actions of the outbox that the server has are settled. Actions that it acknowledged and
        then lost (a store that failed over) go back into the outbox. Raise OutOfStep if the table
        differs from the server's although it was played from the deal.
        """
        self._look(seated.race, now_s)
        if seated.board is None:
            return []
        self._hide()
        lost = self._log[seated.seq :]
        from_deal = self._run is None or self.needs_resync
        if from_deal:
            self._deal(seated.board)
        else:
            for _ in lost:
                self._fold().take_back()
            del self._log[seated.seq :]
        self.needs_resync = False
        settled = self._fold_log(seated.log)
        self._check(seated.hash)
        if len(self._log) != seated.seq or self.needs_resync:
            if from_deal:
                raise OutOfStep
            self.needs_resync = True
        self._restore(lost)
        self._show()
        return settled

    # Helpers

    def _look(self, view: RaceView, now_s: float) -> None:
        """Take a view of the room unless a newer one is known."""
        known = self.view
        newer = (_PHASES.index(view.phase), view.ver) >= (_PHASES.index(known.phase), known.ver)
        if not newer or view.id != known.id:
            return
        self.view = view
        self._go_at_s = now_s - view.clock_ms / 1000

    def _progress(self, progress: wire.Progress) -> list[events.Event]:
        if progress.ver < self.view.ver or self.view.phase is Phase.CLOSED:
            return []
        new = {player.seat: player for player in progress.players}
        players = tuple(new.get(player.seat, player) for player in self.view.players)
        self.view = self.view.model_copy(update={"players": players, "ver": progress.ver})
        rivals = tuple(player for player in progress.players if player.seat != self.seat)
        return [events.RivalProgress(rivals)] if rivals else []

    def _deal(self, board: BoardView) -> None:
        try:
            table = Table.from_piles(
                self.rules, board.piles, base=board.base, passes=board.passes
            )
        except EngineError as error:
            raise OutOfStep from error
        self._run = Run(table, self.view.options.undo)
        self._log = []

    def _fold(self) -> Run:
        assert self._run is not None
        return self._run

    def _check(self, server_hash: int) -> None:
        if self._fold().table.hash != server_hash:
            self.needs_resync = True

    def _accept(self, action: Action, t_ms: int, reveals: Sequence[int]) -> Step | None:
        """Play an action that the server has; if it cannot be played here, say out of step."""
        try:
            step = self._do(action, t_ms, reveals)
        except IllegalMove:
            self.needs_resync = True
            return None
        self._log.append(action)
        return step

    def _do(self, action: Action, t_ms: int, reveals: Sequence[int] = ()) -> Step:
        run = self._fold()
        return run.undo(t_ms) if action is UNDO else run.play(action, t_ms, reveals)

    def _fold_log(self, log: Sequence[wire.LogEntry]) -> list[events.Event]:
        settled: list[events.Event] = []
        for entry in log:
            if entry.seq <= len(self._log):
                continue
            action = UNDO if entry.move is None else Move.parse(entry.move)
            step = None
            if entry.seq == len(self._log) + 1:
                step = self._accept(action, entry.t_ms, entry.reveals)
            if step is None:
                self.needs_resync = True
                break
            settled += self._settle(entry, action, step)
        return settled

    def _settle(self, entry: wire.LogEntry, action: Action, step: Step) -> list[events.Event]:
        """Answer the request in the outbox that carries this number, if there is one."""
        if not self._outbox or self._outbox[0].request.seq != entry.seq:
            return []
        if self._outbox[0].action != action:
            sentence = f"action {entry.seq} was {action}, played by another connection"
            return self._drop(0, ErrorCode.SEQ_CONFLICT, sentence)
        request = self._outbox.pop(0).request
        return [events.Acked(request.id, entry.seq, entry.t_ms, action, step)]

    def _restore(self, lost: Sequence[Action]) -> None:
        """Put actions back at the head of the outbox, numbered on from the log."""
        first = len(self._log) + 1
        again = [
            _Unanswered(
                action,
                PlayUndo(id=next(self._ids), race=self.view.id, seq=seq)
                if action is UNDO
                else PlayMove(id=next(self._ids), race=self.view.id, seq=seq, move=str(action)),
            )
            for seq, action in enumerate(lost, start=first)
        ]
        self._outbox[:0] = again

    def _drop(self, at: int, code: ErrorCode, sentence: str) -> list[events.Event]:
        dropped, self._outbox = self._outbox[at:], self._outbox[:at]
        return [events.RolledBack(tuple(e.request.id for e in dropped), code, sentence)]

    def _hide(self) -> None:
        """Take off the table what is not confirmed."""
        for _ in range(self._shown):
            self._fold().take_back()
        self._shown = 0

    def _show(self) -> None:
        """Play the outbox ahead of the server, up to what cannot be played as far as is known."""
        run = self._fold()
        for entry in self._outbox:
            try:
                self._do(entry.action, run.t_last_ms)
            except IllegalMove:
                return
            self._shown += 1
