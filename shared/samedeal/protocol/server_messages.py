"""What the server may say: answers (with the request's `id`) and events (without)."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from samedeal.protocol.board_messages import Board, BoardRow, Friend, Friends
from samedeal.protocol.daily_messages import Daily
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import (
    BoardView,
    Card,
    Code,
    Count,
    Flag,
    FromServer,
    MoveText,
    Ms,
    Name,
    PlayerId,
    PlayerView,
    RaceId,
    RaceView,
    RequestId,
    SeatNumber,
    Sentence,
    Seq,
    Token,
)
from samedeal.protocol.lobby_messages import Lobby
from samedeal.protocol.match_messages import Match
from samedeal.protocol.people_messages import (
    AccountView,
    Announcement,
    Dismissed,
    ExportPart,
    LinkMade,
)
from samedeal.protocol.phrase_messages import Said
from samedeal.protocol.replay_messages import ReplayFile
from samedeal.protocol.watch_messages import LiveRaces, Watched, Watching, WatchOver

__all__ = [
    "SERVER_MESSAGE",
    "AccountView",
    "Ack",
    "Announcement",
    "Board",
    "BoardRow",
    "Closed",
    "Daily",
    "Dismissed",
    "Done",
    "ExportPart",
    "Friend",
    "Friends",
    "Go",
    "LinkMade",
    "LiveRaces",
    "Lobby",
    "LogEntry",
    "Match",
    "Moved",
    "Notice",
    "Pong",
    "Progress",
    "Refused",
    "ReplayFile",
    "Room",
    "Said",
    "Seated",
    "ServerMessage",
    "TakenOver",
    "WatchOver",
    "Watched",
    "Watching",
    "Welcome",
]


class Welcome(FromServer):
    """Answer to `hello`."""

    type: Literal["welcome"] = "welcome"
    id: RequestId
    player: PlayerId
    name: Name
    bot: Flag
    token: Token | None = None
    """Only for a new account or a new device of one, and only this once: the key to the account."""
    version: Annotated[str, Field(strict=True, max_length=32)]
    """Version of the server."""


class LogEntry(FromServer):
    """One accepted action of the own run; `move` is empty for an undo."""

    seq: Seq
    t_ms: Ms
    move: MoveText | None = None
    reveals: tuple[Card, ...] = ()
    """Cards it turned up, in order; automatic moves follow from them."""


class Seated(FromServer):
    """Answer to `create`, `join` and `resume`: the room, the own seat and, from GO on, the run.

    The run is the dealt board and the actions after `have`: a client that kept its state adds
    them to it, one that did not asks with `have` 0 and plays them all from the board.
    """

    type: Literal["seated"] = "seated"
    id: RequestId
    race: RaceView
    seat: SeatNumber
    seq: Seq = 0
    """Accepted actions so far."""
    hash: Count = 0
    """State hash of the own visible table now."""
    board: BoardView | None = None
    log: tuple[LogEntry, ...] = ()


class Done(FromServer):
    """Answer to `set_options`, `ready`, `start`, `bank` and `leave`: it is done."""

    type: Literal["done"] = "done"
    id: RequestId


class Ack(FromServer):
    """Answer to `move` and `undo`: it is in the durable log."""

    type: Literal["ack"] = "ack"
    id: RequestId
    race: RaceId
    seq: Seq
    t_ms: Ms
    hash: Count
    """State hash of the own visible table after the action."""
    reveals: tuple[Card, ...] = ()


class Refused(FromServer):
    """Answer to any request: it was not done, and why."""

    type: Literal["refused"] = "refused"
    id: RequestId | None
    """None where the frame was too broken to say which request it was."""
    code: ErrorCode
    sentence: Sentence
    expected: Seq | None = None
    retry_ms: Ms | None = None


class Moved(FromServer):
    """Answer to `next`, and event to everyone in the room: it goes on in another race."""

    type: Literal["moved"] = "moved"
    id: RequestId | None = None
    race: RaceId
    to: RaceId
    code: Code


class Pong(FromServer):
    """Answer to `ping`."""

    type: Literal["pong"] = "pong"
    id: RequestId


class Room(FromServer):
    """Event: something in the room changed that is not progress."""

    type: Literal["room"] = "room"
    race: RaceView


class Go(FromServer):
    """Event at GO: the clock runs, here is the own board as dealt."""

    type: Literal["go"] = "go"
    race: RaceView
    seat: SeatNumber
    hash: Count
    board: BoardView


class Progress(FromServer):
    """Event: these seats moved on. At most a few a second; the latest counts."""

    type: Literal["progress"] = "progress"
    race: RaceId
    ver: Count
    players: tuple[PlayerView, ...]


class Notice(FromServer):
    """Event: something this player should know, as a sentence."""

    type: Literal["notice"] = "notice"
    race: RaceId
    kind: Literal["stuck", "last_call", "store"]
    sentence: Sentence


class Closed(FromServer):
    """Event: the race is over; `race` has the final order and the seed."""

    type: Literal["closed"] = "closed"
    race: RaceView


class TakenOver(FromServer):
    """Event: another connection of the same player holds this seat now."""

    type: Literal["taken_over"] = "taken_over"
    race: RaceId
    sentence: Sentence


ServerMessage = (
    Welcome
    | Seated
    | Done
    | Ack
    | Refused
    | ReplayFile
    | Board
    | Friends
    | Moved
    | Pong
    | Room
    | Said
    | Lobby
    | Match
    | Go
    | Progress
    | Notice
    | Closed
    | TakenOver
    | Daily
    | Watching
    | Watched
    | WatchOver
    | LiveRaces
    | AccountView
    | LinkMade
    | ExportPart
    | Announcement
    | Dismissed
)

SERVER_MESSAGE: TypeAdapter[ServerMessage] = TypeAdapter(
    Annotated[ServerMessage, Field(discriminator="type")]
)
