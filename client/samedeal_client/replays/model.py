"""Playing a replay: where it stands, how it goes on, what is compared; no clock, no screen."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from samedeal_client.errors import ClientError
from samedeal_client.replays.compare import next_difference
from samedeal_client.replays.track import Frame, Track

__all__ = ["SPEEDS", "Alignment", "ReplayModel"]

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


class Alignment(Enum):
    """What stands side by side when several runs are shown."""

    TIME = "time"
    """The same time after GO."""
    ACTION = "action"
    """The same number of actions."""


class ReplayModel:
    """Any number of runs of one deal on one timeline, from the deal (0) to the last action (`end`).

    Every way of moving on it costs the same: all positions are at hand. Whoever draws it calls
    `advance` with the time that went by. Raise ClientError for runs of different deals.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        *,
        alignment: Alignment = Alignment.TIME,
        focus: int = 0,
        speed: float = 1.0,
    ) -> None:
        if not tracks:
            raise ClientError("there is no run to show")
        if len({track.deal for track in tracks}) > 1:
            raise ClientError("these are not runs of one deal: game, rules or seed differ")
        self.tracks: Final = _told_apart(tracks)
        self.focus = focus
        """Index of the run that keys and numbers are about."""
        self.speed = speed
        self.is_playing = False
        self.at = 0
        """Actions of the timeline that are done."""
        self.t_ms = 0.0
        """The time that is shown, from GO."""
        self._align(alignment)

    def _align(self, alignment: Alignment) -> None:
        self.alignment = alignment
        by_time = alignment is Alignment.TIME
        entries = sorted(
            (frame.t_ms if by_time else frame.seq, index, frame.seq)
            for index, track in enumerate(self.tracks)
            for frame in track.frames[1:]
        )
        self._line: list[tuple[int, int]] = [(index, seq) for _, index, seq in entries]
        self._places: list[list[int]] = [[] for _ in self.tracks]
        for place, (index, _) in enumerate(self._line, start=1):
            self._places[index].append(place)

    # Where it stands

    @property
    def end(self) -> int:
        """Actions on the timeline."""
        return len(self._line)

    @property
    def end_ms(self) -> int:
        """Time of the last action of all."""
        return max(track.end_ms for track in self.tracks)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """How each run stands now, in the order of `tracks`."""
        return tuple(track.frames[self.seq(index)] for index, track in enumerate(self.tracks))

    @property
    def focused(self) -> Track:
        """The run that keys and numbers are about."""
        return self.tracks[self.focus]

    def seq(self, index: int) -> int:
        """How many actions of a run are done."""
        return bisect_right(self._places[index], self.at)

    @property
    def last(self) -> tuple[Track, Frame] | None:
        """The last action that is done, and whose it is; None at the deal."""
        if self.at == 0:
            return None
        index, seq = self._line[self.at - 1]
        return self.tracks[index], self.tracks[index].frames[seq]

    # Moving

    def step(self, count: int = 1) -> bool:
        """Go `count` actions on, back if negative. Return whether anything changed."""
        return self._go(self.at + count)

    def seek(self, seq: int) -> bool:
        """Go to just after an action of the focused run; 0 is the deal."""
        places = self._places[self.focus]
        if seq <= 0 or not places:
            return self._go(0)
        return self._go(places[min(seq, len(places)) - 1])

    def seek_time(self, t_ms: float) -> bool:
        """Go to a time from GO."""
        self.t_ms = min(max(0.0, t_ms), float(self.end_ms))
        if self.alignment is Alignment.TIME:
            changed = self._set(self._done_by(self.t_ms))
        else:
            changed = self.seek(self.focused.seq_at(int(self.t_ms)))
            self.t_ms = min(max(0.0, t_ms), float(self.end_ms))
        return changed

    def align(self, alignment: Alignment) -> None:
        """Change what stands side by side; the focused run stays where it is."""
        seq = self.seq(self.focus)
        self._align(alignment)
        self.at = -1
        self.seek(seq)

    def turn_focus(self, count: int = 1) -> None:
        """Let keys and numbers be about the next run."""
        self.focus = (self.focus + count) % len(self.tracks)

    def next_difference(self) -> bool:
        """Go on to where the boards of the first two runs differ after the same number of actions.

        Both then show the first position that they do not share; runs that come together again
        may part again. Return False, and stay, if they do not.
        """
        if len(self.tracks) < 2:
            return False
        if self.alignment is not Alignment.ACTION:
            self.align(Alignment.ACTION)
        seq = next_difference(self.tracks[0], self.tracks[1], self.seq(0))
        if seq is None:
            return False
        both = (places[min(seq, len(places)) - 1] for places in self._places[:2] if places)
        self._go(max(both))
        return True

    # Playing

    def play(self) -> None:
        """Let time go by; from the end, begin anew."""
        if self.at >= self.end:
            self._go(0)
        self.is_playing = True

    def pause(self) -> None:
        """Let time stand still."""
        self.is_playing = False

    def faster(self) -> None:
        """Take the next speed up."""
        self.speed = SPEEDS[min(bisect_right(SPEEDS, self.speed), len(SPEEDS) - 1)]

    def slower(self) -> None:
        """Take the next speed down."""
        self.speed = SPEEDS[max(bisect_left(SPEEDS, self.speed) - 1, 0)]

    def advance(self, elapsed_ms: float) -> bool:
        """Let real time go by. Return whether anything changed; pause at the end."""
        if not self.is_playing:
            return False
        changed = self.seek_time(self.t_ms + elapsed_ms * self.speed)
        by_time = self.alignment is Alignment.TIME
        if self.t_ms >= (self.end_ms if by_time else self.focused.end_ms):
            self.is_playing = False
        return changed

    def next_after_ms(self) -> float | None:
        """Real time until the next action is due; None if nothing is playing."""
        if not self.is_playing:
            return None
        later = [
            track.frames[seq + 1].t_ms
            for index, track in enumerate(self.tracks)
            if (seq := self.seq(index)) < track.last
            and (self.alignment is Alignment.TIME or index == self.focus)
        ]
        return max(0.0, min(later, default=self.end_ms) - self.t_ms) / self.speed

    def _done_by(self, t_ms: float) -> int:
        """Actions of the timeline by time that are done at a time."""
        return sum(track.seq_at(int(t_ms)) for track in self.tracks)

    def _go(self, at: int) -> bool:
        changed = self._set(min(max(0, at), self.end))
        if self.alignment is Alignment.TIME:
            self.t_ms = float(0 if self.last is None else self.last[1].t_ms)
        else:
            self.t_ms = float(self.frames[self.focus].t_ms)
        return changed

    def _set(self, at: int) -> bool:
        changed = at != self.at
        self.at = at
        return changed


def _told_apart(tracks: Sequence[Track]) -> tuple[Track, ...]:
    """Number the names that occur more than once."""
    seen: dict[str, int] = {}
    names = [track.name for track in tracks]
    apart = []
    for track in tracks:
        seen[track.name] = number = seen.get(track.name, 0) + 1
        many = names.count(track.name) > 1
        apart.append(replace(track, name=f"{track.name} #{number}") if many else track)
    return tuple(apart)
