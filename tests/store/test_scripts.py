"""Scripts of the store: found as package data, run where the store forgot them too."""

from importlib.resources import files

import pytest
from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.scripts import Script, run

NAMES = sorted(
    entry.name.removesuffix(".lua")
    for entry in (files("samedeal_server.store") / "lua").iterdir()
    if entry.name != "prelude.lua"
)


@pytest.mark.parametrize("name", NAMES)
async def test_the_store_knows_a_script_by_our_sha(redis: Redis, name: str) -> None:
    script = Script(name)
    assert await redis.script_load(script.source) == script.sha


async def test_a_script_runs_where_the_store_does_not_know_it(redis: Redis) -> None:
    await redis.script_flush()
    for _ in range(2):
        assert await run(redis, Script("leave"), keys.race_keys("x"), ["n", "p", "left"]) == (
            "not_seated"
        )
