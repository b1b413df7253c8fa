"""Messages about replays of finished races."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from samedeal.protocol.fields import Count, FromServer, Message, RaceId, RequestId

__all__ = ["MAX_PART", "ReplayFile", "ReplayGet"]

MAX_PART = 64 * 1024
"""Characters of one part: a client with a slow link can hear of other things in between."""


RaceName = Annotated[
    str, StringConstraints(strict=True, pattern=r"^([0-9a-z]{16}|[2-9A-HJ-NP-Z]{4,8})$")
]
"""The id of a race, or the code of a room for its newest race."""


class ReplayGet(Message):
    """After the close: one part of the replay file, the first being 0."""

    type: Literal["replay_get"] = "replay_get"
    id: RequestId
    race: RaceName
    part: Count = 0


class ReplayFile(FromServer):
    """Answer to `replay_get`: the parts together are the file, for `samedeal verify`."""

    type: Literal["replay"] = "replay"
    id: RequestId
    race: RaceId
    part: Count = 0
    parts: Count = 1
    text: Annotated[str, Field(strict=True, max_length=MAX_PART)]
