"""Quick match: a queue for each game, an opponent who accepts, then a ranked race of the two."""

from enum import StrEnum
from typing import Literal

from samedeal.protocol.fields import (
    Flag,
    FromServer,
    GameId,
    Message,
    Ms,
    RaceId,
    Rating,
    RequestId,
    Sentence,
)

__all__ = ["Match", "MatchAnswer", "MatchBot", "MatchLeave", "MatchQueue", "MatchState"]


class MatchState(StrEnum):
    """Where someone stands who wants to be matched."""

    WAITING = "waiting"
    """In the queue; again after an opponent was found who did not accept."""
    FOUND = "found"
    """There is an opponent: accept it, or the other one waits on without you."""
    BOT_OFFERED = "bot_offered"
    """Nobody came so far: `match_bot` plays a bot, saying nothing waits on."""
    READY = "ready"
    """Both have accepted: the race is there, the countdown runs; `resume` takes the seat."""
    OVER = "over"
    """Not in the queue any more."""


class MatchQueue(Message):
    """Wait for an opponent of about the same strength; one account waits in one place.

    A bot waits for somebody who asks for one, and is never matched by itself.
    """

    type: Literal["match_queue"] = "match_queue"
    id: RequestId
    game: GameId


class MatchAnswer(Message):
    """Accept the opponent that was found, or leave the queue instead."""

    type: Literal["match_answer"] = "match_answer"
    id: RequestId
    race: RaceId
    accept: Flag = True


class MatchBot(Message):
    """Play the bot that was offered, in a race that is not ranked: one that waits in the queue, or
    else the server's own."""

    type: Literal["match_bot"] = "match_bot"
    id: RequestId


class MatchLeave(Message):
    """Leave the queue."""

    type: Literal["match_leave"] = "match_leave"
    id: RequestId


class Match(FromServer):
    """Answer to `match_queue` and `match_bot`, and event: how the search for an opponent stands."""

    type: Literal["match"] = "match"
    id: RequestId | None = None
    game: GameId
    state: MatchState
    rating: Rating | None = None
    """The own one, by which an opponent is looked for."""
    race: RaceId | None = None
    """Found: the race to accept. Who it is against shows later, so that nobody picks opponents."""
    within_ms: Ms | None = None
    """Found: how long there is to accept."""
    sentence: Sentence | None = None
    """Why, where it is not plain."""
