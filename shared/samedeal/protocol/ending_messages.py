"""Ending a race before its time, once nobody waits for more."""

from typing import Literal

from samedeal.protocol.fields import Message, RaceId, RequestId

__all__ = ["EndRace"]


class EndRace(Message):
    """Close a race in which only bots play on: any person of it, when all their runs are over."""

    type: Literal["end_race"] = "end_race"
    id: RequestId
    race: RaceId
