"""Recorded runs of a deal to race against: how each stood at a time, who was ahead at the end.

Ghosts live in the client alone; the server knows nothing of them, so they are never ranked. What
is shown of one is marked as such: its name begins with "ghost of".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from samedeal.engine.games import game
from samedeal.engine.replay import Verified
from samedeal.engine.run import UndoPolicy
from samedeal.engine.scoring import Outcome, final_order
from samedeal_client.connection import Client, Race
from samedeal_client.errors import ClientError
from samedeal_client.replays import Frame, Track

__all__ = ["Ghost", "GhostPlace", "Ghosts", "open_ghost_race", "resume_ghost_race"]

LEAST_LIMIT_S = 10
MOST_LIMIT_S = 24 * 3600
OWN = 0
"""Stands for the live player where seats of ghosts are counted from 1."""


@dataclass(frozen=True, slots=True)
class Ghost:
    """How a recorded run stood at a time."""

    name: str
    home: int
    best: int
    opened: int
    moves: int
    t_ms: int
    """Time of its last action by then."""
    won: bool
    is_done: bool
    """Whether its last action was made by then."""


@dataclass(frozen=True, slots=True)
class GhostPlace:
    """One line of the comparison at the end."""

    place: int
    name: str
    is_ghost: bool
    outcome: Outcome


class Ghosts:
    """Recorded runs of one deal beside a live one."""

    def __init__(self, tracks: Sequence[Track]) -> None:
        self._tracks = tuple(tracks)

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(_name(track) for track in self._tracks)

    def at(self, t_ms: float) -> tuple[Ghost, ...]:
        """How they stood at a time from GO, the one with most cards home first."""
        ghosts = [_ghost(track, track.frames[track.seq_at(int(t_ms))]) for track in self._tracks]
        return tuple(sorted(ghosts, key=lambda ghost: -ghost.best))

    def next_end_ms(self, t_ms: float) -> int | None:
        """When the next of them makes its last action; None if all have by then."""
        return min((track.end_ms for track in self._tracks if track.end_ms > t_ms), default=None)

    def ended_at(self, t_ms: int) -> tuple[Ghost, ...]:
        """Those that made their last action at this very time."""
        return tuple(
            _ghost(track, track.frames[-1]) for track in self._tracks if track.end_ms == t_ms
        )

    def compared(self, name: str, own: Outcome) -> tuple[GhostPlace, ...]:
        """Rank the live run among them, as if all had raced at once."""
        names = {number: _name(track) for number, track in enumerate(self._tracks, start=1)}
        outcomes = {
            number: _outcome(track, number) for number, track in enumerate(self._tracks, start=1)
        }
        names[OWN] = name
        outcomes[OWN] = replace(own, seat=OWN)
        return tuple(
            GhostPlace(placed.place, names[placed.seat], placed.seat != OWN, outcomes[placed.seat])
            for placed in final_order(outcomes.values())
        )


async def open_ghost_race(client: Client, file: Verified) -> Race:
    """Open a practice race of one seat on the deal of a replay, under its undo policy.

    Raise ClientError if this release or the server would not deal the same under the same rules.
    """
    rules = game(file.game)
    if file.rules_version != rules.version:
        raise ClientError(
            f"it was played by version {file.rules_version} of the rules of {rules.id}; "
            f"races are by version {rules.version} now"
        )
    limit_s = file.options.get("time_limit_s")
    race = await client.create_race(
        file.game,
        seed=file.seed,
        seats=1,
        undo=UndoPolicy(str(file.options["undo"])),
        time_limit_s=min(max(int(limit_s or MOST_LIMIT_S), LEAST_LIMIT_S), MOST_LIMIT_S),
    )
    if race.view.commitment != file.commitment:
        await race.leave()
        raise ClientError("the server deals other cards for this seed; update one of the two")
    return race


async def resume_ghost_race(client: Client, file: Verified, race_id: str) -> Race:
    """Take the own seat in a practice race on the deal of a replay again. Raise ClientError."""
    race = await client.resume(race_id)
    if race.view.commitment != file.commitment:
        raise ClientError(f"race {race_id} is on another deal than these ghosts")
    return race


def _name(track: Track) -> str:
    return f"ghost of {track.name}"


def _ghost(track: Track, frame: Frame) -> Ghost:
    is_done = frame.seq == track.last
    return Ghost(
        name=_name(track),
        home=frame.home,
        best=frame.best,
        opened=frame.opened,
        moves=frame.seq,
        t_ms=frame.t_ms,
        won=is_done and track.standing.won,
        is_done=is_done,
    )


def _outcome(track: Track, number: int) -> Outcome:
    row = track.standing
    return Outcome(
        seat=number,
        has_moved=row.moves > 0,
        has_won=row.won,
        t_ms=row.t_ms,
        moves=row.moves,
        best=row.best,
        opened=row.opened,
        t_best_ms=row.t_best_ms,
        m_best=row.m_best,
    )
