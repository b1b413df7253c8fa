"""The daily challenge: the deals of the days, who may play one, and who may see whose result."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from samedeal.engine.deals import commitment
from samedeal.engine.games import game
from samedeal.engine.run import UndoPolicy
from samedeal.protocol import daily_messages as wire
from samedeal.protocol import days
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import DealLabel, Phase, RaceOptions, Spectating
from samedeal_server.almanac import Calendar
from samedeal_server.boards import Boards
from samedeal_server.errors import Refusal, SeedUsed
from samedeal_server.opening import SEED_BYTES, check_open, dealt, free_code
from samedeal_server.race import RaceDay, RaceState, SeatState
from samedeal_server.rooms import Rooms
from samedeal_server.rows import Board
from samedeal_server.store.accounts import Account, new_id
from samedeal_server.store.boards import Page
from samedeal_server.store.days import DayDeal, DayStore, Tries
from samedeal_server.store.races import RaceStore
from samedeal_server.streaks import Streaks

__all__ = ["Days", "Draw", "Drawn", "drawn_at_random"]

log = logging.getLogger(__name__)

PRACTICE_S = 24 * 3600
RANKED_S = (days.DAY_MS + days.GRACE_MS) // 1000


class Drawn(NamedTuple):
    """A seed for a day, and what is known of its deal."""

    label: DealLabel
    seed: bytes


Draw = Callable[[str], Awaitable[Drawn]]
"""Draws the seed of a day for a game; nobody can guess it, and none comes twice."""


async def drawn_at_random(_game: str) -> Drawn:
    """Draw from the system's randomness: nobody knows whether the deal can be won."""
    return Drawn(DealLabel.OPEN, secrets.token_bytes(SEED_BYTES))


