"""Boards in a real store against a sorted list: places, pages both ways, around a player."""

import asyncio
import random
import time
from collections.abc import Iterable

import pytest
from redis.asyncio import Redis

from samedeal.protocol.board_messages import BoardKind, Period
from samedeal_server.results import Result, updates
from samedeal_server.rows import ORDERS, Board, Row, period_of
from samedeal_server.store import keys
from samedeal_server.store.boards import BoardStore, Label, Page
from support import eventually

pytestmark = pytest.mark.usefixtures("every_key_expires")

RATING = Board("lanes", BoardKind.RATING)
FASTEST = Board("lanes", BoardKind.FASTEST)
WINS = Board("lanes", BoardKind.WINS)
NOW_MS = time.time_ns() // 1_000_000
WEEK_MS = 7 * 24 * 3600 * 1000
THIS_WEEK, LAST_WEEK = (period_of(Period.WEEK, at_ms) for at_ms in (NOW_MS, NOW_MS - WEEK_MS))


def player(number: int) -> str:
    return f"{number:016}"


def run_id(number: int) -> str:
    return f"{number:016}.1"


def row(number: int, rating: int, at_ms: int = NOW_MS) -> Row:
    return Row(RATING.order.encode(rating), at_ms, player(number), run_id(number))


def rows(page: Page) -> list[Row]:
    return [shown.row for shown in page.rows]


class Model:
    """What a board is: a sorted list."""

    def __init__(self) -> None:
        self.of: dict[str, Row] = {}

    @property
    def sorted(self) -> list[Row]:
        return sorted(self.of.values(), key=lambda one: (one.order, one.at_ms, one.player))

    def place(self, one: Row) -> int:
        return 1 + sum(other.order < one.order for other in self.of.values())

    def matches(self, page: Page, expected: Iterable[Row]) -> None:
        expected = list(expected)
        assert rows(page) == expected
        assert [shown.place for shown in page.rows] == [self.place(one) for one in expected]
        assert page.total == len(self.of)
        if expected:
            assert page.before == self.sorted.index(expected[0])


async def all_pages(boards: BoardStore, limit: int, *, back: bool = False) -> list[Row]:
    """Page through a board from one end to the other."""
    found: list[Row] = []
    page = await (boards.before(RATING, "g", limit) if back else boards.top(RATING, limit))
    while page.rows:
        found = rows(page) + found if back else found + rows(page)
        edge = page.rows[0 if back else -1].row.text
        turn = boards.before if back else boards.after
        page = await turn(RATING, edge, limit)
    return found


