"""The board of a day and the board of streaks: who is on them, in which order, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dailies import HOUR_S, Service, bank, draw, play, played, refusal, shown
from node import Player
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.daily_messages import Streak
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import DealLabel, Phase, RaceOptions, Status
from samedeal_server.admin.operators import Operators
from samedeal_server.race import RaceDay, RaceState, SeatState
from samedeal_server.results import results_of

if TYPE_CHECKING:
    from redis.asyncio import Redis

pytestmark = pytest.mark.usefixtures("every_key_expires")

TODAY = {"game": "sally", "board": "daily", "day": "2026-11-30"}
STREAKS = {"game": "sally", "board": "streak"}


async def board(player: Player, **fields: object) -> say.Board:
    return await player.get(say.Board, ask.BoardGet, **fields)


async def names(player: Player, **fields: object) -> list[tuple[int, str]]:
    return [(row.place, row.name) for row in (await board(player, **fields)).rows]


async def streaks(player: Player, **fields: object) -> dict[str, int | None]:
    found = await board(player, **{**STREAKS, **fields})
    return {row.name: row.days for row in found.rows}


def closed(**seat: object) -> RaceState:
    """A closed run at the deal of a day."""
    one = SeatState(seat=1, player="a" * 16, name="ada", bot=False, **{"seq": 99, **seat})  # type: ignore[arg-type]
    return RaceState(
        id="a" * 16, code="ABCDE", game="sally", rules_version=1, seed=bytes(32),
        commitment="0" * 64, practice=False, options=RaceOptions(seats=1), phase=Phase.CLOSED,
        ver=1, round=1, host=1, seats={1: one}, now_ms=9000, go_at_ms=1000, deadline_at_ms=9000,
        closed_at_ms=9000, day=RaceDay(334, DealLabel.OPEN, 8000),
    )  # fmt: skip


def test_a_day_ranks_by_won_best_opened_moves_and_tenths_of_a_second() -> None:
    won = Status.WON
    in_order = [
        closed(ended=won, best=52, opened=40, seq=100, t_ms=90_000),
        closed(ended=won, best=52, opened=40, seq=100, t_ms=90_100),
        closed(ended=won, best=52, opened=40, seq=101, t_ms=1_000),
        closed(ended=Status.BANKED, best=51, opened=40, m_best=9, t_best_ms=1),
        closed(ended=Status.BANKED, best=20, opened=41, m_best=9, t_best_ms=1),
        closed(ended=None, best=20, opened=40, m_best=30, t_best_ms=7_000, seq=400),
        closed(ended=Status.STUCK, best=20, opened=40, m_best=31, t_best_ms=100),
        closed(ended=Status.LEFT, best=20, opened=40, m_best=31, t_best_ms=200),
    ]
    orders = [result.order for state in in_order for result in results_of(state)]
    assert len(orders) == len(in_order)
    assert orders == sorted(orders)
    assert len(set(orders)) == len(orders)
    (near,) = results_of(closed(ended=won, best=52, opened=40, seq=100, t_ms=90_099))
    assert near.order == orders[0]
    assert near.day == "2026-11-30"


def test_who_never_moved_or_only_practised_is_on_no_board() -> None:
    assert results_of(closed(seq=0)) == ()
    practice = closed(best=20)
    practice.practice = True
    assert results_of(practice) == ()


async def test_the_board_of_a_day_opens_with_the_end_of_the_own_run(one_node: Service) -> None:
    ada, ivo, eva = [await one_node.player(name) for name in ("ada", "ivo", "eva")]
    race = await played(ada)
    await played(ivo)
    for fields in (TODAY, {**TODAY, "around": True}, {**TODAY, "bots": True}):
        refused = await refusal(eva, ask.BoardGet, **fields)
        assert refused.code is ErrorCode.HIDDEN
    info = (await shown(eva, game="sally")).games[0]
    assert (info.played, info.own) == (2, None)
    own = (await play(eva)).race.id
    await draw(eva, own, 1)
    assert (await refusal(eva, ask.BoardGet, **TODAY)).code is ErrorCode.HIDDEN
    await bank(eva, own)
    found = await board(eva, **TODAY)
    # Nobody brought a card home: all are equal.
    assert [(row.place, row.won, row.best) for row in found.rows] == [(1, False, 0)] * 3
    assert {row.run for row in found.rows} >= {f"{race}.1", f"{own}.1"}
    run = found.rows[0].run or ""
    opened = await eva.get(say.ReplayFile, ask.ReplayGet, race=run.partition(".")[0])
    assert '"seed":null' in opened.text
    mine = (await shown(eva, game="sally")).games[0].own
    assert mine is not None
    assert mine.place == 1


async def test_a_run_that_is_booked_again_and_practice_change_no_row(one_node: Service) -> None:
    ada = await one_node.player("ada")
    race = await played(ada)
    before = await board(ada, **TODAY)
    assert before.total == 1
    await played(ada, practice=True, moves=12)
    for _ in range(2):
        await one_node.desks[0].rooms.advance(race)
    assert (await refusal(ada)).code is ErrorCode.RUN_OVER
    after = await board(ada, **TODAY)
    assert (after.rows, after.total) == (before.rows, 1)
    assert await streaks(ada) == {}


async def test_bots_have_a_board_of_their_own(one_node: Service) -> None:
    ada, robo = await one_node.player("ada"), await one_node.player("robo", bot=True)
    await played(ada)
    await played(robo, moves=11)
    assert await names(ada, **TODAY) == [(1, "ada")]
    assert await names(ada, **TODAY, bots=True) == [(1, "robo")]
    assert await streaks(ada, bots=True) == {"robo": 1}
    assert await streaks(ada) == {}


async def test_a_day_that_is_void_has_no_board_and_is_neutral_for_streaks(
    one_node: Service, redis: Redis
) -> None:
    ada = await one_node.player("ada")
    operators = Operators(redis, "ops", one_node.timeline.calendars[0])
    await one_node.desks[0].days.prepare()
    for day in range(3):
        await played(ada, moves=10)
        await one_node.timeline.go_on(seconds=24 * HOUR_S)
        assert await streaks(ada) == {"ada": day + 1}
    await operators.void_day(335, ["sally"], "a test")
    assert await streaks(ada) == {"ada": 2}
    daily = (await shown(ada, day=335, game="sally")).games[0]
    assert (daily.void, daily.streak.days) == (True, 2)
    assert daily.own is not None
    assert daily.own.place == 0
    gone = await refusal(ada, ask.BoardGet, **{**TODAY, "day": "2026-12-01"})
    assert gone.sentence == "day 335 of sally was taken out of the ranking by the operators"
    assert (await shown(ada, day=335, game="lanes")).games[0].void is False
    await operators.void_day(335, ["sally"], "a mistake", unvoid=True)
    assert await streaks(ada) == {"ada": 3}
    assert await names(ada, **{**TODAY, "day": "2026-12-01"}) == [(1, "ada")]


async def test_a_streak_leaves_its_board_when_a_day_closes_unplayed(one_node: Service) -> None:
    ada, ivo = await one_node.player("ada"), await one_node.player("ivo")
    await played(ada, moves=10)
    await played(ivo, moves=9)
    assert await streaks(ivo) == {"ada": 1}
    ends = one_node.desks[0].days.streaks
    await one_node.timeline.go_on(seconds=36 * HOUR_S + HOUR_S - 60)
    await ends.end_lost()
    assert await streaks(ivo) == {"ada": 1}
    await one_node.timeline.go_on(seconds=60)
    await ends.end_lost()
    assert await streaks(ivo) == {}
    streak = (await shown(ada, game="sally")).games[0].streak
    assert streak == Streak(days=0, best=1, freezes=0)


async def test_a_streak_with_a_freeze_stands_one_missed_day(
    one_node: Service, redis: Redis
) -> None:
    ada = await one_node.player("ada")
    for _ in range(7):
        await played(ada, moves=10)
        await one_node.timeline.go_on(seconds=24 * HOUR_S)
    ends = one_node.desks[0].days.streaks
    for days_later, left in ((1, {"ada": 7}), (2, {})):
        await one_node.timeline.go_on(seconds=24 * HOUR_S)
        await ends.end_lost()
        assert await streaks(ada) == left, days_later
    assert await redis.zcard("{days}:risk:sally") == 0


async def test_a_removed_run_counts_for_no_streak_and_a_lost_board_comes_back(
    one_node: Service, redis: Redis
) -> None:
    ada, ivo = await one_node.player("ada"), await one_node.player("ivo")
    operators = Operators(redis, "ops", one_node.timeline.calendars[0])
    await played(ivo, moves=10)
    await played(ada, moves=10)
    await one_node.timeline.go_on(seconds=24 * HOUR_S)
    race = await played(ada, moves=10)
    whole = await board(ada, **STREAKS)
    assert await streaks(ada) == {"ada": 2, "ivo": 1}
    await operators.remove(f"{race}.1", "a test")
    assert await streaks(ada) == {"ada": 1, "ivo": 1}
    assert (await shown(ada, game="sally")).games[0].streak.days == 1
    await operators.remove(f"{race}.1", "a mistake", restore=True)
    await redis.delete("{b:sally}:streak:all", "{b:sally}:streak:all:of")
    assert await streaks(ada) == {}
    await operators.rebuild(["sally"], "it was lost")
    assert (await board(ada, **STREAKS)).rows == whole.rows