class Days:
    """What players ask about days, done in the store."""

    def __init__(
        self,
        races: RaceStore,
        rooms: Rooms,
        store: DayStore,
        boards: Boards,
        streaks: Streaks,
        calendar: Calendar | None = None,
        draw: Draw = drawn_at_random,
    ) -> None:
        self._races = races
        self._rooms = rooms
        self._store = store
        self._boards = boards
        self.streaks = streaks
        self._calendar = Calendar() if calendar is None else calendar
        self._draw = draw

    async def prepare(self) -> None:
        """Make the deals of today and of the days to come that are not made yet.

        Raise SeedUsed if the source of randomness repeats itself; OSError if it fails.
        """
        today = self._calendar.day_at(await self._store.now_ms())
        wanted = [
            (day, game_id)
            for day in range(today, today + days.AHEAD + 1)
            for game_id in days.DAILY_GAMES
        ]
        _, found = await self._store.deals(wanted)
        for (day, game_id), deal in zip(wanted, found, strict=True):
            if deal is None:
                await self._make(day, game_id)

    async def _make(self, day: int, game_id: str) -> DayDeal:
        drawn = await self._draw(game_id)
        return await self._store.put(DayDeal(day, game_id, drawn.label, drawn.seed))

    async def open(self, account: Account, message: wire.DailyPlay) -> str:
        """Find the asker's run at a deal, or begin it: its clock starts. Return the race's id."""
        game_id = _of_the_day(message.game)
        now_ms = await self._store.now_ms()
        today = self._calendar.day_at(now_ms)
        day = today if message.day is None else message.day
        if day > today:
            raise Refusal(ErrorCode.WRONG_PHASE, f"day {day} has not begun; today is day {today}")
        if message.practice:
            return await self._practise(account, day, today, game_id)
        if message.day is None and (late := await self._late(account, today - 1, game_id, now_ms)):
            return late
        if day < today:
            if late := await self._late(account, day, game_id, now_ms):
                return late
            sentence = f"day {day} is past: it can be played as practice"
            raise Refusal(ErrorCode.WRONG_PHASE, sentence)
        race_id = await self._rank(account, day, game_id)
        if race_id is None and message.day is None:
            # Midnight came between two questions.
            race_id = await self._rank(account, day + 1, game_id)
        if race_id is None:
            raise Refusal(ErrorCode.WRONG_PHASE, f"day {day} is over")
        return race_id

    async def _late(self, account: Account, day: int, game_id: str, now_ms: int) -> str:
        """Return the run that ranks of a day that is past, if it is still on, or nothing."""
        if now_ms >= self._calendar.closes_at_ms(day):
            return ""
        tries = await self._store.tries(account.player, day, game_id)
        state = await self._ranked(tries)
        return state.id if state is not None and state.was_run and not is_over(state) else ""

    async def _rank(self, account: Account, day: int, game_id: str) -> str | None:
        """Begin the run that ranks, or find it; None if the day is over."""
        deal = await self._deal(day, game_id, may_make=True)
        race_id = await self._store.claim(account.player, day, game_id, new_id())
        state = await self._rooms.load(race_id)
        if state is None:
            await self._create(account, deal, race_id, is_practice=False)
        elif is_over(state):
            # Its close may be on its way only: then it is closed and booked by now.
            await self._rooms.advance(race_id)
            sentence = f"you have played day {day} of {game_id}; once more is practice"
            raise Refusal(ErrorCode.RUN_OVER, sentence)
        word = await self._races.begin(
            race_id,
            before_ms=self._calendar.ends_at_ms(day),
            deadline_ms=self._calendar.closes_at_ms(day),
        )
        return race_id if word == "done" else None

    async def _practise(self, account: Account, day: int, today: int, game_id: str) -> str:
        """Begin a run that does not rank, or find the one that is not over."""
        deal = await self._deal(day, game_id, may_make=day == today)
        tries = await self._store.tries(account.player, day, game_id)
        ranked = await self._ranked(tries)
        is_on = ranked is not None and ranked.was_run and not is_over(ranked)
        if is_on or (day == today and (ranked is None or not ranked.was_run)):
            sentence = f"your first run of day {day} ranks; play it to its end first"
            raise Refusal(ErrorCode.WRONG_PHASE, sentence)
        race_id = tries.practice
        last = await self._rooms.load(race_id) if race_id else None
        if last is None or is_over(last):
            mine = new_id()
            await check_open(self._races, account.player, mine)
            race_id = await self._store.practise(account.player, day, game_id, tries.practice, mine)
            if race_id != mine:
                await self._races.over(account.player, mine)
            await self._create(account, deal, race_id, is_practice=True)
        deadline_ms = await self._store.now_ms() + PRACTICE_S * 1000
        await self._races.begin(race_id, before_ms=deadline_ms, deadline_ms=deadline_ms)
        return race_id

    async def _create(
        self, account: Account, deal: DayDeal, race_id: str, *, is_practice: bool
    ) -> None:
        options = RaceOptions(
            seats=1,
            time_limit_s=PRACTICE_S if is_practice else RANKED_S,
            last_call_s=0,
            countdown_s=0,
            undo=UndoPolicy.SAFE,
            spectating=Spectating.OFF,
            ranked=not is_practice,
            bots=account.bot,
        )
        seat = SeatState(seat=1, player=account.player, name=account.name, bot=account.bot)
        await self._races.create(
            dealt(
                deal.game,
                deal.seed,
                id=race_id,
                code=await free_code(self._races, race_id),
                practice=is_practice,
                options=options,
                round=1,
                host=1,
                roster=(seat,),
                day=RaceDay(deal.day, deal.label, self._calendar.ends_at_ms(deal.day)),
            )
        )

    async def _deal(self, day: int, game_id: str, *, may_make: bool) -> DayDeal:
        """The deal of a day. Raise Refusal if there is none, or none can be made."""
        _, (deal,) = await self._store.deals([(day, game_id)])
        if deal is None and may_make:
            try:
                deal = await self._make(day, game_id)
            except (SeedUsed, OSError, NotImplementedError):
                log.exception("day %d of %s has no deal", day, game_id)
                sentence = "the server could not make the deal of this day; it is in its log"
                raise Refusal(ErrorCode.INTERNAL, sentence) from None
        if deal is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"there was no daily on day {day}")
        return deal

    # Who may see what

    async def check_visible(self, account: Account, state: RaceState) -> None:
        """Raise Refusal if the asker may not see this run, of another account, yet."""
        if state.day is None or account.player == state.seats[1].player:
            return
        if not await self.may_see(account, state.day.number, state.game):
            raise _hidden(state.day.number)

    async def check_board(self, account: Account, board: Board) -> None:
        """Raise Refusal if the asker may not see the board of a day yet, or the day is void."""
        day = days.number_of_iso(board.period)
        if not await self.may_see(account, day, board.game):
            raise _hidden(day)
        if day in await self._store.voided(board.game):
            sentence = f"day {day} of {board.game} was taken out of the ranking by the operators"
            raise Refusal(ErrorCode.NOT_FOUND, sentence)

    async def may_see(self, account: Account, day: int, game_id: str) -> bool:
        """Whether results of others may be shown: the day is closed, or the own run is."""
        if await self._store.now_ms() >= self._calendar.closes_at_ms(day):
            return True
        tries = await self._store.tries(account.player, day, game_id)
        state = await self._ranked(tries)
        if state is None or not state.was_run or not is_over(state):
            return False
        if state.phase is not Phase.CLOSED:
            await self._rooms.advance(state.id)
        return True

    def here_ms(self, now_ms: int) -> int:
        """What time it is in the days, at a time of the store's clock."""
        return now_ms + self._calendar.ahead_ms

    # What a day is

    async def show(self, account: Account, message: wire.DailyGet) -> wire.Daily:
        """A day: its deals, the own runs, and what is promised for the days to come."""
        calendar = self._calendar
        now_ms = await self._store.now_ms()
        today = calendar.day_at(now_ms)
        day = today if message.day is None else message.day
        if day > today:
            raise Refusal(ErrorCode.WRONG_PHASE, f"day {day} has not begun; today is day {today}")
        game_ids = days.DAILY_GAMES if message.game is None else (_of_the_day(message.game),)
        deals, coming = await self._read(day, today, game_ids)
        games = await self._games(account, deals, now_ms=now_ms)
        return wire.Daily(
            id=message.id,
            day=day,
            date=days.date_of(day).isoformat(),
            featured=days.featured(day),
            now_ms=now_ms + calendar.ahead_ms,
            rollover_ms=max(0, calendar.ends_at_ms(day) - now_ms),
            closed=now_ms >= calendar.closes_at_ms(day),
            games=tuple(games),
            coming=coming,
        )

    async def _read(
        self, day: int, today: int, game_ids: Sequence[str]
    ) -> tuple[list[DayDeal], tuple[wire.Promise, ...]]:
        """The deals of a day, and what is promised for the days to come. Raise Refusal."""
        wanted = [
            (each, game_id)
            for each in (day, *range(today + 1, today + days.AHEAD + 1))
            for game_id in game_ids
        ]
        _, found = await self._store.deals(wanted)
        of_day, to_come = found[: len(game_ids)], found[len(game_ids) :]
        deals = [
            deal if deal is not None else await self._deal(day, game_id, may_make=day == today)
            for game_id, deal in zip(game_ids, of_day, strict=True)
        ]
        return deals, tuple(_promise(deal) for deal in to_come if deal is not None)

    async def _games(
        self, account: Account, deals: Sequence[DayDeal], *, now_ms: int
    ) -> list[wire.DayGame]:
        """What there is to say of each deal of a day, read all at the same time."""
        is_closed = now_ms >= self._calendar.closes_at_ms(deals[0].day)
        streaks, pages, runs = await asyncio.gather(
            self.streaks.of(account.player, [deal.game for deal in deals], now_ms),
            asyncio.gather(*(self._own_row(account, deal) for deal in deals)),
            self._own_runs(account, deals),
        )
        return [
            wire.DayGame(
                game=deal.game,
                label=deal.label,
                commitment=_promised(deal),
                seed=deal.seed.hex() if is_closed else None,
                void=deal.is_void,
                played=page.total,
                own=_own(state, 0 if page.me is None or deal.is_void else page.me.place),
                streak=wire.Streak(days=streak.days, best=streak.best, freezes=streak.freezes),
            )
            for deal, streak, page, state in zip(deals, streaks, pages, runs, strict=True)
        ]

    async def _own_row(self, account: Account, deal: DayDeal) -> Page:
        date = days.date_of(deal.day).isoformat()
        board = Board(deal.game, BoardKind.DAILY, date, account.bot)
        return await self._boards.store.top(board, 1, me=account.player)

    async def _own_runs(self, account: Account, deals: Sequence[DayDeal]) -> list[RaceState | None]:
        wanted = [(deal.day, deal.game) for deal in deals]
        tries = await self._store.all_tries(account.player, wanted)
        return await asyncio.gather(*(self._ranked(each) for each in tries))

    async def _ranked(self, tries: Tries) -> RaceState | None:
        """The run that ranks, if there is one."""
        return await self._rooms.load(tries.ranked) if tries.ranked else None