async def test_p43_a_board_equals_a_sorted_list(redis: Redis) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng, boards, model = random.Random(seed), BoardStore(redis), Model()
    for step in range(10_000):
        who = player(number := rng.randrange(400))
        if rng.random() < 0.2:
            await boards.drop(who, [RATING])
            model.of.pop(who, None)
        else:
            # Few ratings and times, so that many rows tie, also wholly.
            one = row(number, rng.randrange(12), NOW_MS + rng.randrange(3))
            await boards.put(RATING, one)
            model.of[who] = one
        if step % 50:
            continue
        ordered, limit = model.sorted, rng.randint(1, 30)
        model.matches(await boards.top(RATING, limit), ordered[:limit])
        # A cursor is a key: rows that came or went since move nothing.
        at = row(rng.randrange(400), rng.randrange(12), NOW_MS + rng.randrange(3))
        after = [one for one in ordered if one.text > at.text]
        before = [one for one in ordered if one.text < at.text]
        model.matches(await boards.after(RATING, at.text, limit), after[:limit])
        model.matches(await boards.before(RATING, at.text, limit), before[-limit:])
        for me in rng.sample(range(410), 3):
            around = await boards.around(RATING, limit, me=player(me))
            mine = model.of.get(player(me))
            if mine is None:
                assert (around.rows, around.me) == ((), None)
                continue
            rank = ordered.index(mine)
            first = max(0, min(rank - limit // 2, len(ordered) - limit))
            model.matches(around, ordered[first : first + limit])
            assert around.me is not None
            assert (around.me.row, around.me.place) == (mine, model.place(mine))
            assert around.equal == sum(one.order == mine.order for one in ordered)
    for limit in (1, 7, 64):
        assert await all_pages(boards, limit) == model.sorted
        assert await all_pages(boards, limit, back=True) == model.sorted


async def test_p43_a_thousand_tied_rows_are_paged_each_once_by_their_time(redis: Redis) -> None:
    boards, rng = BoardStore(redis), random.Random(1)
    tied = [row(number, 7, NOW_MS + number // 4) for number in range(1000)]
    for one in rng.sample(tied, len(tied)):
        await boards.put(RATING, one)
    assert await all_pages(boards, 7) == tied
    assert await all_pages(boards, 7, back=True) == tied
    for at in (0, 500, 999):
        around = await boards.around(RATING, 7, me=player(at))
        assert tied[at] in rows(around)
        assert len(around.rows) == 7
        assert {shown.place for shown in around.rows} == {1}


@pytest.mark.parametrize("back", [False, True], ids=["forth", "back"])
async def test_p43_rows_that_stay_are_paged_each_once_while_others_come_and_go(
    redis: Redis, back: bool
) -> None:
    boards, rng = BoardStore(redis), random.Random(2)
    stay = [row(number, number // 10, NOW_MS) for number in range(200)]
    await asyncio.gather(*(boards.put(RATING, one) for one in stay))
    others = range(200, 400)

    async def come_and_go() -> None:
        while not done.is_set():
            who = rng.choice(others)
            if rng.random() < 0.5:
                await boards.put(RATING, row(who, rng.randrange(20), NOW_MS + rng.randrange(2)))
            else:
                await boards.drop(player(who), [RATING])

    done = asyncio.Event()
    changing = [asyncio.create_task(come_and_go()) for _ in range(4)]
    found = await all_pages(boards, 7, back=back)
    done.set()
    await asyncio.gather(*changing)
    staying = {one.player for one in stay}
    assert [one for one in found if one.player in staying] == sorted(stay, key=lambda r: r.text)
    assert len(found) > len(stay)


async def test_only_friends_are_shown_in_order_with_their_places(redis: Redis) -> None:
    boards = BoardStore(redis)
    for number, rating in enumerate((5, 9, 9, 1)):
        await boards.put(RATING, row(number, rating))
    page = await boards.of(RATING, [player(number) for number in (3, 0, 2, 77)], me=player(0))
    assert [(shown.row.player, shown.place) for shown in page.rows] == [
        (player(2), 1), (player(0), 3), (player(3), 4)
    ]  # fmt: skip


async def test_a_full_board_loses_its_last_rows(redis: Redis) -> None:
    boards = BoardStore(redis, most_rows=3)
    for number, rating in enumerate((5, 9, 8, 1, 7)):
        await boards.put(RATING, row(number, rating))
    assert [one.player for one in rows(await boards.top(RATING, 9))] == [
        player(1), player(2), player(4)
    ]  # fmt: skip
    assert set(await redis.hkeys(keys.board(RATING)[1])) == {player(1), player(2), player(4)}


async def test_the_board_of_a_week_is_forgotten_and_that_of_all_time_is_not(redis: Redis) -> None:
    boards = BoardStore(redis)
    await post(boards, won(1, 1, 300))
    of_week = keys.board(Board("lanes", BoardKind.WINS, THIS_WEEK))
    assert [await redis.pttl(key) > 0 for key in of_week] == [True, True]
    assert [await redis.pttl(key) for key in keys.board(WINS)] == [-1, -1]


def won(who: int, number: int, t_10ms: int, *, first: bool = True, at_ms: int = NOW_MS) -> Result:
    order = FASTEST.order.encode(t_10ms, 90)
    return Result(run_id(number), player(who), at_ms, at_ms - 1, first, order)


def lost(who: int, number: int, at_ms: int = NOW_MS) -> Result:
    return Result(run_id(number), player(who), at_ms, at_ms)


def played(who: int, number: int, day: str = "2026-11-30") -> Result:
    order = ORDERS[BoardKind.DAILY].encode(0, 48, 20, 99, 7)
    return Result(run_id(number), player(who), NOW_MS, NOW_MS - 1, order=order, day=day)


async def post(boards: BoardStore, *results: Result, change: str = "post") -> None:
    for one in results:
        todo = updates("lanes", one, bots=False, anew=change == "remove")
        await boards.book("lanes", one, todo, Label("ada", bot=False), change=change)


async def counts(boards: BoardStore, board: Board = WINS) -> dict[str, tuple[int, int]]:
    page = await boards.top(board, 100)
    return {
        shown.row.player: (values["wins"], values["races"])
        for shown in page.rows
        for values in [board.order.decode(shown.row.order)]
    }


async def test_a_run_counts_once_however_often_it_is_booked(redis: Redis) -> None:
    boards = BoardStore(redis)
    for _ in range(3):
        await post(boards, won(1, 1, 300), lost(1, 2), lost(2, 1))
    assert await counts(boards) == {player(1): (1, 2), player(2): (0, 1)}


async def test_each_week_has_its_own_wins(redis: Redis) -> None:
    boards = BoardStore(redis)
    await post(boards, won(1, 1, 300), won(1, 2, 300, at_ms=NOW_MS - WEEK_MS), lost(1, 3))
    assert await counts(boards) == {player(1): (2, 3)}
    for week, expected in ((THIS_WEEK, (1, 2)), (LAST_WEEK, (1, 1))):
        assert await counts(boards, Board("lanes", BoardKind.WINS, week)) == {player(1): expected}


async def test_the_best_win_stays_whatever_comes_in_whichever_order(redis: Redis) -> None:
    boards = BoardStore(redis)
    await post(boards, won(1, 1, 300), won(1, 2, 250), won(1, 3, 400), won(1, 4, 250))
    (best,) = rows(await boards.top(FASTEST, 10))
    assert (best.run, best.order) == (run_id(2), FASTEST.order.encode(250, 90))


async def test_a_removed_run_gives_its_place_to_the_next_best_and_comes_back(redis: Redis) -> None:
    boards = BoardStore(redis)
    every = [won(1, 1, 300), won(1, 2, 250), lost(1, 3), won(2, 2, 280, first=False)]
    await post(boards, *every)
    before = await boards.top(FASTEST, 10), await counts(boards)
    await post(boards, every[1], change="remove")
    # Its race may be booked once more: what was removed stays so.
    await post(boards, every[1])
    best = rows(await boards.top(FASTEST, 10))
    assert [one.run for one in best] == [run_id(2), run_id(1)]
    assert [one.player for one in best] == [player(2), player(1)]
    assert await counts(boards) == {player(1): (1, 2), player(2): (0, 1)}
    await post(boards, every[1], change="restore")
    after = await boards.top(FASTEST, 10), await counts(boards)
    assert (after[0].rows, after[1]) == (before[0].rows, before[1])


async def test_who_loses_the_only_run_loses_the_row(redis: Redis) -> None:
    boards = BoardStore(redis)
    await post(boards, won(1, 1, 300))
    await post(boards, won(1, 1, 300), change="remove")
    for board in (WINS, FASTEST):
        assert (await boards.top(board, 10)).rows == ()


async def test_what_a_hidden_player_does_is_kept_aside_until_it_is_shown(redis: Redis) -> None:
    boards, both = BoardStore(redis), (WINS, FASTEST)
    await post(boards, won(1, 1, 300), won(2, 2, 280))
    assert await boards.hide("lanes", player(2), both, hide=True) == 2
    await post(boards, won(2, 3, 200))
    for board in both:
        assert [one.player for one in rows(await boards.top(board, 9))] == [player(1)]
    assert (await boards.around(FASTEST, 9, me=player(2))).me is None
    await boards.hide("lanes", player(2), both, hide=False)
    assert [one.run for one in rows(await boards.top(FASTEST, 9))] == [run_id(3), run_id(1)]
    assert await counts(boards) == {player(1): (1, 1), player(2): (2, 2)}


async def test_names_are_the_first_a_player_had_until_it_is_named_anew(redis: Redis) -> None:
    boards = BoardStore(redis)
    await post(boards, won(1, 1, 300))
    await boards.name("lanes", player(1), Label("countess", bot=False))
    await post(boards, won(1, 2, 300))
    (shown,) = (await boards.top(WINS, 9)).rows
    assert shown.label == Label("countess", bot=False)


@pytest.mark.parametrize("result", [won(1, 2, 300), lost(1, 2), played(1, 3)])
def test_a_result_reads_back_as_it_was_written(result: Result) -> None:
    assert Result.parse(result.player, result.text) == result


async def test_results_are_read_back_piece_by_piece(redis: Redis) -> None:
    boards = BoardStore(redis)
    every = {run_id(number): lost(1, number) for number in range(25)}
    await post(boards, *every.values())
    await post(boards, every[run_id(3)], change="remove")
    found = [one async for one in boards.results("lanes", player(1), limit=10)]
    assert {one.run: one for one in found} == {k: v for k, v in every.items() if k != run_id(3)}
    assert [one async for one in boards.results("lanes", player(1), removed=True)] == [
        every[run_id(3)]
    ]


def test_values_beyond_a_field_count_as_its_end() -> None:
    order = FASTEST.order
    assert order.decode(order.encode(16**9, 16**9)) == {"t_10ms": 16**6 - 1, "moves": 16**8 - 1}


async def test_a_day_that_becomes_due_while_it_is_worked_out_stays_due(redis: Redis) -> None:
    boards = BoardStore(redis)
    for _ in range(20):
        await boards.day_is_due("lanes", "2026-11-30", 0)

        async def is_due() -> bool:
            return bool(await boards.days_due("lanes"))

        await eventually(is_due)
        ((day, due_ms),) = await boards.days_due("lanes")
        # Two changes in a row, maybe within one millisecond.
        await boards.day_is_due("lanes", day, 0)
        await boards.day_is_due("lanes", day, 0)
        await boards.day_done("lanes", day, due_ms)
        assert await redis.zcard(keys.days_due("lanes")) == 1
    far_ms = NOW_MS + WEEK_MS
    await boards.day_is_due("lanes", "2026-11-30", far_ms)
    assert await boards.days_due("lanes") == []
    await boards.day_done("lanes", "2026-11-30", far_ms)
    assert await redis.zcard(keys.days_due("lanes")) == 0
