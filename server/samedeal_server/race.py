"""What a race is at one moment: its record, read from the store, and what follows from it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from samedeal.engine.scoring import Outcome, final_order
from samedeal.protocol.days import GRACE_MS, date_of
from samedeal.protocol.fields import (
    DayTag,
    DealLabel,
    OrderRow,
    Phase,
    PlayerView,
    RaceOptions,
    RaceView,
    Status,
)
from samedeal_server.deals import Start, Starts
from samedeal_server.skill import Shown

__all__ = ["RaceDay", "RaceState", "SeatState", "about"]


@dataclass(frozen=True, slots=True)
class RaceDay:
    """The day whose deal a run plays."""

    number: int
    label: DealLabel
    ends_at_ms: int
    """When the day ends, by the store's clock."""

    @property
    def closes_at_ms(self) -> int:
        """When its last run ends, and its seed and results are anybody's."""
        return self.ends_at_ms + GRACE_MS

    @property
    def date(self) -> str:
        """Its date in UTC, as in 2026-11-30."""
        return date_of(self.number).isoformat()

    @property
    def tag(self) -> DayTag:
        """The day as its player sees it."""
        return DayTag(number=self.number, date=self.date, label=self.label)

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> "RaceDay | None":
        """Build it from the fields of a race's hash; None for a race of no day."""
        if "day" not in fields:
            return None
        ends_at_ms = int(fields["day_ends_at"])
        return cls(int(fields["day"]), DealLabel(fields["label"]), ends_at_ms)


@dataclass(slots=True)
class SeatState:
    """One seat's session record."""

    seat: int
    player: str
    name: str
    bot: bool
    ready: bool = False
    node: str = ""
    """Which node the connection that holds it is on; empty when none holds it."""
    present: bool = False
    """Whether a connection holds it, as far as the record can tell: its node may be dead."""
    epoch: int = 0
    seq: int = 0
    ended: Status | None = None
    """How the run ended by itself; None while it is on, and for one that the close cut off."""
    home: int = 0
    best: int = 0
    opened: int = 0
    t_ms: int = 0
    t_best_ms: int = 0
    m_best: int = 0
    series: int = 0
    rating: Shown | None = None
    """When the seat was taken."""
    rated: tuple[Shown, Shown] | None = None
    """Before and after this race, once that is booked."""
    said: str = ""
    """The last phrase, after a number that tells it from the same one again."""

    @classmethod
    def read(cls, seat: int, fields: Mapping[str, str]) -> "SeatState":
        """Build it from the fields of its hash."""
        status = fields.get("status")
        return cls(
            seat=seat,
            player=fields["player"],
            name=fields["name"],
            bot=fields.get("bot") == "1",
            ready=fields.get("ready") == "1",
            node=fields.get("on", ""),
            present="on" in fields,
            epoch=int(fields.get("epoch", 0)),
            seq=int(fields.get("seq", 0)),
            ended=Status(status) if status else None,
            home=int(fields.get("home", 0)),
            best=int(fields.get("best", 0)),
            opened=int(fields.get("opened", 0)),
            t_ms=int(fields.get("t", 0)),
            t_best_ms=int(fields.get("t_best", 0)),
            m_best=int(fields.get("m_best", 0)),
            series=int(fields.get("series", 0)),
            rating=Shown.parse(fields["rating"]) if fields.get("rating") else None,
            rated=_rated(fields.get("rated", "")),
            said=fields.get("said", ""),
        )

    def begin_at(self, start: Start) -> None:
        """Count what the deal itself has sent home, where no action has risen above it yet."""
        if self.seq == 0:
            self.home = start.home
        if self.m_best == 0:
            self.best, self.opened = start.best, start.opened

    def keep_up_with(self, known: "SeatState") -> None:
        """Take the progress of the same seat as it was known, where that is further."""
        if known.seq > self.seq:
            self.seq, self.home, self.best = known.seq, known.home, known.best
            self.opened, self.t_ms = known.opened, known.t_ms
            self.t_best_ms, self.m_best = known.t_best_ms, known.m_best
            self.ended = self.ended or known.ended

    def outcome(self) -> Outcome:
        """What ranks this run."""
        won = self.ended is Status.WON
        return Outcome(
            seat=self.seat,
            has_moved=self.seq > 0,
            has_won=won,
            t_ms=self.t_ms if won else 0,
            moves=self.seq,
            best=self.best,
            opened=self.opened,
            t_best_ms=self.t_best_ms,
            m_best=self.m_best,
        )

    @property
    def counted(self) -> tuple[int, int]:
        """The moves and the time of an ended run that count: playing on never costs.

        They are those of the win, or else of when the best was reached.
        """
        won = self.ended is Status.WON
        return (self.seq, self.t_ms) if won else (self.m_best, self.t_best_ms)

    def view(self, phase: Phase, series: int) -> PlayerView:
        """What everyone in the room may see of it, with its score in the series."""
        return PlayerView(**(self.fields(phase) | {"series": series}))

    def fields(self, phase: Phase) -> dict[str, Any]:
        """Its `PlayerView` as it goes on the wire; what is not there is at its default."""
        fields: dict[str, Any] = {
            "seat": self.seat,
            "name": self.name,
            "home": self.home,
            "best": self.best,
            "opened": self.opened,
            "moves": self.seq,
            "t_ms": self.t_ms,
        }
        if self.bot:
            fields["bot"] = True
        if self.ready:
            fields["ready"] = True
        if self.present:
            fields["present"] = True
        if self.series:
            fields["series"] = self.series
        if self.rating is not None:
            fields["rating"] = self.rating.number
            if self.rating.is_provisional:
                fields["provisional"] = True
        if self.ended is not None or phase is Phase.CLOSED:
            fields["status"] = self.status(phase).value
        return fields

    def status(self, phase: Phase) -> Status:
        """How the run stands in this phase of the race."""
        if self.ended is not None:
            return self.ended
        return Status.CUT_OFF if phase is Phase.CLOSED else Status.PLAYING


