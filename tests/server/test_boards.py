"""What closed races write on the boards, and what is read from them."""

from typing import Any

import pytest
from redis.asyncio import Redis

from samedeal.protocol.board_messages import BoardGet, BoardKind
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, RaceOptions, Status
from samedeal_server.boards import Boards
from samedeal_server.errors import Refusal
from samedeal_server.race import RaceState, SeatState
from samedeal_server.results import results_of
from samedeal_server.store.accounts import Account
from samedeal_server.store.boards import BoardStore

pytestmark = pytest.mark.usefixtures("every_key_expires")

NOON_MS = 1_796_040_000_000  # 2026-11-30, a Monday
ADA, IVO, EVA, BOT = "ada0000000000000", "ivo0000000000000", "eva0000000000000", "bot0000000000000"
NAMES = {ADA: "ada", IVO: "ivo", EVA: "eva", BOT: "greta"}


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
    return RaceState(
        id=f"race{number:012}",
        code="ABCDE",
        game="lanes",
        rules_version=1,
        seed=bytes(32),
        commitment="0" * 64,
        practice=practice,
        options=RaceOptions(**options),
        phase=Phase.CLOSED,
        ver=9,
        round=1,
        host=1,
        seats={at: SeatState(seat=at, **one) for at, one in enumerate(runs, start=1)},
        now_ms=at_ms,
        go_at_ms=at_ms - 600_000,
        closed_at_ms=at_ms,
    )


class Clock:
    """The clock of a node, which may be wrong."""

    now_ms = NOON_MS

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def boards(redis: Redis) -> Boards:
    return Boards(BoardStore(redis))


async def shown(boards: Boards, who: str = ADA, **wish: Any) -> list[tuple[int, str, str | None]]:
    """The rows of a board: place, name, run."""
    account = Account(who, NAMES[who], who == BOT)
    page = await boards.page(account, BoardGet(id=1, game="lanes", **wish))
    return [(row.place, row.name, row.run) for row in page.rows]


def seat_of(number: int, seat: int) -> str:
    return f"race{number:012}.{seat}"


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (closed(1, run(ADA), run(IVO), practice=True), "practice"),
        (closed(1, run(ADA), run(IVO, moves=0)), "only one moved"),
        (closed(1, run(ADA)), "alone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_counts_for_nothing(state: RaceState, why: str) -> None:
    assert results_of(state) == (), why


async def test_wins_count_of_every_race_that_two_played(boards: Boards) -> None:
    await boards.book(closed(1, run(ADA, best=9), run(IVO), run(EVA, moves=0)))
    await boards.book(closed(2, run(ADA, best=9), run(IVO, best=9)))
    account = Account(IVO, "ivo", False)
    page = await boards.page(account, BoardGet(id=1, game="lanes"))
    assert [(row.place, row.name, row.wins, row.races) for row in page.rows] == [
        (1, "ada", 2, 2), (2, "ivo", 1, 2), (3, "eva", 0, 1)
    ]  # fmt: skip
    assert page.me is not None
    assert (page.me.place, page.total, page.beaten) == (2, 3, 5_000)


async def test_bots_are_on_boards_of_their_own(boards: Boards) -> None:
    await boards.book(closed(1, run(BOT, best=9), run(ADA)))
    assert await shown(boards) == [(1, "ada", seat_of(1, 2))]
    assert await shown(boards, bots=True) == [(1, "greta", seat_of(1, 1))]


async def test_the_fastest_are_of_ranked_races_alone(boards: Boards) -> None:
    ranked: dict[str, Any] = {"ranked": True, "spectating": "shape"}
    await boards.book(closed(1, run(ADA, won=True, t_ms=200_000), run(IVO)))
    await boards.book(closed(2, run(ADA, won=True, t_ms=300_000), run(IVO), **ranked))
    second = run(ADA, won=True, t_ms=250_019, moves=40)
    await boards.book(closed(3, run(IVO, won=True, t_ms=250_010, moves=40), second, **ranked))
    for period in ("week", "month", "all"):
        wish = {"board": BoardKind.FASTEST, "period": period}
        # Within ten milliseconds is the same time, and the earlier stands first.
        assert await shown(boards, **wish) == [
            (1, "ivo", seat_of(3, 1)),
            (1, "ada", seat_of(3, 2)),
        ]


async def test_a_race_counts_in_the_week_in_which_it_closed(boards: Boards) -> None:
    sunday_ms = NOON_MS - 24 * 3600 * 1000
    await boards.book(closed(1, run(ADA, best=9), run(IVO), at_ms=sunday_ms))
    await boards.book(closed(2, run(IVO, best=9), run(ADA)))
    wish = {"period": "week"}
    assert await shown(boards, day="2026-11-23", **wish) == [
        (1, "ada", seat_of(1, 1)),
        (2, "ivo", seat_of(1, 2)),
    ]
    assert await shown(boards, day="2026-12-06", **wish) == [
        (1, "ivo", seat_of(2, 1)),
        (2, "ada", seat_of(2, 2)),
    ]


async def test_today_is_what_the_store_says_whatever_the_clock_of_the_node(redis: Redis) -> None:
    clock = Clock()
    clock.now_ms = 0
    boards = Boards(BoardStore(redis), clock)
    seconds, _ = await redis.time()
    await boards.book(closed(1, run(ADA), run(IVO), at_ms=seconds * 1000))
    for _ in range(2):
        rows = await shown(boards, period="week")
        assert [name for _, name, _ in rows] == ["ada", "ivo"]


async def test_pages_lead_through_a_board_and_back(boards: Boards) -> None:
    for number in range(1, 4):
        await boards.book(closed(number, run(ADA, best=9), run(IVO), run(EVA, best=1)))
    account = Account(ADA, "ada", False)

    async def page(**wish: Any) -> tuple[list[str], str | None, str | None]:
        answer = await boards.page(account, BoardGet(id=1, game="lanes", limit=2, **wish))
        return [row.name for row in answer.rows], answer.previous, answer.next

    names, before, after = await page()
    assert (names, before) == (["ada", "eva"], None)
    names, before, end = await page(page=after)
    assert (names, end) == (["ivo"], None)
    names, before, after = await page(page=before)
    assert (names, before) == (["ada", "eva"], None)
    assert after is not None
    assert (await page(around=True))[0] == ["ada", "eva"]


@pytest.mark.parametrize(
    ("wish", "code", "sentence"),
    [
        ({"game": "bridge"}, ErrorCode.NOT_FOUND, "bridge"),
        ({"period": "month"}, ErrorCode.BAD_OPTION, "no wins board of that period, but: all and"),
        ({"board": "daily", "period": "week"}, ErrorCode.BAD_OPTION, "is of a day"),
        ({"day": "2026-02-30"}, ErrorCode.BAD_OPTION, "2026-02-30 is no day of the calendar"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
async def test_a_board_that_there_is_not_is_refused(
    boards: Boards, wish: dict[str, str], code: ErrorCode, sentence: str
) -> None:
    with pytest.raises(Refusal, match=sentence) as refused:
        await boards.page(Account(ADA, "ada", False), BoardGet(**{"id": 1, "game": "lanes"} | wish))
    assert refused.value.code is code
