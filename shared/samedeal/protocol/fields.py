"""Field types of the messages: strict scalars, bounded, so that True, "3" and 3.0 are not 3."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from samedeal.engine.run import UndoPolicy
from samedeal.protocol import limits
from samedeal.protocol.days import MAX_DAY

__all__ = [
    "RANKED_UNLESS_NAMED",
    "BoardView",
    "Card",
    "Code",
    "Count",
    "DayNumber",
    "DayTag",
    "DealLabel",
    "FromServer",
    "GameId",
    "Hex32",
    "Home",
    "IsoDate",
    "LinkCode",
    "Message",
    "MoveText",
    "Ms",
    "Name",
    "NameText",
    "OptionsPatch",
    "OrderRow",
    "Phase",
    "Phrase",
    "PhraseName",
    "PlayerId",
    "PlayerView",
    "RaceId",
    "RaceOptions",
    "RaceView",
    "RequestId",
    "SeatNumber",
    "Sentence",
    "Seq",
    "Spectating",
    "Status",
    "text_only",
]

RequestId = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
"""The client's own number for a request; the answer repeats it."""
Seq = Annotated[int, Field(strict=True, ge=0, le=limits.MAX_INT)]
"""Number of a player's action in a run; the first is 1."""
Count = Annotated[int, Field(strict=True, ge=0, le=limits.MAX_INT)]
Ms = Annotated[int, Field(strict=True, ge=0, le=limits.MAX_INT)]
"""Milliseconds; in a run they count from GO."""
Home = Annotated[int, Field(strict=True, ge=-8, le=104)]
"""Cards brought home; below zero where more dealt ones were taken back than brought."""
Rating = Annotated[int, Field(strict=True, ge=0, le=9999)]
"""How strong a player is in a game: 1500 is the middle, and where everyone begins."""
SeatNumber = Annotated[int, Field(strict=True, ge=1, le=limits.MAX_SEATS)]
Flag = Annotated[bool, Field(strict=True)]
Card = Annotated[int, Field(strict=True, ge=0, le=51)]
"""Suit * 13 + rank, suits C D H S, ranks A to K. A hidden card has no number: it is counted."""

RaceId = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-z]{16}$")]
Code = Annotated[str, StringConstraints(strict=True, pattern=r"^[2-9A-HJ-NP-Z]{4,8}$")]
"""What a player types to join. Codes have no 0, O, 1 or I."""
GameId = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z0-9-]{1,32}$")]
MoveText = Annotated[
    str, StringConstraints(strict=True, pattern=rf"^[!-~]{{1,{limits.MAX_MOVE}}}$")
]
"""Printable ASCII; whether it is a move is the engine's word."""
Name = Annotated[
    str,
    StringConstraints(
        strict=True, pattern=rf"^[\p{{L}}\p{{M}}\p{{N}}_. -]{{1,{limits.MAX_NAME_SHOWN}}}$"
    ),
]
"""A name as it is shown: letters of any script, digits, `_`, `.` and `-`; it prints as it reads."""
NameText = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=4 * limits.MAX_NAME)
]
"""A name as it is asked for; the server says whether it can be one."""
Token = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-z]{16}\.[0-9a-f]{64}$")]
"""Account id, a dot, and the secret of which the server keeps only a hash."""
PlayerId = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-z]{16}$")]
LinkCode = Annotated[
    str, StringConstraints(strict=True, pattern=rf"^[2-9A-HJ-NP-Z]{{{limits.LINK_LETTERS}}}$")
]
"""Lets a second device into an account: it works once, for some minutes."""
Sentence = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=400)]
Hex32 = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{64}$")]
DayNumber = Annotated[int, Field(strict=True, ge=1, le=MAX_DAY)]
"""Number of a day of the daily challenge; day 1 is 1 January 2026."""
IsoDate = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
SeedText = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=limits.MAX_TEXT)]


def text_only(value: object) -> object:
    """Refuse bytes, which pydantic would read as the text of an enum."""
    if isinstance(value, bytes):
        raise ValueError("Input should be a text")
    return value


