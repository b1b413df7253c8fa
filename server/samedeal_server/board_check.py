"""Do the boards say what was played? Once a day a sample of rows is played again by the engine."""

import asyncio
import dataclasses
import json
import logging
import random

from samedeal.engine.games import GAMES
from samedeal.protocol.board_messages import BoardKind, Period
from samedeal.protocol.days import GRACE_MS
from samedeal.protocol.fields import Phase, Status
from samedeal_server.judge import CannotBePlayed, Judge, Played
from samedeal_server.race import RaceState, SeatState
from samedeal_server.results import Result, results_of
from samedeal_server.rows import ALL, DAY_MS, Board, Row, day_of, period_of
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore

__all__ = ["BoardCheck"]

log = logging.getLogger(__name__)

FIRST, OTHERS = 10, 20
"""Rows of each board that are looked at: the first, and others at random."""
KEPT_ROWS = 100
"""The fastest of all time, whose races are kept so that they open as replays."""
_AFTER_MS = GRACE_MS + 600_000
"""The day before is closed and booked by then."""


class BoardCheck:
    """Looks through the boards, and keeps a report of each day for the operators."""

    def __init__(
        self,
        store: BoardStore,
        races: RaceStore,
        days: DayStore,
        closing: asyncio.Event | None = None,
    ) -> None:
        """`closing` ends a check early: another node begins it anew."""
        self._store = store
        self._races = races
        self._days = days
        self._closing = asyncio.Event() if closing is None else closing

    async def nightly(self) -> None:
        """Check the boards if that is not done for the day before, and nobody else is at it."""
        now_ms = await self._days.now_ms()
        day = day_of(now_ms - _AFTER_MS - DAY_MS)
        if not await self._store.may_check(day):
            return
        report = await self.check(day, now_ms)
        if self._closing.is_set():
            await self._store.left_unchecked(day)
            return
        await self._store.checked(day, json.dumps(report))
        log.info("boards of %s: %d rows checked", day, report["checked"])

    async def check(self, day: str, now_ms: int) -> dict[str, object]:
        """Play a sample of rows again, and have the races of the fastest kept."""
        checked, gone, differences = 0, 0, []
        boards = [
            board
            for game in GAMES
            for bots in (False, True)
            for board in _boards(game, day, now_ms, bots=bots)
        ]
        async with Judge() as judge:
            for board in boards:
                await self._store.still_checking(day)
                if board.kind is BoardKind.FASTEST and board.period == ALL:
                    await self._keep(board)
                for row in await self._store.sample(board, FIRST, OTHERS, random.Random()):
                    if self._closing.is_set():
                        break
                    sentence = await self._differs(judge, board, row)
                    checked += sentence is not None
                    gone += sentence is None
                    if sentence:
                        where = f"{board.kind} {board.period} of {board.game}"
                        log.error("row %s of %s: %s", row.run, where, sentence)
                        differences.append({"board": where, "run": row.run, "is": sentence})
        return {"day": day, "checked": checked, "gone": gone, "differences": differences}

    async def _differs(self, judge: Judge, board: Board, row: Row) -> str | None:
        """Say how a row differs from its run: empty if not; None if the run is kept no more."""
        race_id, _, seat = row.run.partition(".")
        state = await self._races.load(race_id)
        if state is None or int(seat) not in state.seats:
            return None
        if state.phase is not Phase.CLOSED:
            return "its race is not closed"
        try:
            state = await self._played_again(judge, state)
        except CannotBePlayed as error:
            return f"its log cannot be played: {error}"
        result = next((one for one in results_of(state) if one.run == row.run), None)
        if result is None:
            return "its race counts for nothing"
        if result.player != row.player:
            return f"it was played by {result.player}"
        if not await self._store.has(board.game, result):
            return "its player's runs have another result of it"
        if board.kind is BoardKind.WINS:
            return ""
        if not result.order:
            return "it ranks on no such board"
        if _row(result) != row:
            played, told = (board.order.decode(one.order) for one in (_row(result), row))
            return f"the row says {told}, the replay {played}"
        return ""

    async def _played_again(self, judge: Judge, state: RaceState) -> RaceState:
        """The record of a race as its logs say it must be. Raise CannotBePlayed."""
        seats = {}
        for number, seat in state.seats.items():
            log = await self._races.log(state.id, number)
            seats[number] = _seat(
                seat, await judge.play(state.game, state.seed, state.options.undo, log)
            )
        return dataclasses.replace(state, seats=seats)

    async def _keep(self, board: Board) -> None:
        page = await self._store.top(board, KEPT_ROWS)
        for race_id in {shown.row.run.partition(".")[0] for shown in page.rows}:
            await self._races.keep(race_id)


def _boards(game: str, day: str, now_ms: int, *, bots: bool) -> list[Board]:
    week = period_of(Period.WEEK, now_ms)
    return [
        Board(game, BoardKind.WINS, bots=bots),
        Board(game, BoardKind.FASTEST, bots=bots),
        Board(game, BoardKind.FASTEST, week, bots),
        Board(game, BoardKind.DAILY, day, bots),
    ]


def _seat(seat: SeatState, run: Played) -> SeatState:
    """A seat with what the engine makes of its log; how else a run ended, only the record says."""
    ended = Status.WON if run.is_won else seat.ended
    return dataclasses.replace(
        seat,
        ended=None if ended is Status.WON and not run.is_won else ended,
        seq=run.seq,
        home=run.home,
        best=run.best,
        opened=run.opened,
        t_ms=run.t_ms,
        t_best_ms=run.t_best_ms,
        m_best=run.m_best,
    )


def _row(result: Result) -> Row:
    return Row(result.order, result.at_ms, result.player, result.run)
