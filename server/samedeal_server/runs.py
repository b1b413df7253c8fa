"""One player's run as this node holds it: validate, commit, and pop back what fails."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from samedeal.engine.errors import EngineError, IllegalMove
from samedeal.engine.moves import Move
from samedeal.engine.replay import MAX_ACTIONS
from samedeal.engine.run import UNDO, Run
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import BoardView
from samedeal.protocol.limits import MAX_RUN_ACTIONS
from samedeal.protocol.server_messages import LogEntry
from samedeal_server.deals import Deal, deal
from samedeal_server.errors import Refusal, ServerError, StoreUnavailable
from samedeal_server.race import RaceState
from samedeal_server.store import keys
from samedeal_server.store.discovery import head, pack, slot_of
from samedeal_server.store.link import CommitLink
from samedeal_server.store.races import LIFETIME_MS
from samedeal_server.store.scripts import Script

__all__ = ["COMMIT", "Committed", "Fenced", "LiveRun", "over"]

COMMIT = Script("commit")
_UNDO = UNDO.value

LATE_MS = 250
"""After so long a race whose time is up is closed, or is known to go on."""

_VARIED = 7
"""Words of a commit's command that differ from action to action."""
_COUNT = len(f"*{_VARIED}\r\n")
"""Bytes of the line that counts them."""

IN_A_ROW = 200
"""Actions of a log that are played before others have their turn: some 3 ms."""


class Fenced(ServerError):
    """A newer connection holds the seat; this board is out of date."""


class Committed(NamedTuple):
    """An action that is in the durable log."""

    seq: int
    action: str
    t_ms: int
    hash: int
    reveals: tuple[int, ...]

    def log_entry(self) -> LogEntry:
        """The entry as it goes to the player."""
        move = None if self.action == _UNDO else self.action
        return LogEntry(seq=self.seq, t_ms=self.t_ms, move=move, reveals=self.reveals)


Done = Callable[[Committed | ServerError, int | None], None]
"""Called with the result and the race's version, where the store named it."""


