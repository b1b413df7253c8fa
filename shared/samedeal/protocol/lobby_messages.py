"""The lobby: rooms whose hosts let anybody in, and that wait for players, as they come and go."""

from typing import Annotated, Literal

from pydantic import Field

from samedeal.protocol.fields import (
    Code,
    Flag,
    FromServer,
    GameId,
    Message,
    Ms,
    Name,
    RaceOptions,
    Rating,
    RequestId,
)
from samedeal.protocol.limits import MAX_SEATS

__all__ = ["Lobby", "LobbyRoom", "LobbyWatch"]


class LobbyWatch(Message):
    """Be told the open rooms, and again whenever they change; or no more."""

    type: Literal["lobby_watch"] = "lobby_watch"
    id: RequestId
    game: GameId | None = None
    """Only rooms of this game."""
    on: Flag = True


class LobbyRoom(FromServer):
    """A room that waits for players; `join` with its code takes a seat."""

    code: Code
    game: GameId
    host: Name
    bot: Flag = False
    """Whether the host is a bot."""
    rating: Rating | None = None
    """Of the host."""
    provisional: Flag = False
    taken: Annotated[int, Field(strict=True, ge=1, le=MAX_SEATS)]
    """Seats that are taken, of `options.seats`."""
    options: RaceOptions
    waited_ms: Ms = 0


class Lobby(FromServer):
    """Answer to `lobby_watch`, and event: all open rooms, the newest first; 100 at most."""

    type: Literal["lobby"] = "lobby"
    id: RequestId | None = None
    rooms: tuple[LobbyRoom, ...]
