"""What closed races write on the boards, and what is read from them."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from closed import race_closed
from node import node
from samedeal.protocol.board_messages import Board as Page
from samedeal.protocol.board_messages import (
    BoardGet,
    BoardKind,
    FriendAdd,
    FriendRemove,
    FriendsGet,
)
from samedeal.protocol.days import DAY_MS, GRACE_MS, begins_at_ms, date_of, number_of
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import DealLabel, RaceOptions, Status
from samedeal_server.admin.operators import Operators
from samedeal_server.board_desk import BoardDesk
from samedeal_server.boards import Boards
from samedeal_server.desk import RaceDesk
from samedeal_server.errors import Refusal
from samedeal_server.race import RaceDay, RaceState, SeatState
from samedeal_server.results import results_of
from samedeal_server.store import keys
from samedeal_server.store.accounts import Account, AccountStore
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayDeal, DayStore
from samedeal_server.store.friends import MAX_FRIENDS

pytestmark = pytest.mark.usefixtures("every_key_expires")

MONDAY = datetime.now(UTC).date() - timedelta(days=datetime.now(UTC).weekday() + 7)
"""Of last week: its days are closed, and nothing of it is forgotten yet."""
NOON_MS = begins_at_ms(number_of(MONDAY)) + 12 * 3600 * 1000
ADA, IVO, EVA, BOT = "ada0000000000000", "ivo0000000000000", "eva0000000000000", "bot0000000000000"
ZOE = "zoe0000000000000"
NAMES = {ADA: "ada", IVO: "ivo", EVA: "eva", ZOE: "zoe", BOT: "greta"}


def run(player: str, *, won: bool = False, t_ms: int = 0, moves: int = 9, best: int = 3) -> Any:
    """A run as its seat has it, but for the number of the seat."""
    return {
        "player": player,
        "name": NAMES[player],
        "bot": player == BOT,
        "seq": moves,
        "ended": Status.WON if won else Status.BANKED,
        "t_ms": t_ms,
        "t_best_ms": t_ms,
        "best": best,
        "m_best": moves,
    }


def closed(
    number: int, *runs: Any, at_ms: int = NOON_MS, practice: bool = False, **options: Any
) -> RaceState:
    """A race that closed at a time, ten minutes after GO."""
    seats = {at: SeatState(seat=at, **one) for at, one in enumerate(runs, start=1)}
    return race_closed(number, seats, at_ms, RaceOptions(**options), practice=practice)


def cut_off(*runs: Any) -> RaceState:
    """A race that a person ended before its time, while the last of these, a bot, played on."""
    state = closed(1, *runs)
    state.deadline_at_ms = state.closed_at_ms + 1
    state.seats[len(runs)].ended = None
    return state


def day(number: int) -> str:
    """A day of the week, from its Monday on."""
    return (MONDAY + timedelta(days=number)).isoformat()


def daily(number: int, on: int, played: Any, *, practice: bool = False) -> RaceState:
    """A run at the deal of a day."""
    at_ms = NOON_MS + on * DAY_MS
    state = closed(number, played, at_ms=at_ms, practice=practice)
    today = number_of(MONDAY) + on
    state.day = RaceDay(today, DealLabel.OPEN, begins_at_ms(today + 1))
    return state


class Clock:
    """The clock of a node, which may be wrong."""

    now_ms = NOON_MS

    def __call__(self) -> int:
        return self.now_ms


class Service:
    """The boards of an empty store, as closed races write them and as players see them."""

    def __init__(self, redis: Redis, desk: RaceDesk, clock: Clock) -> None:
        self.store = BoardStore(redis)
        self.days = desk.days
        self.boards = Boards(self.store, desk.races, DayStore(redis))
        self.desk = BoardDesk(self.store, desk.days, clock)

    async def book(self, *states: RaceState) -> None:
        for state in states:
            await self.boards.book(state)

    async def page(self, who: str = ADA, **wish: Any) -> Page:
        account = Account(who, NAMES.get(who, "somebody"), who == BOT)
        return await self.desk.page(account, BoardGet(**{"id": 1, "game": "lanes"} | wish))

    async def shown(self, who: str = ADA, **wish: Any) -> list[tuple[int, str, str | None]]:
        """The rows of a board: place, name, run."""
        return [(row.place, row.name, row.run) for row in (await self.page(who, **wish)).rows]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(redis: Redis, valkey_url: str, clock: Clock) -> AsyncIterator[Service]:
    async with node(valkey_url, "n1") as desk:
        yield Service(redis, desk, clock)


def seat_of(number: int, seat: int) -> str:
    return f"race{number:012}.{seat}"


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (closed(1, run(ADA), run(IVO), practice=True), "practice"),
        (closed(1, run(ADA), run(IVO, moves=0)), "only one moved"),
        (closed(1, run(ADA)), "alone"),
        (cut_off(run(ADA, best=9), run(BOT)), "the bot was cut off"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_counts_for_nothing(state: RaceState, why: str) -> None:
    assert results_of(state) == (), why


def test_a_bot_that_is_cut_off_changes_nothing_for_two_others_or_once_the_race_is_won() -> None:
    results = results_of(cut_off(run(ADA, best=9), run(IVO), run(BOT)))
    assert [result.is_first for result in results] == [True, False, False]
    results = results_of(cut_off(run(ADA, won=True), run(BOT)))
    assert [result.is_first for result in results] == [True, False]
    at_its_time = cut_off(run(ADA, best=9), run(BOT))
    at_its_time.deadline_at_ms = at_its_time.closed_at_ms
    assert [result.is_first for result in results_of(at_its_time)] == [True, False]


async def test_wins_count_of_every_race_that_two_played(service: Service) -> None:
    await service.book(closed(1, run(ADA, best=9), run(IVO), run(EVA, moves=0)))
    await service.book(closed(2, run(ADA, best=9), run(IVO, best=9)))
    page = await service.page(IVO)
    assert [(row.place, row.name, row.wins, row.races) for row in page.rows] == [
        (1, "ada", 2, 2), (2, "ivo", 1, 2), (3, "eva", 0, 1)
    ]  # fmt: skip
    assert page.me is not None
    assert (page.me.place, page.total, page.beaten) == (2, 3, 5_000)


async def test_bots_are_on_boards_of_their_own(service: Service) -> None:
    await service.book(closed(1, run(BOT, best=9), run(ADA)))
    assert await service.shown() == [(1, "ada", seat_of(1, 2))]
    assert await service.shown(bots=True) == [(1, "greta", seat_of(1, 1))]


async def test_the_fastest_are_of_ranked_races_alone(service: Service) -> None:
    ranked: dict[str, Any] = {"ranked": True, "spectating": "shape"}
    await service.book(closed(1, run(ADA, won=True, t_ms=200_000), run(IVO)))
    await service.book(closed(2, run(ADA, won=True, t_ms=300_000), run(IVO), **ranked))
    second = run(ADA, won=True, t_ms=250_019, moves=40)
    await service.book(closed(3, run(IVO, won=True, t_ms=250_010, moves=40), second, **ranked))
    for period in ("week", "month", "all"):
        wish = {"board": BoardKind.FASTEST, "period": period, "day": day(0)}
        # Within ten milliseconds is the same time, and the earlier stands first.
        assert await service.shown(**wish) == [
            (1, "ivo", seat_of(3, 1)),
            (1, "ada", seat_of(3, 2)),
        ]


async def test_a_race_counts_in_the_week_in_which_it_closed(service: Service) -> None:
    sunday_ms = NOON_MS - 24 * 3600 * 1000
    await service.book(closed(1, run(ADA, best=9), run(IVO), at_ms=sunday_ms))
    await service.book(closed(2, run(IVO, best=9), run(ADA)))
    wish = {"period": "week"}
    assert await service.shown(day=day(-7), **wish) == [
        (1, "ada", seat_of(1, 1)),
        (2, "ivo", seat_of(1, 2)),
    ]
    assert await service.shown(day=day(6), **wish) == [
        (1, "ivo", seat_of(2, 1)),
        (2, "ada", seat_of(2, 2)),
    ]


async def test_today_is_what_the_store_says_whatever_the_clock_of_the_node(
    redis: Redis, service: Service, clock: Clock
) -> None:
    clock.now_ms = 0
    seconds, _ = await redis.time()
    await service.book(closed(1, run(ADA), run(IVO), at_ms=seconds * 1000))
    for _ in range(2):
        rows = await service.shown(period="week")
        assert [name for _, name, _ in rows] == ["ada", "ivo"]


async def test_pages_lead_through_a_board_and_back(service: Service) -> None:
    for number in range(1, 4):
        await service.book(closed(number, run(ADA, best=9), run(IVO), run(EVA, best=1)))

    async def page(**wish: Any) -> tuple[list[str], str | None, str | None]:
        answer = await service.page(limit=2, **wish)
        return [row.name for row in answer.rows], answer.previous, answer.next

    names, before, after = await page()
    assert (names, before) == (["ada", "eva"], None)
    names, before, end = await page(page=after)
    assert (names, end) == (["ivo"], None)
    names, before, after = await page(page=before)
    assert (names, before) == (["ada", "eva"], None)
    assert after is not None
    assert (await page(around=True))[0] == ["ada", "eva"]


@pytest.mark.parametrize("kind", BoardKind)
@pytest.mark.parametrize("long_ago", ["0001-01-01", "1969-12-31", "2024-02-29", "9999-12-30"])
async def test_a_day_on_which_nobody_played_has_empty_boards(
    service: Service, kind: BoardKind, long_ago: str
) -> None:
    # The daily of a day to come is hidden.
    if kind is not BoardKind.DAILY or long_ago < "2025":
        assert (await service.page(ADA, board=kind, day=long_ago)).rows == ()


@pytest.mark.parametrize(
    ("wish", "code", "sentence"),
    [
        ({"game": "bridge"}, ErrorCode.NOT_FOUND, "bridge"),
        ({"period": "month"}, ErrorCode.BAD_OPTION, "no wins board of that period, but: all and"),
        ({"board": "daily", "period": "week"}, ErrorCode.BAD_OPTION, "is of a day"),
        ({"day": "2026-02-30"}, ErrorCode.BAD_OPTION, "2026-02-30 is no day of the calendar"),
        ({"day": "0000-01-01"}, ErrorCode.BAD_OPTION, "0000-01-01 is no day of the calendar"),
        ({"day": "9999-12-31"}, ErrorCode.BAD_OPTION, "9999-12-31 is no day of the calendar"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
async def test_a_board_that_there_is_not_is_refused(
    service: Service, wish: dict[str, str], code: ErrorCode, sentence: str
) -> None:
    with pytest.raises(Refusal, match=sentence) as refused:
        await service.page(**wish)
    assert refused.value.code is code


# Days and seasons


async def test_a_day_ranks_the_won_then_best_opened_moves_and_time(service: Service) -> None:
    await service.book(
        daily(1, 0, run(ADA, best=20, moves=30, t_ms=9_000)),
        daily(2, 0, run(IVO, best=20, moves=29, t_ms=90_000)),
        daily(3, 0, run(EVA, won=True, best=48, moves=99, t_ms=999_000)),
        daily(4, 0, run(BOT, won=True, best=48)),
        daily(5, 0, run(ZOE, moves=0)),
        daily(6, 0, run(ZOE, won=True), practice=True),
    )
    rows = await service.shown(board=BoardKind.DAILY, day=day(0))
    assert [name for _, name, _ in rows] == ["eva", "ivo", "ada"]
    (row,) = (await service.page(board=BoardKind.DAILY, day=day(0), bots=True)).rows
    assert (row.name, row.won, row.best, row.moves) == ("greta", True, 48, 9)


async def test_a_day_within_a_tenth_of_a_second_is_shared(service: Service) -> None:
    await service.book(
        daily(1, 0, run(ADA, t_ms=9_099)),
        daily(2, 0, run(IVO, t_ms=9_000)),
        daily(3, 0, run(EVA, t_ms=9_100)),
    )
    rows = await service.shown(board=BoardKind.DAILY, day=day(0))
    assert [(place, name) for place, name, _ in rows] == [(1, "ivo"), (1, "ada"), (3, "eva")]


async def test_results_of_a_day_are_hidden_until_the_own_run_is_over(
    redis: Redis, service: Service
) -> None:
    seconds, _ = await redis.time()
    today = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    with pytest.raises(Refusal, match="hidden until your own run is over") as refused:
        await service.page(board=BoardKind.DAILY, day=today)
    assert refused.value.code is ErrorCode.HIDDEN
    assert (await service.page(board=BoardKind.DAILY, day=day(0))).rows == ()


async def test_a_season_is_the_mean_of_the_best_days(service: Service) -> None:
    """Ada beats both, ivo one and eva none; a day with a tie; a fourth day without ada."""
    await service.book(
        *(daily(10 + on, on, run(ADA, best=9)) for on in range(3)),
        *(daily(20 + on, on, run(IVO, best=8)) for on in range(4)),
        *(daily(30 + on, on, run(EVA, best=8 if on == 2 else 7)) for on in range(4)),
        *(daily(40 + on, on, run(ZOE, best=1)) for on in (5, 6)),
    )
    await service.boards.tend()
    page = await service.page(board=BoardKind.SEASON, day=day(3))
    # ivo: 50, 50, 25 (shared with eva) and 100; eva: 0, 0, 25 and 0; zoe played two days, alone.
    assert [(row.place, row.name, row.percent) for row in page.rows] == [
        (1, "ada", 10_000), (2, "ivo", 5_625), (3, "eva", 625)
    ]  # fmt: skip
    assert [row.run for row in page.rows] == [seat_of(10, 1), seat_of(23, 1), seat_of(32, 1)]


async def test_a_void_day_counts_for_no_season_until_it_is_put_back(
    redis: Redis, service: Service
) -> None:
    deal = DayDeal(number_of(MONDAY), "lanes", DealLabel.OPEN, bytes(32))
    await DayStore(redis).put(deal)
    await service.book(*(daily(10 + on, on, run(ADA, best=9)) for on in range(3)))
    await service.book(*(daily(20 + on, on, run(IVO, best=8)) for on in range(3)))
    await service.boards.tend()
    wish = {"board": BoardKind.SEASON, "day": day(0)}
    before = await service.shown(**wish)
    assert len(before) == 2
    operators = Operators(redis, "ops")
    await operators.void_day(number_of(MONDAY), ["lanes"], "a test")
    await service.boards.tend()
    assert await service.shown(**wish) == []
    with pytest.raises(Refusal, match="taken out of the ranking"):
        await service.shown(board=BoardKind.DAILY, day=day(0))
    await operators.void_day(number_of(MONDAY), ["lanes"], "a mistake", unvoid=True)
    await service.boards.tend()
    assert await service.shown(**wish) == before


async def test_only_days_that_are_over_count_for_a_season(redis: Redis, service: Service) -> None:
    seconds, _ = await redis.time()
    today = number_of(datetime.fromtimestamp(seconds, UTC).date())
    on = today - number_of(MONDAY)
    for number, player in enumerate((ADA, IVO)):
        await service.book(daily(50 + number, on, run(player, best=number)))
    await service.boards.tend()
    due_ms = await redis.zscore(keys.days_due("lanes"), date_of(today).isoformat())
    assert due_ms == begins_at_ms(today + 1) + GRACE_MS


# Operators


async def everything(redis: Redis) -> dict[str, Any]:
    """What the store holds of boards, but for what is only kept aside."""
    found: dict[str, Any] = {}
    async for key in redis.scan_iter(match="{b:*"):
        if await redis.type(key) == "zset" and not key.endswith(":days"):
            found[key] = await redis.zrange(key, 0, -1)
    return found


def week_of_play() -> list[RaceState]:
    """Races and days of everybody, won and lost, ranked and not."""
    ranked: dict[str, Any] = {"ranked": True, "spectating": "shape"}
    races = [
        closed(1, run(ADA, won=True, t_ms=200_000), run(IVO, won=True, t_ms=210_000), **ranked),
        closed(2, run(ADA, won=True, t_ms=190_000), run(EVA), run(IVO, best=9), **ranked),
        closed(3, run(IVO, won=True, t_ms=250_000), run(EVA, best=4)),
        closed(4, run(BOT, won=True, t_ms=150_000), run(ADA)),
        closed(5, run(EVA, best=7), run(IVO), at_ms=NOON_MS - 7 * DAY_MS),
    ]
    days = [
        daily(100 * on + at, on, run(player, best=10 * at + on, moves=20))
        for on in range(4)
        for at, player in enumerate((IVO, ADA, EVA, BOT), start=1)
    ]
    return races + days


async def test_a_lost_or_damaged_board_is_made_again_from_the_runs(
    redis: Redis, service: Service
) -> None:
    await service.book(*week_of_play())
    await service.boards.tend()
    before = await everything(redis)
    assert any(":season:" in key for key in before)
    for key in before:
        if ":runs:" not in key:
            await redis.delete(key, f"{key}:of")
    await redis.zadd("{b:lanes}:wins:all", {"0" * 28 + ADA + seat_of(9, 1): 0})
    assert await service.boards.rebuild("lanes") == 27
    assert await everything(redis) == before


async def test_it_does_not_matter_in_which_order_and_how_often_runs_are_booked(
    redis: Redis, service: Service
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    states = week_of_play()
    await service.book(*states)
    await service.boards.tend()
    before = await everything(redis)
    await redis.flushall()
    random.Random(seed).shuffle(states)
    await service.book(*states, *states[:9])
    await service.boards.tend()
    assert await everything(redis) == before


async def test_p45_a_banned_player_leaves_no_hole_and_comes_back_whole(
    redis: Redis, service: Service
) -> None:
    states = week_of_play()
    await service.book(*states)
    await service.boards.tend()
    before = await everything(redis)
    await service.boards.hide(ADA)
    await service.boards.tend()
    daily_, season = {"board": BoardKind.DAILY}, {"board": BoardKind.SEASON}
    for wish, names in (
        ({"day": day(0), **daily_}, ["eva", "ivo"]),
        ({"day": day(0), **season}, ["eva", "ivo"]),
        ({"board": BoardKind.FASTEST}, ["ivo"]),
        ({}, ["eva", "ivo"]),
    ):
        rows = await service.shown(**wish)
        assert [(place, name) for place, name, _ in rows] == list(enumerate(names, start=1)), wish
    # Boards made anew meanwhile leave out who is hidden, too.
    await service.boards.rebuild("lanes")
    assert await service.shown(board=BoardKind.FASTEST) == [(1, "ivo", seat_of(1, 2))]
    await service.boards.show(ADA)
    # Without eva, who beat them both every day, ada beat everybody.
    await service.boards.hide(EVA)
    await service.boards.tend()
    seasons = (await service.page(day=day(0), **season)).rows
    assert [(row.name, row.percent) for row in seasons] == [("ada", 10_000), ("ivo", 0)]
    await service.boards.show(EVA)
    await service.boards.tend()
    assert await everything(redis) == before


async def test_a_removed_run_and_a_void_race_change_what_follows_and_come_back(
    redis: Redis, service: Service
) -> None:
    await service.book(*week_of_play())
    await service.boards.tend()
    before = await everything(redis)
    assert await service.boards.remove(seat_of(2, 1))
    assert await service.shown(board=BoardKind.FASTEST) == [
        (1, "ada", seat_of(1, 1)),
        (2, "ivo", seat_of(1, 2)),
    ]
    assert await service.boards.void(f"race{1:012}")
    assert await service.shown(board=BoardKind.FASTEST) == []
    assert await service.boards.remove(seat_of(1 * 100 + 3, 1))
    rows = await service.shown(board=BoardKind.DAILY, day=day(1))
    assert [name for _, name, _ in rows] == ["ada", "ivo"]
    # Whatever is booked again meanwhile, what was removed stays so; also in boards made anew.
    await service.book(*week_of_play())
    await service.boards.rebuild("lanes")
    assert await service.shown(board=BoardKind.FASTEST) == []
    for run_ in (seat_of(2, 1), seat_of(103, 1)):
        assert await service.boards.restore(run_)
    assert await service.boards.unvoid(f"race{1:012}")
    await service.boards.tend()
    assert await everything(redis) == before


async def test_there_is_no_such_run(service: Service) -> None:
    assert not await service.boards.remove(seat_of(1, 1))
    assert not await service.boards.void(f"race{1:012}")


async def test_a_player_who_is_forgotten_leaves_nothing(redis: Redis, service: Service) -> None:
    await service.book(*week_of_play())
    await service.boards.forget(ADA)
    await service.boards.tend()
    async for key in redis.scan_iter(match="{b:*"):
        if key.endswith(":hidden"):
            continue
        kind = await redis.type(key)
        held = await (redis.hgetall(key) if kind == "hash" else redis.zrange(key, 0, -1))
        assert ADA not in str(held), key


async def test_boards_show_the_name_that_a_player_has_now(service: Service) -> None:
    await service.book(*week_of_play())
    await service.boards.rename(ADA, "countess", bot=False)
    await service.book(closed(6, run(ADA), run(IVO)))
    names = [name for _, name, _ in await service.shown(board=BoardKind.FASTEST)]
    assert names == ["countess", "ivo"]


async def test_the_rows_around_ones_own_are_one_question_to_the_store(
    redis: Redis, service: Service
) -> None:
    await service.book(*week_of_play())
    await service.shown(around=True)
    async with redis.monitor() as monitor:
        assert await service.shown(around=True)
        await redis.ping()
        asked = []
        while (command := await monitor.next_command())["command"] != "PING":
            # The node's own chores go on meanwhile.
            if command["client_type"] != "lua" and "{b:" in command["command"]:
                asked.append(command["command"].split()[0])
    assert asked == ["EVALSHA"]


# Friends


async def befriended(service: Service, redis: Redis) -> dict[str, Account]:
    """Ada, ivo and eva with accounts; ada has named both others."""
    accounts = AccountStore(redis)
    who = {name: (await accounts.create(name, bot=False))[0] for name in ("ada", "ivo", "eva")}
    for name in ("Ivo", "eva"):
        await service.desk.friends(who["ada"], FriendAdd(id=1, name=name))
    return who


async def test_a_board_can_be_of_friends_alone(redis: Redis, service: Service) -> None:
    who = await befriended(service, redis)
    ids = {name: account.player for name, account in who.items()}
    for number, (name, best) in enumerate((("eva", 9), ("ada", 7), ("ivo", 5))):
        played = run(ZOE, best=8) | {"player": ids[name], "name": name, "best": best}
        await service.book(daily(number, 0, played))
    await service.book(daily(9, 0, run(ZOE, best=8)))
    wish: dict[str, Any] = {"board": BoardKind.DAILY, "day": day(0), "friends": True}
    page = await service.page(ids["ada"], **wish)
    assert [(row.place, row.name) for row in page.rows] == [(1, "eva"), (3, "ada"), (4, "ivo")]
    assert (page.previous, page.next) == (None, None)
    answer = await service.desk.friends(who["ada"], FriendRemove(id=1, name="eva"))
    assert [friend.name for friend in answer.friends] == ["ivo"]
    page = await service.page(ids["ada"], **wish)
    assert [row.name for row in page.rows] == ["ada", "ivo"]
    assert [row.name for row in (await service.page(ids["ivo"], **wish)).rows] == ["ivo"]


async def test_a_friend_is_listed_by_the_name_it_has_now_and_not_when_it_is_gone(
    redis: Redis, service: Service
) -> None:
    who = await befriended(service, redis)
    await redis.hset(keys.account(who["ivo"].player), "name", "ivan")
    await redis.delete(keys.account(who["eva"].player))
    answer = await service.desk.friends(who["ada"], FriendsGet(id=1))
    assert [friend.name for friend in answer.friends] == ["ivan"]


@pytest.mark.parametrize("name", ["nobody", "ada"])
async def test_nobody_and_oneself_are_no_friends(redis: Redis, service: Service, name: str) -> None:
    who = await befriended(service, redis)
    with pytest.raises(Refusal, match="you cannot befriend") as refused:
        await service.desk.friends(who["ada"], FriendAdd(id=1, name=name))
    assert refused.value.code is ErrorCode.NOT_FOUND


async def test_a_list_of_friends_has_an_end(redis: Redis, service: Service) -> None:
    who = await befriended(service, redis)
    store = service.store.friends
    for number in range(MAX_FRIENDS - 2):
        assert await store.add(who["ada"].player, f"{number:016}")
    assert await store.add(who["ada"].player, who["ivo"].player)
    assert not await store.add(who["ada"].player, "one-too-many")
