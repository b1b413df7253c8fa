"""Leases of nodes: who renews lives, who does not is dead, who is new is looked up.

And outages: times in which no node had a lease.
"""

import pytest
from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.leases import LEASE_S, Leases


async def run_out(redis: Redis, node: str) -> None:
    """Have the lease of a node end, as if its time were over."""
    seconds, _ = await redis.time()
    await redis.zadd(keys.leases()[0], {node: int(seconds) * 1000 - 1})


async def test_a_node_that_renews_its_lease_lives(redis: Redis) -> None:
    one, two = Leases(redis, "one"), Leases(redis, "two")
    assert await one.beat() == set()
    assert await two.beat() == {"one"}
    assert await two.beat() == set()
    assert await two.live(["one", "two"]) == {"one", "two"}
    assert await one.live(["one"]) == {"one"}


async def test_a_lease_that_ran_out_is_news_once_and_one_that_came_back_too(redis: Redis) -> None:
    one, two = Leases(redis, "one"), Leases(redis, "two")
    await one.beat()
    await two.beat()
    await run_out(redis, "one")
    assert await two.live(["one"]) == {"one"}
    assert await two.beat() == {"one"}
    assert await two.live(["one"]) == set()
    assert await two.beat() == set()
    await one.beat()
    assert await two.beat() == {"one"}
    assert await two.live(["one"]) == {"one"}


async def test_a_node_that_is_new_is_looked_up_at_once(redis: Redis) -> None:
    one, two = Leases(redis, "one"), Leases(redis, "two")
    await one.beat()
    await two.beat()
    assert await one.live(["two"]) == {"two"}


async def test_a_node_nobody_knows_is_dead_and_looked_up_once(redis: Redis) -> None:
    one = Leases(redis, "one")
    assert await one.live(["gone"]) == set()
    await run_out(redis, "one")
    ended = await redis.zscore(keys.leases()[0], "one")
    assert await one.live(["gone"]) == set()
    assert await redis.zscore(keys.leases()[0], "one") == ended
    await Leases(redis, "gone").beat()
    assert await one.beat() == {"gone"}
    assert await one.live(["gone"]) == {"gone"}


async def test_a_lease_is_one_short_entry_and_expires_with_the_service(redis: Redis) -> None:
    await Leases(redis, "one").beat()
    seconds, micros = await redis.time()
    end_ms = await redis.zscore(keys.leases()[0], "one")
    assert end_ms is not None
    assert 0 < end_ms / 1000 - int(seconds) - int(micros) / 1e6 <= LEASE_S
    assert 0 < await redis.pttl(keys.leases()[0]) <= 3_600_000
    # Beside it there is the last beat of all, for good.
    assert {key async for key in redis.scan_iter()} == set(keys.leases())
    assert await redis.hlen(keys.leases()[1]) == 1


async def test_dead_nodes_are_forgotten_after_an_hour(redis: Redis) -> None:
    seconds, _ = await redis.time()
    await redis.zadd(keys.leases()[0], {"old": (int(seconds) - 3601) * 1000, "recent": 1e15})
    await Leases(redis, "one").beat()
    assert set(await redis.zrange(keys.leases()[0], 0, -1)) == {"one", "recent"}


# Outages


async def nobody_beat_for(redis: Redis, away_ms: int) -> int:
    """Have the last beat of any node lie back so far. Return when that was."""
    seconds, micros = await redis.time()
    last_ms = int(seconds) * 1000 + int(micros) // 1000 - away_ms
    await redis.hset(keys.leases()[1], "beat", str(last_ms))
    return last_ms


async def test_p35_the_first_node_back_writes_an_outage_down_and_says_so(
    redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = Leases(redis, "one"), Leases(redis, "two")
    await one.beat()
    assert list(one.outages.all) == []
    last_ms = await nobody_beat_for(redis, 20_000)
    for node in (two, one, two):
        await node.beat()
    (outage,) = one.outages.all
    assert two.outages.all == (outage,)
    assert (outage.number, outage.from_ms) == (1, last_ms)
    away_ms = outage.to_ms - outage.from_ms
    assert 20_000 <= away_ms < 80_000
    assert one.outages.read_at_ms >= outage.to_ms
    assert caplog.text.count(f"nobody could play for {away_ms / 1000:.1f} s") == 1
    assert caplog.text.count("nobody could play") == 1


async def test_beats_that_are_late_by_less_than_a_lease_are_no_outage(redis: Redis) -> None:
    one = Leases(redis, "one")
    await one.beat()
    await nobody_beat_for(redis, int(LEASE_S * 1000) - 3000)
    await one.beat()
    assert one.outages.all == ()


async def test_the_latest_outages_are_remembered_by_their_numbers(redis: Redis) -> None:
    one = Leases(redis, "one")
    for _ in range(35):
        await nobody_beat_for(redis, 10_000)
        await one.beat()
    assert [outage.number for outage in one.outages.all] == list(range(4, 36))
    assert await redis.hlen(keys.leases()[1]) == 34
