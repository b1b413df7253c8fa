"""What is said about watching a race: asked for by code or id, told as the policy of it allows."""

from typing import Annotated, Literal

from pydantic import Field

from samedeal.protocol.fields import (
    Card,
    Code,
    Count,
    Flag,
    FromServer,
    GameId,
    Message,
    MoveText,
    Ms,
    Name,
    PlayerView,
    RaceId,
    RaceView,
    RequestId,
    SeatNumber,
    Sentence,
    Seq,
    Spectating,
)

__all__ = [
    "LiveGet",
    "LiveRace",
    "LiveRaces",
    "Unwatch",
    "Watch",
    "WatchOver",
    "Watched",
    "WatchedBoard",
    "Watching",
]


class Watch(Message):
    """Watch a race, by its code or its id. Again on the same connection it gives the newest."""

    type: Literal["watch"] = "watch"
    id: RequestId
    code: Code | None = None
    race: RaceId | None = None


class Unwatch(Message):
    """Watch a race no more."""

    type: Literal["unwatch"] = "unwatch"
    id: RequestId
    race: RaceId


class LiveGet(Message):
    """The races that run and may be watched, the latest first."""

    type: Literal["live_get"] = "live_get"
    id: RequestId
    limit: Annotated[int, Field(strict=True, ge=1, le=50)] = 20


class WatchedBoard(FromServer):
    """One board as watchers may see it: `piles` under `boards`, `heights` under `shape`.

    Both are in the game's order. Neither is there before GO.
    """

    seat: SeatNumber
    seq: Seq
    """Actions played on it; with a delay that is fewer than the player has made."""
    t_ms: Ms = 0
    """When the last of them was accepted."""
    piles: tuple[tuple[Count, tuple[Card, ...]], ...] = ()
    """Hidden cards at the bottom, then the visible ones, bottom to top."""
    base: Annotated[int, Field(strict=True, ge=0, le=12)] | None = None
    passes: Count | None = None
    heights: tuple[tuple[Count, Count], ...] = ()
    """Hidden and visible cards of each pile, without rank or suit."""
    marks: tuple[MoveText, ...] = ()
    """The last actions, oldest first: from where to where, or `undo`."""


class Watching(FromServer):
    """Answer to `watch`, and event: all there is to see, as of now.

    As an event it comes when more than the play has changed, and in place of what a slow watcher
    has missed.
    """

    type: Literal["watching"] = "watching"
    id: RequestId | None = None
    race: RaceView
    shows: Spectating
    """What is shown now; after the close everything is."""
    reason: Sentence | None = None
    """Why it is not more."""
    boards: tuple[WatchedBoard, ...] = ()


class Watched(FromServer):
    """Event: these seats moved on. At most a few a second; each part replaces what was known."""

    type: Literal["watched"] = "watched"
    race: RaceId
    ver: Count
    players: tuple[PlayerView, ...] = ()
    boards: tuple[WatchedBoard, ...] = ()


class WatchOver(FromServer):
    """Event: this connection watches the race no more, and why."""

    type: Literal["watch_over"] = "watch_over"
    race: RaceId
    sentence: Sentence


class LiveRace(FromServer):
    """One race that runs, as the list has it."""

    race: RaceId
    code: Code
    game: GameId
    ranked: Flag
    shows: Spectating
    players: tuple[Name, ...]
    clock_ms: Ms
    """Since GO."""
    crowd: Count
    """About how many watch."""


class LiveRaces(FromServer):
    """Answer to `live_get`."""

    type: Literal["live"] = "live"
    id: RequestId
    races: tuple[LiveRace, ...]
