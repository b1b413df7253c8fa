"""What boards keep of a run for good, and which rows follow from it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from samedeal.engine.scoring import TIME_STEP_MS
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.fields import Status
from samedeal_server.race import RaceDay, RaceState, SeatState
from samedeal_server.rows import FOREVER, ORDERS, PERIODS, Board, Row, Span, period_of

__all__ = ["Result", "Update", "is_counted", "results_of", "updates"]

_FIRST, _OTHER, _DAILY = "w", "l", "d"
_CLOSED, _RUN, _AT = 12, 18, 12


@dataclass(frozen=True, slots=True)
class Result:
    """One run of a closed race that counts."""

    run: str
    player: str
    closed_ms: int
    at_ms: int
    """When the state was reached that ranks it."""
    is_first: bool = False
    """Whether it took the first place of its race, maybe shared."""
    order: str = ""
    """Its place on the board of its day, or, for a ranked race, on those of the fastest."""
    day: str = ""

    @property
    def text(self) -> str:
        """The result as it is stored; equal results are equal texts."""
        word = _DAILY if self.day else _FIRST if self.is_first else _OTHER
        times = f"{self.closed_ms:0{_CLOSED}x}{self.run}{self.at_ms:0{_AT}x}"
        return f"{word}{times}{self.order}{self.day}"

    @classmethod
    def parse(cls, player: str, text: str) -> Self:
        """Read a stored result."""
        run = 1 + _CLOSED
        at = run + _RUN
        rest = at + _AT
        width = ORDERS[BoardKind.DAILY].width
        is_daily = text[0] == _DAILY
        return cls(
            run=text[run:at],
            player=player,
            closed_ms=int(text[1:run], 16),
            at_ms=int(text[at:rest], 16),
            is_first=text[0] == _FIRST,
            order=text[rest : rest + width] if is_daily else text[rest:],
            day=text[rest + width :] if is_daily else "",
        )


@dataclass(frozen=True, slots=True)
class Update:
    """What to do to a player's row of a board, in the words of board_book.lua."""

    board: Board
    word: str
    one: str = ""
    two: str = ""


def is_counted(state: RaceState) -> bool:
    """Whether a closed race counts for anybody: no practice, and at least two who are rivals."""
    return state.was_run and not state.practice and len(state.rivals) >= 2


def results_of(state: RaceState) -> tuple[Result, ...]:
    """The results of a closed race: one for each seat if it is counted, else none."""
    if state.day is not None:
        return _of_a_day(state, state.day)
    if not is_counted(state):
        return ()
    firsts = {row.seat for row in state.order() if row.place == 1}
    return tuple(
        Result(
            run=f"{state.id}.{seat.seat}",
            player=seat.player,
            closed_ms=state.closed_at_ms,
            at_ms=state.go_at_ms + seat.t_best_ms if seat.seq else state.closed_at_ms,
            is_first=seat.seat in firsts,
            order=_fastest(seat) if state.options.ranked else "",
        )
        for seat in state.seats.values()
    )


def _of_a_day(state: RaceState, day: RaceDay) -> tuple[Result, ...]:
    """The result of a first run at a day's deal, as it ranks: who never moved has none."""
    seat = state.seats[1]
    if not state.was_run or state.practice or not seat.seq:
        return ()
    won = seat.ended is Status.WON
    moves, t_ms = seat.counted
    order = ORDERS[BoardKind.DAILY].encode(int(won), seat.best, seat.opened, moves, t_ms // 100)
    return (
        Result(
            run=f"{state.id}.1",
            player=seat.player,
            closed_ms=state.closed_at_ms,
            at_ms=state.go_at_ms + t_ms,
            order=order,
            day=day.date,
        ),
    )


def _fastest(seat: SeatState) -> str:
    if seat.ended is not Status.WON:
        return ""
    return ORDERS[BoardKind.FASTEST].encode(seat.t_ms // TIME_STEP_MS, seat.seq)


def boards_of(game: str, result: Result, *, bots: bool) -> Iterator[Board]:
    """The boards that a result may have a row on."""
    if result.day:
        yield Board(game, BoardKind.DAILY, result.day, bots)
        return
    for kind in (BoardKind.WINS, BoardKind.FASTEST):
        if kind is BoardKind.WINS or result.order:
            for period in PERIODS[kind]:
                yield Board(game, kind, period_of(period, result.closed_ms), bots)


def updates(game: str, result: Result, *, bots: bool, anew: bool = False) -> tuple[Update, ...]:
    """What a result changes. `anew`: look through all of the player's runs again.

    That is for a run that does not count any more, whose place another may take.
    """
    changes = []
    for board in boards_of(game, result, bots=bots):
        if board.kind is BoardKind.WINS:
            changes.append(Update(board, "wins", *_closed_in(board)))
        elif not anew:
            row = Row(result.order, result.at_ms, result.player, result.run)
            changes.append(Update(board, "best", row.text))
        elif board.kind is BoardKind.FASTEST:
            changes.append(Update(board, "fastest", *_closed_in(board)))
        else:
            changes.append(Update(board, "drop"))
    return tuple(changes)


def _closed_in(board: Board) -> tuple[str, str]:
    """The time of a board, as closing times are stored."""
    span = Span.of(board.period)
    if span is None:
        return "", FOREVER
    return f"{span.start_ms:0{_CLOSED}x}", f"{span.end_ms:0{_CLOSED}x}"
