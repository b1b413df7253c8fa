"""P39: calls to the store that are cancelled harm no other call, and no connection is lost."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.client import MAX_CONNECTIONS
from samedeal_server.store.races import RaceStore
from support import Proxy, eventually

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

CALLS = 1000
LATE_S = 0.1


async def test_p39_each_answer_belongs_to_its_question_when_half_are_cancelled(
    valkey_url: str, redis: Redis
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for n in range(CALLS):
        await redis.set(keys.code(f"C{n}"), f"race{n}")
        await redis.hset(keys.race(f"race{n}"), "ver", str(n))
        await redis.xadd(keys.log(f"race{n}", 1), {"a": f"T{n}>F1", "t": str(n)})
    proxy = Proxy(StoreAddress.parse(valkey_url).nodes[0].path)
    async with proxy as port:
        client = StoreAddress.parse(f"redis://127.0.0.1:{port}").client()
        races = RaceStore(client, "n1")

        async def vers(n: int) -> list[int]:
            return await races.vers([f"race{n}", f"race{n}"])

        questions: tuple[tuple[Callable[[int], Awaitable[Any]], Callable[[int], object]], ...] = (
            (lambda n: races.find(f"C{n}"), lambda n: f"race{n}"),
            (lambda n: races.log(f"race{n}", 1), lambda n: [(f"T{n}>F1", n)]),
            (vers, lambda n: [n, n]),
            (lambda n: races.claim_code(f"C{n}", "other"), lambda _: False),
        )
        asked = [rng.choice(questions) for _ in range(CALLS)]

        async def ask(n: int) -> object:
            return await asked[n][0](n)

        def in_use() -> int:
            return sum(
                count
                for count, attributes in client.connection_pool.get_connection_count()
                if "used" in attributes.values()
            )

        proxy.late_s = LATE_S
        tasks = [asyncio.create_task(ask(n)) for n in range(CALLS)]
        doomed = set(rng.sample(range(CALLS), CALLS // 2))
        loop = asyncio.get_running_loop()
        # Calls take LATE_S each, MAX_CONNECTIONS at a time: these fall before, within and after.
        span_s = CALLS / MAX_CONNECTIONS * LATE_S / 2
        for n in doomed:
            loop.call_later(rng.uniform(0, span_s), tasks[n].cancel)
        await eventually(lambda: in_use() == MAX_CONNECTIONS)
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for n, answer in enumerate(answers):
            if not (n in doomed and isinstance(answer, asyncio.CancelledError)):
                assert answer == asked[n][1](n)
        cancelled = sum(isinstance(answer, asyncio.CancelledError) for answer in answers)
        assert cancelled > CALLS / 4

        await eventually(lambda: in_use() == 0)
        # All of them can be had again at the same time, and each answers for itself.
        again = await asyncio.gather(*(races.find(f"C{n}") for n in range(2 * MAX_CONNECTIONS)))
        assert again == [f"race{n}" for n in range(2 * MAX_CONNECTIONS)]
        assert in_use() == 0
        await client.aclose()
