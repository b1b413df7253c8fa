"""What a client may say: one model a message, one union for all of them."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from samedeal.protocol.board_messages import BoardGet, FriendAdd, FriendRemove, FriendsGet
from samedeal.protocol.daily_messages import DailyGet, DailyPlay
from samedeal.protocol.ending_messages import EndRace
from samedeal.protocol.fields import (
    Code,
    Flag,
    GameId,
    Hex32,
    LinkCode,
    Message,
    MoveText,
    NameText,
    OptionsPatch,
    RaceId,
    RequestId,
    SeedText,
    Seq,
    Token,
)
from samedeal.protocol.lobby_messages import LobbyWatch
from samedeal.protocol.match_messages import MatchAnswer, MatchBot, MatchLeave, MatchQueue
from samedeal.protocol.people_messages import (
    AccountGet,
    Delete,
    Export,
    LinkMake,
    Rename,
    Rotate,
)
from samedeal.protocol.phrase_messages import Say
from samedeal.protocol.replay_messages import ReplayGet
from samedeal.protocol.watch_messages import LiveGet, Unwatch, Watch

__all__ = [
    "CLIENT_MESSAGE",
    "AccountGet",
    "Bank",
    "BoardGet",
    "ClientMessage",
    "Create",
    "DailyGet",
    "DailyPlay",
    "Delete",
    "EndRace",
    "Export",
    "FriendAdd",
    "FriendRemove",
    "FriendsGet",
    "Hello",
    "Join",
    "Leave",
    "LinkMake",
    "LiveGet",
    "LobbyWatch",
    "MatchAnswer",
    "MatchBot",
    "MatchLeave",
    "MatchQueue",
    "Next",
    "Ping",
    "PlayMove",
    "PlayUndo",
    "Ready",
    "Rename",
    "ReplayGet",
    "Resume",
    "Rotate",
    "Say",
    "SetOptions",
    "Start",
    "Unwatch",
    "Watch",
]


class Hello(Message):
    """First message: a token of an account, a link code to one, or a name for a new guest."""

    type: Literal["hello"] = "hello"
    id: RequestId
    name: NameText | None = None
    or_like: Flag = False
    """If somebody has the name, take a free one like it; else the hello is refused."""
    token: Token | None = None
    link: LinkCode | None = None
    """A code that another device of the account was given; the answer has a token for this one."""
    secret: Hex32 | None = None
    """For the token that a link code leads to: with the same one, a lost answer can be had again.
    The server draws one if there is none."""
    bot: Flag = False
    """A new account that plays by program; it is marked everywhere."""


class Create(Message):
    """Open a room; the asker is its host and takes seat 1."""

    type: Literal["create"] = "create"
    id: RequestId
    game: GameId
    options: OptionsPatch = OptionsPatch()
    seed: SeedText | None = None
    """A seed of the host's choosing makes a practice race. Without it the server draws 32 bytes."""


class Join(Message):
    """Take a seat by code, or come back to the one held."""

    type: Literal["join"] = "join"
    id: RequestId
    code: Code


class Resume(Message):
    """Come back to a seat held; `have` is the last action the client knows to be accepted."""

    type: Literal["resume"] = "resume"
    id: RequestId
    race: RaceId
    have: Seq = 0


class SetOptions(Message):
    """Change options; host only, in the lobby. Everyone's ready is taken back."""

    type: Literal["set_options"] = "set_options"
    id: RequestId
    race: RaceId
    options: OptionsPatch


class Ready(Message):
    """Say ready, or not any more, in the lobby."""

    type: Literal["ready"] = "ready"
    id: RequestId
    race: RaceId
    ready: Flag = True


class Start(Message):
    """Start the countdown; host only, everyone seated must be ready."""

    type: Literal["start"] = "start"
    id: RequestId
    race: RaceId


class PlayMove(Message):
    """Play action number `seq`. The same number with the same move gets the same answer again."""

    type: Literal["move"] = "move"
    id: RequestId
    race: RaceId
    seq: Seq
    move: MoveText


class PlayUndo(Message):
    """Take back the last move, as action number `seq`."""

    type: Literal["undo"] = "undo"
    id: RequestId
    race: RaceId
    seq: Seq


class Bank(Message):
    """End the run and keep its result; the race goes on for the others."""

    type: Literal["bank"] = "bank"
    id: RequestId
    race: RaceId


class Leave(Message):
    """Lobby: give the seat back. Running: end the run, keep its result."""

    type: Literal["leave"] = "leave"
    id: RequestId
    race: RaceId


class Next(Message):
    """After the close: a new deal in the same room."""

    type: Literal["next"] = "next"
    id: RequestId
    race: RaceId


class Ping(Message):
    """Ask for a `pong`: a measure of the link."""

    type: Literal["ping"] = "ping"
    id: RequestId


ClientMessage = (
    Hello
    | Create
    | Join
    | Resume
    | SetOptions
    | Ready
    | Start
    | PlayMove
    | PlayUndo
    | Bank
    | Leave
    | EndRace
    | Next
    | Say
    | LobbyWatch
    | MatchQueue
    | MatchAnswer
    | MatchBot
    | MatchLeave
    | ReplayGet
    | BoardGet
    | FriendAdd
    | FriendRemove
    | FriendsGet
    | Ping
    | DailyGet
    | DailyPlay
    | Watch
    | Unwatch
    | LiveGet
    | AccountGet
    | Rename
    | Rotate
    | LinkMake
    | Export
    | Delete
)

CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)