class Message(BaseModel):
    """Base of everything on the wire: frozen, and nothing unknown inside."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FromServer(Message):
    """Base of what only servers say: a client of today reads past fields of tomorrow."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Phase(StrEnum):
    """Where a race stands. It only moves forward."""

    LOBBY = "lobby"
    COUNTDOWN = "countdown"
    RUNNING = "running"
    CLOSED = "closed"


class Status(StrEnum):
    """Where one player's run stands."""

    PLAYING = "playing"
    WON = "won"
    BANKED = "banked"
    LEFT = "left"
    STUCK = "stuck"
    """No action could lead to progress any more when the race closed; never said before that."""
    CUT_OFF = "cut_off"
    """The race closed while the run was on."""


class Phrase(StrEnum):
    """What players may say to each other; there is no free text."""

    HELLO = "hello"
    GOOD_LUCK = "good_luck"
    HAVE_FUN = "have_fun"
    WELL_PLAYED = "well_played"
    OOPS = "oops"
    THANKS = "thanks"
    ONE_MORE = "one_more"
    GOODBYE = "goodbye"


class DealLabel(StrEnum):
    """What is known of the deal of a day. It is never hidden."""

    CERTIFIED = "certified"
    """It can be won: somebody, or a program, has."""
    OPEN = "open"
    """Nobody knows whether it can be won."""


class Spectating(StrEnum):
    """How much of a board others may see while the deal is open."""

    BOARDS = "boards"
    SHAPE = "shape"
    COUNTS = "counts"
    OFF = "off"


TimeLimit = Annotated[int, Field(strict=True, ge=10, le=24 * 3600)]
DayLimit = Annotated[int, Field(strict=True, ge=10, le=25 * 3600)]
"""A day's run may take longer than a race: until an hour after the end of the day."""
LastCall = Annotated[int, Field(strict=True, ge=0, le=24 * 3600)]
Countdown = Annotated[int, Field(strict=True, ge=0, le=60)]
WatchDelay = Annotated[int, Field(strict=True, ge=0, le=600)]
Seats = Annotated[int, Field(strict=True, ge=limits.MIN_SEATS, le=limits.MAX_SEATS)]
"""One seat: a day's run, or practice alone."""


def _odd(number: int) -> int:
    if number % 2 == 0:
        raise ValueError("Input should be 1, 3 or 5")
    return number


BestOf = Annotated[int, Field(strict=True, ge=1, le=5), AfterValidator(_odd)]
UndoName = Annotated[UndoPolicy, BeforeValidator(text_only)]
PhraseName = Annotated[Phrase, BeforeValidator(text_only)]
SpectatingName = Annotated[Spectating, BeforeValidator(text_only)]


class RaceOptions(FromServer):
    """What the host chose. Everyone in the room sees it before saying ready."""

    seats: Seats = 2
    time_limit_s: DayLimit = 900
    """Seconds from GO after which the race closes."""
    last_call_s: LastCall = 60
    """Seconds the others have after the first win; 0 closes the race at once."""
    countdown_s: Countdown = 3
    undo: UndoName = UndoPolicy.SAFE
    """How far back undo goes; each undo counts as a move. `free` only in unranked races."""
    spectating: SpectatingName = Spectating.BOARDS
    """What watchers may see until the close; of a ranked race the shape at most."""
    watch_delay_s: WatchDelay = 0
    """How much later than the players watchers see boards."""
    ranked: Flag = False
    bots: Flag = True
    """Whether bots may take a seat."""
    auto_start: Flag = True
    """Start as soon as every seat is taken and everyone is ready."""
    best_of: BestOf = 1
    """Races of a series: `next` goes on with it until someone has won more than half of them."""

    listed: Flag = False
    """Whether the lobby shows the room while it waits for players, so that anybody may come."""

    @property
    def wins_needed(self) -> int:
        """How many races decide the series."""
        return self.best_of // 2 + 1