def _own(state: RaceState | None, place: int) -> wire.OwnRun | None:
    if state is None or not state.was_run:
        return None
    seat = state.seats[1]
    moves, t_ms = seat.counted if is_over(state) else (seat.seq, seat.t_ms)
    return wire.OwnRun(
        race=state.id,
        status=seat.status(state.phase),
        best=seat.best,
        opened=seat.opened,
        home=seat.home,
        moves=moves,
        t_ms=t_ms,
        place=place,
    )


def _promise(deal: DayDeal) -> wire.Promise:
    return wire.Promise(
        day=deal.day,
        date=days.date_of(deal.day).isoformat(),
        game=deal.game,
        label=deal.label,
        commitment=_promised(deal),
    )


def _hidden(day: int) -> Refusal:
    sentence = f"results of day {day} are hidden until your own run is over"
    return Refusal(ErrorCode.HIDDEN, sentence)


def is_over(state: RaceState) -> bool:
    """Whether nothing more counts in a day's run."""
    if not state.was_run:
        return state.phase is Phase.CLOSED
    has_ended = state.phase is Phase.CLOSED or state.seats[1].ended is not None
    return has_ended or state.now_ms >= state.deadline_at_ms


def _of_the_day(game_id: str) -> str:
    if game_id not in days.DAILY_GAMES:
        games = ", ".join(days.DAILY_GAMES)
        raise Refusal(ErrorCode.NOT_FOUND, f"there is no daily of {game_id}; games: {games}")
    return game_id


def _promised(deal: DayDeal) -> str:
    return commitment(game(deal.game), deal.seed)
