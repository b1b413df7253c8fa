"""One player's board as watchers see it: what was played of its log, and what waits its time."""

import asyncio
from collections.abc import Iterable

from samedeal.protocol.fields import Spectating
from samedeal.protocol.watch_messages import WatchedBoard
from samedeal_server.runs import IN_A_ROW, LiveRun

__all__ = ["FollowedRun"]

MAX_MARKS = 8
"""Actions that one message names; of more the latest are shown."""


class FollowedRun:
    """The fold of a log up to a time, which may lie behind the newest that is known of it."""

    def __init__(self, player: str, live: LiveRun) -> None:
        self.player = player
        self._live = live
        self._waiting: list[tuple[str, int]] = []
        self._told = 0

    @property
    def known(self) -> int:
        """Number of the last action heard of."""
        return self.seq + len(self._waiting)

    @property
    def seq(self) -> int:
        """Number of the last action played."""
        return len(self._live.entries)

    @property
    def due_ms(self) -> int | None:
        """When the next action that waits was made; None if none does."""
        return self._waiting[0][1] if self._waiting else None

    @property
    def has_news(self) -> bool:
        """Whether anything was played since `told`."""
        return self.seq != self._told

    def hear(self, log: Iterable[tuple[str, int]]) -> None:
        """Take the actions that follow on the known ones."""
        self._waiting += log

    def play_until(self, t_ms: float) -> None:
        """Play what was made by then. Raise EngineError for a damaged log."""
        while self.play_some_until(t_ms):
            pass

    async def play_in_turns_until(self, t_ms: float) -> None:
        """The same, but whatever else is to be done comes in between if it is much."""
        while True:
            if not self.play_some_until(t_ms):
                return
            await asyncio.sleep(0)

    def play_some_until(self, t_ms: float) -> bool:
        """Play a little of it, and return whether there is more."""
        due = 0
        most = min(len(self._waiting), IN_A_ROW)
        while due < most and self._waiting[due][1] <= t_ms:
            due += 1
        due_now, self._waiting = self._waiting[:due], self._waiting[due:]
        self._live.replay(due_now)
        return due == IN_A_ROW

    def told(self) -> None:
        """Everyone has been sent what was played so far."""
        self._told = self.seq

    def board(self, seat: int, shows: Spectating) -> WatchedBoard:
        """The board, or only its shape, with what was played since `told` or else the last mark."""
        entries, table = self._live.entries, self._live.run.table
        since = max(min(self._told, self.seq - 1), self.seq - MAX_MARKS, 0)
        marks = tuple(entry.action for entry in entries[since:])
        t_ms = entries[-1].t_ms if entries else 0
        if shows is Spectating.SHAPE:
            heights = tuple((hidden, len(cards)) for hidden, cards in table.piles())
            return WatchedBoard(seat=seat, seq=self.seq, t_ms=t_ms, heights=heights, marks=marks)
        return WatchedBoard(
            seat=seat,
            seq=self.seq,
            t_ms=t_ms,
            piles=tuple(table.piles()),
            base=table.base,
            passes=table.passes,
            marks=marks,
        )