RANKED_UNLESS_NAMED: Final[dict[str, object]] = {"spectating": Spectating.SHAPE, "bots": False}
"""What these options become when a room becomes ranked and the change does not name them."""


class OptionsPatch(Message):
    """The options to change; what is not named stays as it is."""

    seats: Seats | None = None
    time_limit_s: TimeLimit | None = None
    last_call_s: LastCall | None = None
    countdown_s: Countdown | None = None
    undo: UndoName | None = None
    spectating: SpectatingName | None = None
    watch_delay_s: WatchDelay | None = None
    ranked: Flag | None = None
    bots: Flag | None = None
    auto_start: Flag | None = None
    best_of: BestOf | None = None
    listed: Flag | None = None


class PlayerView(FromServer):
    """One seat as everyone in the room sees it."""

    seat: SeatNumber
    name: Name
    bot: Flag = False
    ready: Flag = False
    present: Flag = False
    """Whether a connection holds the seat now."""
    status: Status = Status.PLAYING
    home: Home = 0
    best: Count = 0
    opened: Count = 0
    moves: Count = 0
    t_ms: Ms = 0
    """When the last action was accepted, from GO."""
    series: Count = 0
    """Races of this series won so far; after the close with the race at hand."""
    rating: Rating | None = None
    """When the seat was taken; None for bots."""
    provisional: Flag = False
    """Whether the rating rests on fewer than 15 ranked races."""


class OrderRow(FromServer):
    """One line of the final order. Equal places are shared."""

    place: Annotated[int, Field(strict=True, ge=1, le=limits.MAX_SEATS)]
    seat: SeatNumber
    name: Name
    bot: Flag
    status: Status
    won: Flag
    home: Home
    best: Count
    opened: Count
    moves: Count
    t_ms: Ms
    """Won: time of the win. Not won: when (best, opened) was reached."""
    rating: Rating | None = None
    """After this race; None where it is not ranked, and until it is booked, a moment later."""
    rating_before: Rating | None = None
    provisional: Flag = False


class DayTag(FromServer):
    """The day whose deal a run plays."""

    number: DayNumber
    date: IsoDate
    label: DealLabel


class RaceView(FromServer):
    """A race as everyone in the room sees it."""

    id: RaceId
    code: Code
    game: GameId
    rules_version: Count
    commitment: Hex32
    """SHA-256 over game and seed, known before GO; `seed` proves it after the close."""
    practice: Flag
    """The host chose the seed, or it is no first run at a day's deal: unranked, on no board."""
    options: RaceOptions
    phase: Phase
    ver: Count
    """Grows with every change of the room; the higher one is the newer one."""
    round: Count
    host: SeatNumber
    players: tuple[PlayerView, ...]
    clock_ms: Annotated[int, Field(strict=True, ge=-limits.MAX_INT, le=limits.MAX_INT)]
    """Milliseconds since GO by the store's clock; negative in the countdown; 0 in the lobby."""
    deadline_ms: Ms
    """When the race closes, in milliseconds from GO; 0 in the lobby."""
    paused_ms: Ms = 0
    """For how long of it nobody could play, the store or every server being away.

    The clock ran on, for everyone the same; the deadline is that much later.
    """
    seed: Hex32 | None = None
    order: tuple[OrderRow, ...] = ()
    next: RaceId | None = None
    """The race that follows in the same room."""
    day: DayTag | None = None
    """A run at the deal of a day: one seat, and the seed is public when the day is closed."""
    crowd: Count = 0
    """How many watch; of larger crowds about how many."""


class BoardView(FromServer):
    """A player's own table as dealt, hidden cards as counts.

    `piles` are in the game's order (stock, waste, foundations, tableau, reserves), each the number
    of hidden cards at the bottom and then the visible cards, bottom to top.
    """

    piles: tuple[tuple[Count, tuple[Card, ...]], ...]
    base: Annotated[int, Field(strict=True, ge=0, le=12)] | None
    passes: Count | None