@dataclass(slots=True)
class RaceState:
    """A race as last read from the store. Its seed stays on the server until the close."""

    id: str
    code: str
    game: str
    rules_version: int
    seed: bytes = field(repr=False)
    commitment: str
    practice: bool
    options: RaceOptions
    phase: Phase
    ver: int
    round: int
    host: int
    seats: dict[int, SeatState]
    now_ms: int
    """The store's clock when it was read, like all times of a record in ms since 1970."""
    go_at_ms: int = 0
    deadline_at_ms: int = 0
    closed_at_ms: int = 0
    paused_ms: int = 0
    """For how long of it nobody could play; the deadline is that much later."""
    next_race: str = ""
    previous: str = ""
    """The race before it in the same room."""
    day: RaceDay | None = None
    eyes: dict[str, int] = field(default_factory=dict)
    """How many watch on each node."""

    @classmethod
    def read(
        cls,
        race_id: str,
        fields: Mapping[str, str],
        seats: Iterable[tuple[int, Mapping[str, str]]],
        now_ms: int,
        starts: Starts,
    ) -> "RaceState":
        """Build it from the fields of its hashes."""
        state = cls(
            id=race_id,
            code=fields["code"],
            game=fields["game"],
            rules_version=int(fields["rules_version"]),
            seed=bytes.fromhex(fields["seed"]),
            commitment=fields["commitment"],
            practice=fields["practice"] == "1",
            options=RaceOptions.model_validate_json(fields["options"]),
            phase=Phase(fields["phase"]),
            ver=int(fields.get("ver", 0)),
            round=int(fields["round"]),
            host=int(fields["host"]),
            seats={seat: SeatState.read(seat, values) for seat, values in seats if values},
            now_ms=now_ms,
            go_at_ms=int(fields.get("go_at", 0)),
            deadline_at_ms=int(fields.get("deadline", 0)),
            closed_at_ms=int(fields.get("closed_at", 0)),
            paused_ms=int(fields.get("paused", 0)),
            next_race=fields.get("next", ""),
            previous=fields.get("previous", ""),
            day=RaceDay.read(fields),
            eyes=_eyes(fields.get("eyes", "")),
        )
        # Before GO nobody may know anything of the deal, not even how many cards it sends home.
        if state.phase in (Phase.RUNNING, Phase.CLOSED) and state.was_run:
            start = starts(state.game, state.seed)
            for seat in state.seats.values():
                seat.begin_at(start)
        return state

    @property
    def nodes(self) -> set[str]:
        """The nodes that have players or watchers here."""
        return {seat.node for seat in self.seats.values()} | self.eyes.keys()

    @property
    def setting(self) -> tuple[object, ...]:
        """What is news to all who are here, players or watchers, the play apart."""
        seats = tuple(
            (seat.seat, seat.player, seat.ready, seat.present, seat.ended)
            for seat in self.seats.values()
        )
        # A win brings the end nearer: who is done counts the seconds of the last call.
        times = self.paused_ms, self.deadline_at_ms
        return self.phase, self.host, self.options, times, about(sum(self.eyes.values())), seats

    @property
    def due_ms(self) -> int:
        """When it moves on by itself, by the store's clock; 0 if only players can move it on."""
        due = {Phase.COUNTDOWN: self.go_at_ms, Phase.RUNNING: self.deadline_at_ms}
        return due.get(self.phase, 0)

    @property
    def was_run(self) -> bool:
        """Whether it got as far as GO; a lobby that everyone left did not."""
        return self.go_at_ms > 0

    @property
    def has_result(self) -> bool:
        """Whether there is a final order: it was run, and is closed."""
        return self.phase is Phase.CLOSED and self.was_run

    @property
    def is_seed_public(self) -> bool:
        """Whether anybody may know the cards: after the close, of a day's deal after the day's."""
        return self.has_result and (self.day is None or self.now_ms >= self.day.closes_at_ms)

    def order(self) -> tuple[OrderRow, ...]:
        """The final order: a pure function of the closed record, so every node finds the same."""
        rows = []
        for placed in final_order(seat.outcome() for seat in self.seats.values()):
            seat = self.seats[placed.seat]
            won = seat.ended is Status.WON
            rows.append(
                OrderRow(
                    place=placed.place,
                    seat=seat.seat,
                    name=seat.name,
                    bot=seat.bot,
                    status=seat.status(self.phase),
                    won=won,
                    home=seat.home,
                    best=seat.best,
                    opened=seat.opened,
                    moves=seat.seq,
                    t_ms=seat.counted[1],
                    **({} if seat.rated is None else _before_and_after(*seat.rated)),
                )
            )
        return tuple(rows)

    def scores(self) -> dict[int, int]:
        """How many races of the series each seat has won; after the close with this one.

        A shared first place counts for each; where nobody moved, for nobody. To be ahead of bots
        alone that a person has cut off is no win; to be ahead when cut off is one.
        """
        return self._scores(self.order() if self.has_result else ())

    def _scores(self, order: Iterable[OrderRow]) -> dict[int, int]:
        scores = {number: seat.series for number, seat in self.seats.items()}
        cut_off, has_rivals = self.cut_off, len(self.rivals) >= 2
        for row in order:
            counts = not cut_off or has_rivals or row.seat in cut_off
            scores[row.seat] += row.place == 1 and row.moves > 0 and counts
        return scores

    @property
    def cut_off(self) -> set[int]:
        """The seats that a person has cut off by ending the race: whoever is ahead could do that.

        Once it is won nobody gets ahead any more, and the end takes nothing from anybody.
        """
        ends = {number: seat.ended for number, seat in self.seats.items()}
        is_ended = self.has_result and self.closed_at_ms < self.deadline_at_ms
        if not is_ended or Status.WON in ends.values():
            return set()
        return {number for number, ended in ends.items() if ended is None}

    @property
    def rivals(self) -> set[int]:
        """The seats whose runs count against each other: those that moved and were not cut off."""
        return {number for number, seat in self.seats.items() if seat.seq} - self.cut_off

    @property
    def is_decided(self) -> bool:
        """Whether the series is over: the next race begins a new one."""
        return any(wins >= self.options.wins_needed for wins in self.scores().values())

    def view(self) -> RaceView:
        """What everyone in the room may see: the order after the close, the seed if public."""
        order = self.order() if self.has_result else ()
        scores = self._scores(order)
        players = (self.seats[seat].view(self.phase, scores[seat]) for seat in sorted(self.seats))
        clock_ms = (self.closed_at_ms if self.has_result else self.now_ms) - self.go_at_ms
        return RaceView(
            id=self.id,
            code=self.code,
            game=self.game,
            rules_version=self.rules_version,
            commitment=self.commitment,
            practice=self.practice,
            options=self.options,
            phase=self.phase,
            ver=self.ver,
            round=self.round,
            host=self.host,
            players=tuple(players),
            clock_ms=clock_ms if self.was_run else 0,
            deadline_ms=max(0, self.deadline_at_ms - self.go_at_ms),
            paused_ms=self.paused_ms,
            seed=self.seed.hex() if self.is_seed_public else None,
            order=order,
            next=self.next_race or None,
            day=None if self.day is None else self.day.tag,
            crowd=about(sum(self.eyes.values())),
        )


def _rated(text: str) -> tuple[Shown, Shown] | None:
    if not text:
        return None
    before, after = map(Shown.parse, text.split())
    return before, after


def _before_and_after(before: Shown, after: Shown) -> dict[str, Any]:
    return {
        "rating": after.number,
        "rating_before": before.number,
        "provisional": after.is_provisional,
    }


def _eyes(text: str) -> dict[str, int]:
    pairs = (part.partition("=") for part in text.split())
    return {node: int(count) for node, _, count in pairs}


def about(count: int) -> int:
    """Round how many watch, the more of them the coarser: who comes and goes is no news to many."""
    if count < 20:
        return count
    step = 5 if count < 100 else 10 ** (len(str(count)) - 2)
    return count // step * step
