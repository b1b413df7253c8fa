"""What happens in a race, as its player learns of it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from samedeal.engine.run import Action
from samedeal.engine.table import Step
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import PlayerView, RaceId, RaceView

__all__ = [
    "Acked",
    "Closed",
    "Event",
    "Go",
    "LinkBack",
    "LinkLost",
    "Moved",
    "Notice",
    "RivalProgress",
    "RolledBack",
    "RoomChanged",
    "TakenOver",
]


@dataclass(frozen=True, slots=True)
class RoomChanged:
    """Someone came, went, said ready; the options or the phase changed."""

    before: RaceView
    view: RaceView


@dataclass(frozen=True, slots=True)
class Go:
    """The clock runs, the board is dealt."""

    view: RaceView


@dataclass(frozen=True, slots=True)
class RivalProgress:
    """These other players moved on."""

    players: tuple[PlayerView, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know, as a sentence."""

    kind: Literal["stuck", "last_call", "store"]
    sentence: str


@dataclass(frozen=True, slots=True)
class Acked:
    """An own action is in the durable log."""

    request_id: int
    seq: int
    t_ms: int
    action: Action
    step: Step


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Own actions that were shown already are refused, and taken off the table."""

    request_ids: tuple[int, ...]
    code: ErrorCode
    sentence: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The race is over; the view has the final order and the seed."""

    view: RaceView


@dataclass(frozen=True, slots=True)
class Moved:
    """The room goes on in another race."""

    to: RaceId
    code: str


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Another connection of the same player holds the seat now."""

    sentence: str


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The connection broke; it is being made again. The clock of the race runs on."""

    reason: str


@dataclass(frozen=True, slots=True)
class LinkBack:
    """The connection is back, and the seat with it."""


Event: TypeAlias = (
    RoomChanged
    | Go
    | RivalProgress
    | Notice
    | Acked
    | RolledBack
    | Closed
    | Moved
    | TakenOver
    | LinkLost
    | LinkBack
)
