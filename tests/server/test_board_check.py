"""The nightly check of the boards: rows are played again, and what differs is reported."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from node import Player, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.board_messages import BoardKind
from samedeal_server.board_check import BoardCheck
from samedeal_server.desk import RaceDesk
from samedeal_server.rows import Board, Row
from samedeal_server.store import keys
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from support import eventually

WINS, FASTEST = Board("lanes", BoardKind.WINS), Board("lanes", BoardKind.FASTEST)


@dataclass
class Night:
    """A node where ada and ivo have raced, and the check."""

    redis: Redis
    store: BoardStore
    check: BoardCheck
    races: RaceStore
    race: str

    async def differences(self) -> list[str]:
        report = await self.check.check("2026-11-30", await DayStore(self.redis).now_ms())
        assert report["checked"] == 2
        found = report["differences"]
        assert isinstance(found, list)
        return [f"{one['run']} {one['is']}" for one in found]


async def raced(desk: RaceDesk) -> str:
    """Two who draw, and play on, and bank. Return the race's id."""
    players = [Player(desk), Player(desk)]
    code, race = "", ""
    for player, name in zip(players, ("ada", "ivo"), strict=True):
        await player.get(say.Welcome, ask.Hello, name=name)
        if code:
            await player.get(say.Seated, ask.Join, code=code)
        else:
            options = {"countdown_s": 0}
            seated = await player.get(say.Seated, ask.Create, game="lanes", options=options)
            code, race = seated.race.code, seated.race.id
    for player in players:
        await player.get(say.Done, ask.Ready, race=race)
    for at, player in enumerate(players):
        await eventually(lambda p=player: any(isinstance(m, say.Go) for m in p.said()))  # type: ignore[misc]
        for seq in range(1, 3 + at):
            await player.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")
        await player.get(say.Done, ask.Bank, race=race)
    return race


@pytest.fixture
async def night(redis: Redis, valkey_url: str) -> AsyncIterator[Night]:
    async with node(valkey_url, "n1") as desk:
        race = await raced(desk)
        store = BoardStore(redis)
        yield Night(redis, store, BoardCheck(store, desk.races, DayStore(redis)), desk.races, race)


async def test_rows_that_were_played_so_are_found_right(night: Night) -> None:
    assert await night.differences() == []


async def test_a_log_that_cannot_be_played_is_reported(night: Night) -> None:
    await night.redis.xdel(keys.log(night.race, 1), "1-0")
    await night.redis.xadd(keys.log(night.race, 1), {"a": "undo", "t": "1"}, id="3-0")
    await night.redis.xadd(keys.log(night.race, 1), {"a": "T1>F9", "t": "1"}, id="4-0")
    found = await night.differences()
    assert sorted(one.partition(":")[0] for one in found) == [
        f"{night.race}.{seat} its log cannot be played" for seat in (1, 2)
    ]


async def test_a_result_that_was_not_played_is_reported(night: Night) -> None:
    key = keys.runs("lanes", str(await night.redis.hget(keys.race(night.race), "s:1")))
    old = str((await night.redis.zrange(key, 0, -1))[0])
    await night.redis.zrem(key, old)
    await night.redis.zadd(key, {("l" if old[0] == "w" else "w") + old[1:]: 0})
    assert await night.differences() == [
        f"{night.race}.1 its player's runs have another result of it"
    ]


async def test_a_row_of_a_run_that_ranks_nowhere_is_reported(night: Night) -> None:
    page = await night.store.top(WINS, 1)
    player, run = page.rows[0].row.player, page.rows[0].row.run
    await night.store.put(FASTEST, Row(FASTEST.order.encode(1, 1), 1, player, run))
    report = await night.check.check("2026-11-30", 0)
    assert report["differences"] == [
        {"board": "fastest all of lanes", "run": run, "is": "it ranks on no such board"}
    ]


async def test_races_that_are_kept_no_more_are_no_difference(night: Night) -> None:
    await night.redis.delete(keys.race(night.race))
    report = await night.check.check("2026-11-30", 0)
    assert (report["checked"], report["gone"], report["differences"]) == (0, 2, [])


async def test_a_day_is_checked_once_and_its_report_kept(night: Night) -> None:
    await night.check.nightly()
    (key,) = [key async for key in night.redis.scan_iter(match=keys.check("*"))]
    report = await night.store.report(key.rpartition(":")[2])
    assert report is not None
    assert json.loads(report)["checked"] == 2
    await night.redis.delete(keys.race(night.race))
    await night.check.nightly()
    assert await night.store.report(key.rpartition(":")[2]) == report
    assert await night.redis.pttl(key) > 0


async def test_of_two_nodes_one_checks_a_day(night: Night) -> None:
    checking = asyncio.create_task(night.check.nightly())
    await eventually(lambda: reports(night.redis, 1))
    await BoardCheck(night.store, night.races, DayStore(night.redis)).nightly()
    # The other one did not wait, and had nothing to say.
    assert not checking.done()
    (key,) = [key async for key in night.redis.scan_iter(match=keys.check("*"))]
    assert await night.store.report(key.rpartition(":")[2]) is None
    await checking
    assert await night.store.report(key.rpartition(":")[2]) is not None


async def test_a_node_that_closes_leaves_the_check_to_another_at_once(night: Night) -> None:
    closing = asyncio.Event()
    closing.set()
    await BoardCheck(night.store, night.races, DayStore(night.redis), closing).nightly()
    assert await reports(night.redis, 0)
    await night.check.nightly()
    assert await reports(night.redis, 1)


async def reports(redis: Redis, count: int) -> bool:
    return len([key async for key in redis.scan_iter(match=keys.check("*"))]) == count


async def test_the_races_of_the_fastest_are_kept(night: Night) -> None:
    page = await night.store.top(WINS, 1)
    player, run = page.rows[0].row.player, page.rows[0].row.run
    await night.store.put(FASTEST, Row(FASTEST.order.encode(1, 1), 1, player, run))
    await night.redis.pexpire(keys.race(night.race), 1000_000)
    await night.redis.pexpire(keys.log(night.race, 1), 1000_000)
    await night.check.check("2026-11-30", 0)
    for kept in (keys.race(night.race), keys.log(night.race, 1)):
        assert await night.redis.pttl(kept) > 1000_000
