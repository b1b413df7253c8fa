"""Replays by what a person names them with: a file, a join code, a race id, a run id."""

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from samedeal.protocol.limits import CODE_ALPHABET
from samedeal_client.cli.account import looking_on
from samedeal_client.errors import ClientError
from samedeal_client.replays import Replay, Track

__all__ = ["SOURCE_HELP", "Source", "chosen", "load"]

SOURCE_HELP = "a replay file, - for standard input, a join code, a race id, or a run id (ID.SEAT)"
_RUN = re.compile(r"[0-9a-z]{16}(\.[1-8])?")
_CODE = re.compile(rf"[{CODE_ALPHABET}]{{4,8}}")


@dataclass(frozen=True, slots=True)
class Source:
    """A replay that was found, its name, and the seat that was named with it, if one was."""

    name: str
    replay: Replay
    seat: int | None = None


async def load(name: str, server: str) -> Source:
    """Find a replay, on the server if its name is no file's, and verify it. Raise ClientError."""
    if name == "-":
        return Source("standard input", Replay.read(sys.stdin.buffer, name="standard input"))
    race, _, seat = name.partition(".")
    if not _is_there(name):
        if _RUN.fullmatch(name) is not None:
            return Source(name, await _fetched(race, server), int(seat) if seat else None)
        if _CODE.fullmatch(name.upper()) is not None:
            return Source(name, await _fetched(name.upper(), server))
    return Source(name, Replay.load(name))


def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def chosen(sources: Iterable[Source], seats: Iterable[int] = ()) -> list[Track]:
    """The runs that were asked for: those of the seats, that of a run id, else all."""
    tracks: list[Track] = []
    for source in sources:
        wanted = set(seats) or ({source.seat} if source.seat else set())
        there = {track.player.seat for track in source.replay.tracks}
        if missing := wanted - there:
            raise ClientError(f"{source.name}: nobody sits at seat {min(missing)}")
        tracks += [t for t in source.replay.tracks if not wanted or t.player.seat in wanted]
    return tracks


async def _fetched(race: str, server: str) -> Replay:
    async with looking_on(server) as client:
        text = await client.replay(race)
    return Replay.read(BytesIO(text.encode()), name=race)
