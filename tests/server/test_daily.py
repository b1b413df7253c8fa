"""The daily challenge: one deal for all, the first run ranks, the day it belongs to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from dailies import HOUR_S, NOON, Service, bank, draw, play, refusal, service, shown, tag
from node import Player, node
from samedeal.engine.deals import commitment
from samedeal.engine.games import game
from samedeal.protocol import client_messages as ask
from samedeal.protocol import days
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Status
from samedeal_server.almanac import Calendar
from samedeal_server.store import keys
from samedeal_server.store.days import DayStore
from support import eventually
from timeline import utc_ms

if TYPE_CHECKING:
    from redis.asyncio import Redis


pytestmark = pytest.mark.usefixtures("every_key_expires")


async def test_a_day_has_one_deal_for_each_game_whatever_the_number_of_nodes(
    valkey_url: str, redis: Redis
) -> None:
    async with service(valkey_url, redis, NOON, nodes=3) as nodes:
        await asyncio.gather(*(desk.days.prepare() for desk in nodes.desks))
        seen = []
        for at, name in enumerate(("ada", "ivo", "eva")):
            player = await nodes.player(name, at)
            daily = await shown(player)
            seen.append(([(g.game, g.commitment) for g in daily.games], daily.coming))
        assert seen[0] == seen[1] == seen[2]
        assert [name for name, _ in seen[0][0]] == list(days.DAILY_GAMES)
        assert len({promise.commitment for promise in seen[0][1]}) == days.AHEAD * 5
        assert await redis.hlen("{days}:deals") == (days.AHEAD + 1) * 5


async def test_what_is_promised_a_week_ahead_is_dealt_and_its_seed_is_public_after_the_close(
    one_node: Service,
) -> None:
    await one_node.desks[0].days.prepare()
    ada = await one_node.player("ada")
    promise = (await shown(ada, game="lanes")).coming[-1]
    assert (promise.day, promise.date) == (341, "2026-12-07")
    await one_node.timeline.go_on(seconds=7 * 24 * HOUR_S)
    view = (await play(ada, game="lanes")).race
    assert tag(view) == (341, "2026-12-07")
    assert view.commitment == promise.commitment
    await one_node.timeline.go_on(seconds=12 * HOUR_S + HOUR_S - 60)
    assert (await shown(ada, game="lanes", day=341)).games[0].seed is None
    await one_node.timeline.go_on(seconds=60)
    closed = await shown(ada, game="lanes", day=341)
    assert closed.closed
    seed = closed.games[0].seed
    assert seed is not None
    assert commitment(game("lanes"), bytes.fromhex(seed)) == promise.commitment


async def test_the_clock_of_a_run_starts_when_its_board_is_dealt(one_node: Service) -> None:
    ada = await one_node.player("ada")
    await shown(ada)
    before = await one_node.timeline.store_ms()
    seated = await play(ada)
    after = await one_node.timeline.store_ms()
    assert seated.board is not None
    assert seated.race.phase is Phase.RUNNING
    assert 0 <= seated.race.clock_ms <= after - before
    until_close_ms = 13 * HOUR_S * 1000
    assert until_close_ms - 60_000 < seated.race.deadline_ms <= until_close_ms
    assert tag(seated.race) == (334, "2026-11-30")
    assert not seated.race.practice
    assert [player.name for player in seated.race.players] == ["ada"]


async def test_everybody_gets_the_same_deal_and_nothing_of_anybody_else(one_node: Service) -> None:
    ada, ivo = await one_node.player("ada"), await one_node.player("ivo")
    first, second = await play(ada), await play(ivo)
    assert first.board == second.board
    assert first.race.id != second.race.id
    at = len(ivo.frames)
    await draw(ada, first.race.id, 1, 2)
    await bank(ada, first.race.id)
    await eventually(lambda: bool([m for m in ada.said() if isinstance(m, say.Closed)]))
    assert ivo.said(at) == []


async def test_two_tabs_on_the_daily_are_one_run_and_the_second_takes_over(
    valkey_url: str, redis: Redis
) -> None:
    async with service(valkey_url, redis, NOON, nodes=2) as nodes:
        ada = await nodes.player("ada")
        tab = await nodes.again(ada, at=1)
        first, second = await asyncio.gather(play(ada), play(tab))
        assert first.race.id == second.race.id
        third = await play(tab)
        await draw(tab, third.race.id, 1)
        answer = await ada.ask(ask.PlayMove, race=third.race.id, seq=1, move="draw")
        assert isinstance(answer, say.Refused)
        assert answer.code in (ErrorCode.TAKEN_OVER, ErrorCode.NOT_SEATED)
        back = await play(ada)
        assert (back.race.id, back.seq) == (third.race.id, 1)
        assert back.race.clock_ms > 0


async def test_a_finished_run_is_not_played_again_but_as_practice(one_node: Service) -> None:
    ada = await one_node.player("ada")
    early = await refusal(ada, practice=True)
    assert (early.code, early.sentence) == (
        ErrorCode.WRONG_PHASE,
        "your first run of day 334 ranks; play it to its end first",
    )
    race = (await play(ada)).race.id
    still = await refusal(ada, practice=True)
    assert still.code is ErrorCode.WRONG_PHASE
    await draw(ada, race, *range(1, 11))
    await bank(ada, race)
    own = (await shown(ada, game="sally")).games[0].own
    assert own is not None
    assert (own.race, own.status, own.best, own.moves) == (race, Status.BANKED, 0, 0)
    again = await refusal(ada)
    assert again.code is ErrorCode.RUN_OVER
    moved = await refusal(ada, ask.PlayMove, race=race, seq=11, move="draw")
    assert moved.code is ErrorCode.RUN_OVER

    assert (await refusal(ada, ask.Next, race=race)).sentence == (
        "a day has one deal; no other one follows it"
    )

    practice = await play(ada, practice=True)
    assert practice.race.practice
    assert not practice.race.options.ranked
    assert practice.race.id != race
    assert (await play(ada, practice=True)).race.id == practice.race.id
    await draw(ada, practice.race.id, *range(1, 16))
    await bank(ada, practice.race.id)
    await one_node.close(practice.race.id)
    daily = (await shown(ada, game="sally")).games[0]
    assert daily.own == own
    assert daily.streak.days == 1
    assert (await play(ada, practice=True)).race.id != practice.race.id


async def test_a_past_day_can_be_played_as_practice_only(one_node: Service) -> None:
    await one_node.desks[0].days.prepare()
    ada = await one_node.player("ada")
    await one_node.timeline.go_on(seconds=5 * 24 * HOUR_S)
    assert (await refusal(ada, day=336)).sentence == "day 336 is past: it can be played as practice"
    seated = await play(ada, day=336, practice=True)
    assert tag(seated.race) == (336, "2026-12-02")
    assert seated.race.practice
    await draw(ada, seated.race.id, *range(1, 12))
    await bank(ada, seated.race.id)
    await eventually(lambda: bool([m for m in ada.said() if isinstance(m, say.Closed)]))
    (closed,) = [m for m in ada.said() if isinstance(m, say.Closed)]
    assert closed.race.seed is not None
    assert (await shown(ada, game="sally")).games[0].streak.days == 0
    assert (await refusal(ada, day=340)).code is ErrorCode.WRONG_PHASE
    assert (await refusal(ada, day=333, practice=True)).code is ErrorCode.NOT_FOUND
    assert (await refusal(ada, game="klondike")).code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize(
    ("eve", "today", "tomorrow"),
    [
        ("2026-11-30T23:59:58", (334, "2026-11-30"), (335, "2026-12-01")),
        ("2028-02-28T23:59:58", (789, "2028-02-28"), (790, "2028-02-29")),
        ("2028-02-29T23:59:58", (790, "2028-02-29"), (791, "2028-03-01")),
        ("2026-12-31T23:59:58", (365, "2026-12-31"), (366, "2027-01-01")),
    ],
)
async def test_midnight_on_two_nodes_two_seconds_apart(
    valkey_url: str, redis: Redis, eve: str, today: tuple[int, str], tomorrow: tuple[int, str]
) -> None:
    async with service(valkey_url, redis, eve, nodes=2) as nodes:
        nodes.timeline.calendars[1].ahead_ms += 2000
        ada, ivo = await nodes.player("ada"), await nodes.player("ivo", at=1)
        late, early = await play(ada), await play(ivo)
        assert tag(late.race) == today
        assert tag(early.race) == tomorrow
        # The run of the day that one node has left behind goes on there, and is still of its day.
        over = await nodes.again(ada, at=1)
        resumed = await play(over)
        assert (resumed.race.id, tag(resumed.race)) == (late.race.id, today)
        assert resumed.race.deadline_ms == late.race.deadline_ms
        fresh = await play(over, day=tomorrow[0])
        assert fresh.race.id not in (late.race.id, early.race.id)
        assert fresh.board == early.board
        assert fresh.race.commitment == early.race.commitment


async def test_a_run_across_rollover_is_of_the_day_on_which_it_began(
    valkey_url: str, redis: Redis
) -> None:
    async with service(valkey_url, redis, "2026-11-30T23:50:00") as late:
        ada = await late.player("ada")
        race = (await play(ada)).race.id
        await draw(ada, race, *range(1, 6))
        await late.timeline.go_on(seconds=30 * 60)
        back = await late.again(ada)
        seated = await play(back)
        assert (seated.race.id, seated.seq, tag(seated.race)) == (race, 5, (334, "2026-11-30"))
        assert (await shown(back)).day == 335
        await draw(back, race, *range(6, 11))
        await bank(back, race)
        await eventually(lambda: bool([m for m in back.said() if isinstance(m, say.Closed)]))
        (closed,) = [m for m in back.said() if isinstance(m, say.Closed)]
        assert closed.race.seed is None
        own = (await shown(back, day=334, game="sally")).games[0].own
        assert own is not None
        assert own.race == race
        assert tag((await play(back)).race) == (335, "2026-12-01")
        assert (await shown(back, game="sally")).games[0].streak.days == 1


async def test_a_run_still_open_an_hour_after_its_day_is_cut_off_and_counts(
    valkey_url: str, redis: Redis
) -> None:
    async with service(valkey_url, redis, "2026-11-30T23:50:00") as late:
        ada = await late.player("ada")
        race = (await play(ada)).race.id
        await draw(ada, race, *range(1, 12))
        await late.timeline.go_on(seconds=70 * 60)
        too_late = await refusal(ada, ask.PlayMove, race=race, seq=12, move="draw")
        assert too_late.code is ErrorCode.SLOW_DOWN
        await late.close(race)
        after = await refusal(ada, ask.PlayMove, race=race, seq=12, move="draw")
        assert after.code is ErrorCode.RUN_OVER
        (closed,) = [m for m in ada.said() if isinstance(m, say.Closed)]
        assert closed.race.order[0].status is Status.CUT_OFF
        assert closed.race.order[0].moves == 11
        assert closed.race.clock_ms == closed.race.deadline_ms
        assert closed.race.seed is not None
        daily = (await shown(ada, game="sally")).games[0]
        assert daily.streak.days == 1
        assert tag((await play(ada)).race) == (335, "2026-12-01")


class Behind(Calendar):
    """A node that asks a store whose clock is two seconds behind the one of the race."""

    def day_at(self, now_ms: int) -> int:
        return super().day_at(now_ms - 2000)


async def test_midnight_between_asking_for_the_day_and_beginning_the_run(
    valkey_url: str, redis: Redis
) -> None:
    behind = Behind()
    async with node(valkey_url, "n1", calendar=behind) as desk:
        now_ms = await DayStore(redis).now_ms()
        behind.ahead_ms = utc_ms("2026-12-01T00:00:01") - now_ms
        ada = Player(desk)
        ada.player = (await ada.get(say.Welcome, ask.Hello, name="ada")).player
        assert (await shown(ada)).day == 334
        # It says yesterday, but yesterday is over: nothing begins there any more.
        assert (await refusal(ada, day=334)).sentence == "day 334 is over"
        seated = await play(ada)
        assert tag(seated.race) == (335, "2026-12-01")
        assert (await redis.hget(keys.tries(ada.player, 334, "sally"), "ranked")) != seated.race.id
        daily = (await shown(ada, game="sally")).games[0]
        assert daily.own is None


async def test_a_node_that_died_between_claim_and_board_cost_nothing(
    one_node: Service, redis: Redis
) -> None:
    ada = await one_node.player("ada")
    claimed = "0123456789abcdef"
    await redis.hset(keys.tries(ada.player, 334, "sally"), "ranked", claimed)
    await redis.pexpire(keys.tries(ada.player, 334, "sally"), 60_000)
    assert (await shown(ada, game="sally")).games[0].own is None
    await one_node.timeline.go_on(seconds=7 * HOUR_S)
    seated = await play(ada)
    assert seated.race.id == claimed
    assert seated.race.clock_ms < 60_000
    assert seated.race.phase is Phase.RUNNING


async def test_a_run_that_was_made_and_not_begun_waits_as_long_as_its_day(
    one_node: Service, redis: Redis
) -> None:
    ada = await one_node.player("ada")
    race = (await play(ada)).race.id
    # As if the node had died just before the clock was started.
    await redis.hset(keys.race(race), "phase", "lobby")
    await redis.hdel(keys.race(race), "go_at", "deadline")
    await one_node.timeline.go_on(seconds=7 * HOUR_S)
    await one_node.desks[0].rooms.advance(race)
    back = await one_node.again(ada)
    seated = await play(back)
    assert (seated.race.id, seated.race.phase) == (race, Phase.RUNNING)
    assert seated.race.clock_ms < 60_000
