"""A replay file that holds: loaded from a path or from lines, and gone through without a server."""

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import BinaryIO, NamedTuple

from samedeal.engine.replay import MAX_LINE_BYTES, ReplayError, Verified, verify
from samedeal_client.errors import ClientError
from samedeal_client.replays.track import Frame, Track

__all__ = ["BadReplay", "Moment", "Replay"]


class BadReplay(ClientError):
    """A replay cannot be read or does not hold; `line_number` is its first wrong line."""

    def __init__(self, name: str, sentence: str, *, line_number: int | None = None) -> None:
        super().__init__(f"{name}: {sentence}")
        self.line_number = line_number


class Moment(NamedTuple):
    """One action of a race, and how the run of that player stands after it."""

    track: Track
    frame: Frame


class Replay:
    """`Replay.load(path)`, or `Replay.verify(lines)`; iterate over it to go through the race."""

    def __init__(self, file: Verified, text: str) -> None:
        self.file = file
        """What the file holds."""
        self.text = text
        """The file as it is."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Replay":
        """Read a file and verify all of it. Raise BadReplay."""
        try:
            with open(path, "rb") as file:
                return cls.read(file, name=os.fspath(path))
        except (OSError, ValueError) as error:
            # ValueError: a path with a null byte in it.
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise BadReplay(os.fspath(path), str(reason)) from None

    @classmethod
    def read(cls, file: BinaryIO, *, name: str = "the replay") -> "Replay":
        """Verify what an open file gives, up to its first wrong line. Raise BadReplay."""
        return cls.verify(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), name=name)

    @classmethod
    def verify(cls, lines: Iterable[bytes | str], *, name: str = "the replay") -> "Replay":
        """Play lines, each with its newline, against seed and commitment. Raise BadReplay."""
        kept: list[bytes] = []

        def taken() -> Iterator[bytes | str]:
            for line in lines:
                yield line
                # Only now: it was verified, so it is text.
                kept.append(line if isinstance(line, bytes) else line.encode())

        try:
            file = verify(taken())
        except ReplayError as error:
            raise BadReplay(name, str(error), line_number=error.line_number) from error
        if file.is_sealed:
            sentence = "the seed of this deal is public when its day is closed; get it again then"
            raise BadReplay(name, sentence)
        return cls(file, b"".join(kept).decode())

    def __iter__(self) -> Iterator[Moment]:
        """Every action of the race, by time."""
        tracks = {track.player.seat: track for track in self.tracks}
        for entry in self.file.actions:
            track = tracks[entry.seat]
            yield Moment(track, track.frames[entry.seq])

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        """The run of each player, first place first."""
        return tuple(Track.play(self.file, standing) for standing in self.file.order)
