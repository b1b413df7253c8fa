"""One race as this node has it: who is here, which versions are known, and who has moved on."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from samedeal.protocol.codec import encode
from samedeal.protocol.fields import Status
from samedeal.protocol.server_messages import ServerMessage
from samedeal_server.race import RaceState
from samedeal_server.runs import LiveRun

__all__ = ["Audience", "Member", "Room"]


class Member(Protocol):
    """A connection that holds a seat in a room."""

    seat: int
    epoch: int
    live: LiveRun | None

    def send(self, frame: bytes) -> None:
        """Write a frame now, without waiting."""

    def tell(self, framed: bytes, now: float) -> float | None:
        """Hand progress over, framed. Return when it is due, if it begins to wait for an ack."""

    def tell_due(self, now: float) -> None:
        """Write what has waited long enough."""

    def drop(self) -> None:
        """Forget what waits: it is in no room any more."""

    def fenced(self) -> None:
        """Another connection took the seat over: let go of it, and say so."""


class Audience(Protocol):
    """Those who watch a race from this node."""

    def took(self, old: RaceState, state: RaceState) -> None:
        """The race was read, and something besides the play may have changed."""

    def moved(self, seats: Collection[int]) -> None:
        """These seats have moved on."""

    def lost(self) -> None:
        """The store is back at an earlier state of the race."""

    def close(self) -> None:
        """The server stops."""


@dataclass(slots=True, eq=False)
class Room:
    """A race, and the members and watchers on this node."""

    state: RaceState
    members: dict[int, Member] = field(default_factory=dict)
    audience: Audience | None = None
    dirty: set[int] = field(default_factory=set)
    ver: int = 0
    """The newest version heard of."""
    read_ver: int = 0
    """The version that was read last."""
    seen: int = 0
    """The version up to which all are known: they were read, or are commits of this node."""
    own: set[int] = field(default_factory=set)
    """Commits of this node beyond a version that is not known."""
    told: int = 0
    """The newest version that members were told of; they never get an older one."""
    checked_at: float = 0.0
    last_progress: float = 0.0
    timer: asyncio.TimerHandle | None = None
    reading: bool = False
    read_again: bool = False

    @property
    def id(self) -> str:
        return self.state.id

    def tell(self, message: ServerMessage) -> None:
        """Send one message to every member, encoded once."""
        frame = encode(message)
        for member in list(self.members.values()):
            member.send(frame)

    @property
    def is_behind(self) -> bool:
        """Whether there are versions that nobody here has seen."""
        return self.ver > self.known_ver

    @property
    def known_ver(self) -> int:
        """The newest version, if nobody but this node has changed the race since it was read."""
        return self.seen + len(self.own)

    def committed(self, ver: int) -> None:
        """Take note of a commit of this node: nobody needs to read what it changed."""
        if ver > self.ver:
            self.ver = ver
        if ver == self.seen + 1:
            self.seen = ver
        elif ver > self.seen:
            self.own.add(ver)
        if self.own:
            self._close_up()

    def read(self, ver: int, now: float) -> None:
        """Take note of a reading."""
        self.read_ver, self.checked_at = ver, now
        self.ver, self.seen = max(self.ver, ver), max(self.seen, ver)
        if self.own:
            self.own = {own for own in self.own if own > ver}
            self._close_up()

    def _close_up(self) -> None:
        while self.seen + 1 in self.own:
            self.seen += 1
            self.own.remove(self.seen)

    def rewind(self, ver: int) -> None:
        """The store has lost what came after this version."""
        self.own.clear()
        self.ver = self.seen = ver

    def follow(self, seat: int, live: LiveRun) -> None:
        """Bring a record up to date with the run that is played on this node."""
        record, run = self.state.seats.get(seat), live.run
        if record is None or live.under_way is not None or run.seq < record.seq:
            return
        record.seq, record.home, record.best = run.seq, run.home, run.best
        record.opened, record.t_ms = run.opened, run.t_last_ms
        record.t_best_ms, record.m_best = run.t_best_ms, run.m_best
        if run.is_won:
            record.ended = Status.WON
