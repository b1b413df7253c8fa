"""The phrases of a room: what players may say to each other, and how it is told."""

from typing import Literal

from samedeal.protocol.fields import (
    FromServer,
    Message,
    Phrase,
    PhraseName,
    RaceId,
    RequestId,
    SeatNumber,
)

__all__ = ["Said", "Say"]


class Say(Message):
    """Say one of the phrases to everyone in the room; there is no free text."""

    type: Literal["say"] = "say"
    id: RequestId
    race: RaceId
    phrase: PhraseName


class Said(FromServer):
    """Event: someone in the room said this. Of phrases that follow fast the latest counts."""

    type: Literal["said"] = "said"
    race: RaceId
    seat: SeatNumber
    phrase: Phrase
