"""Leases of nodes: who renews lives, who does not is dead, who is new is looked up."""

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.leases import LEASE_S, Leases


async def run_out(redis: Redis, node: str) -> None:
    """Have the lease of a node end, as if its time were over."""
    seconds, _ = await redis.time()
    await redis.zadd(keys.leases(), {node: int(seconds) * 1000 - 1})


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
    ended = await redis.zscore(keys.leases(), "one")
    assert await one.live(["gone"]) == set()
    assert await redis.zscore(keys.leases(), "one") == ended
    await Leases(redis, "gone").beat()
    assert await one.beat() == {"gone"}
    assert await one.live(["gone"]) == {"gone"}


async def test_a_lease_is_one_short_entry_and_expires_with_the_service(redis: Redis) -> None:
    await Leases(redis, "one").beat()
    seconds, micros = await redis.time()
    end_ms = await redis.zscore(keys.leases(), "one")
    assert end_ms is not None
    assert 0 < end_ms / 1000 - int(seconds) - int(micros) / 1e6 <= LEASE_S
    assert 0 < await redis.pttl(keys.leases()) <= 3_600_000
    assert await redis.dbsize() == 1


async def test_dead_nodes_are_forgotten_after_an_hour(redis: Redis) -> None:
    seconds, _ = await redis.time()
    await redis.zadd(keys.leases(), {"old": (int(seconds) - 3601) * 1000, "recent": 1e15})
    await Leases(redis, "one").beat()
    assert set(await redis.zrange(keys.leases(), 0, -1)) == {"one", "recent"}
