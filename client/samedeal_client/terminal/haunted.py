"""A replay whose runs are raced against: opened from a result, a board row or the replay screen."""

from collections.abc import Sequence
from dataclasses import dataclass

from samedeal_client.cli.sources import Source, chosen
from samedeal_client.ghosts import Ghosts
from samedeal_client.replays import Replay, ReplayModel

__all__ = ["Haunted"]


@dataclass(frozen=True, slots=True)
class Haunted:
    """The file that the deal is taken from, and the runs of it that are shown as ghosts."""

    replay: Replay
    ghosts: Ghosts

    @classmethod
    def of(cls, source: Source, seats: Sequence[int] = ()) -> "Haunted":
        """The runs of these seats, of the one that was named, or all. Raise ClientError."""
        # The model tells players of one name apart.
        return cls(source.replay, Ghosts(ReplayModel(chosen([source], seats)).tracks))