class LiveRun:
    """The fold of one player's log, and the way a new action gets into it.

    One commit is under way at a time; the caller waits for `done` before it submits the next.
    """

    def __init__(
        self,
        state: RaceState,
        seat: int,
        epoch: int,
        link: CommitLink,
        node: str,
        deal: Deal = deal,
    ) -> None:
        self._deal = partial(deal, state.game, state.seed)
        self.run = Run(self._deal(), state.options.undo)
        self.entries: list[Committed] = []
        # All of a race must fit into a replay file.
        self._most = min(MAX_RUN_ACTIONS, MAX_ACTIONS // state.options.seats)
        self.told_stuck = False
        self.marked_stuck_at = -1
        self.under_way: tuple[str, tuple[int, ...], Done] | None = None
        """The action that the store has yet to take, the cards it turned up, and whom to tell."""
        self._link = link
        race = keys.race(state.id)
        theirs = (race, keys.seat(state.id, seat), keys.log(state.id, seat))
        words = ("EVALSHA", COMMIT.sha, 3, *theirs, node, epoch, LIFETIME_MS)
        self._head = head(*words, more=_VARIED)
        self._slot = slot_of(race)

    def dealt_board(self) -> BoardView:
        """The deal as its player first sees it."""
        table = self._deal()
        return BoardView(piles=tuple(table.piles()), base=table.base, passes=table.passes)

    def replay(self, log: list[tuple[str, int]]) -> None:
        """Fold a stored log. Raise EngineError if it is not legal, which means a damaged store."""
        for action, t_ms in log:
            reveals = self._apply(action, t_ms)
            self._keep(action, t_ms, reveals)

    async def replay_in_turns(self, log: list[tuple[str, int]]) -> None:
        """The same, but whatever else is to be done comes in between if the log is long."""
        for at in range(0, len(log), IN_A_ROW):
            if at:
                await asyncio.sleep(0)
            self.replay(log[at : at + IN_A_ROW])

    def answered(self, seq: int, action: str) -> Committed | None:
        """Return the answer given to this action before, or None if it is the next one.

        Raise Refusal if the number was used for another action, or is not the next one.
        """
        have = len(self.entries)
        if seq == have + 1:
            return None
        if 1 <= seq <= have:
            entry = self.entries[seq - 1]
            if entry.action == action:
                return entry
            raise Refusal(
                ErrorCode.SEQ_CONFLICT,
                f"action {seq} was {entry.action} already",
                expected=have + 1,
            )
        raise Refusal(ErrorCode.SEQ_GAP, f"action {have + 1} comes next", expected=have + 1)

    def submit(self, action: str, done: Done) -> None:
        """Validate the next action and send it to the store; `done` is called once, later.

        Raise Refusal and change nothing if the rules forbid it. Until `done` says that it is
        committed, nobody may be told of it; if it says otherwise, the table is as before.
        """
        run = self.run
        if run.seq >= self._most:
            sentence = f"a run has at most {self._most} actions; bank your result"
            raise Refusal(ErrorCode.RUN_OVER, sentence)
        reveals = self._apply(action, run.t_last_ms)
        seq = run.seq
        rose, won = int(run.m_best == seq), int(run.table.is_won)
        varied = pack(seq, action, run.table.home, run.best, run.opened, rose, won)
        command = self._head + varied[_COUNT:]
        self.under_way = action, reveals, done
        self._link.submit(command, self._settle, slot=self._slot)

    def _apply(self, action: str, t_ms: int) -> tuple[int, ...]:
        """Play an action. Return the cards it turned up."""
        try:
            if action == _UNDO:
                self.run.undo(t_ms)
                return ()
            return self.run.play(Move.parse(action), t_ms).reveals
        except IllegalMove as error:
            raise Refusal(ErrorCode.ILLEGAL_MOVE, str(error)) from None
        except EngineError as error:
            raise Refusal(ErrorCode.UNREADABLE_MOVE, str(error)) from None

    def _settle(self, reply: Any) -> None:
        """Make of the store's reply what it means for the run."""
        assert self.under_way is not None
        action, reveals, done = self.under_way
        self.under_way = None
        if isinstance(reply, list) and reply[0] == b"done":
            _, t_ms, ver = reply
            self.run.settle(t_ms)
            done(self._keep(action, t_ms, reveals), ver)
            return
        if isinstance(reply, list) and reply[0] == b"again" and reply[1].decode() == action:
            # The reply to the first try was lost; the entry is this very action.
            t_ms = int(reply[2])
            self.run.settle(t_ms)
            done(self._keep(action, t_ms, reveals), None)
            return
        self.run.take_back()
        done(_failure(reply), None)

    def _keep(self, action: str, t_ms: int, reveals: tuple[int, ...]) -> Committed:
        entry = Committed(self.run.seq, action, t_ms, self.run.table.hash, reveals)
        self.entries.append(entry)
        return entry


def over() -> Refusal:
    """Give the refusal of whatever comes after the end of a run."""
    return Refusal(ErrorCode.RUN_OVER, "the run is over: nothing more counts")


def _failure(reply: Any) -> ServerError:
    if isinstance(reply, StoreUnavailable):
        return reply
    word = reply[0] if isinstance(reply, list) else reply
    if word == b"gap":
        # Nobody else writes under this epoch: the store went back to an older state of itself.
        return StoreUnavailable("the store lost actions of this run")
    if word in (b"fenced", b"again"):
        # Another action under this number: someone else wrote the log since.
        return Fenced("another connection holds this seat")
    if word == b"closed":
        return over()
    if word == b"late":
        sentence = (
            "the time is up: the race is closing, or an outage has lengthened it; send it again"
        )
        return Refusal(ErrorCode.SLOW_DOWN, sentence, retry_ms=LATE_MS)
    if word == b"early":
        return Refusal(ErrorCode.WRONG_PHASE, "the race has not begun; wait for GO")
    return StoreUnavailable(f"the store answered {word!r}")
