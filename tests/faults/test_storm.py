"""Promise 1 in a storm: nodes and their store killed at random moments, many races at once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from racers import Racer, acked, finish, racing
from rig import ChildStore, Node, OwnStore
from samedeal_client.connection import Rewound
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@dataclass
class Service:
    """Two nodes on one store."""

    one: Node
    two: Node
    store: OwnStore | ChildStore

    @property
    def urls(self) -> tuple[str, str]:
        """Each node as the first choice, and the other one if that is lost."""
        return f"{self.one.url},{self.two.url}", f"{self.two.url},{self.one.url}"


@pytest.fixture(params=["always", "everysec", "private child"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Service]:
    """A service, with a store that stands alone or with one that a node looks after."""
    store: OwnStore | ChildStore
    if request.param == "private child":
        store = ChildStore(tmp_path / "one")
        one = Node(tmp_path / "one")
    else:
        store = OwnStore(tmp_path / "store", appendfsync=request.param)
        await store.start()
        one = Node(tmp_path / "one", "--redis", store.url)
    two = Node(tmp_path / "two", "--redis", store.url)
    await one.start()
    await two.start()
    yield Service(one, two, store)
    for node in (two, one):
        assert await node.stop() == 0
    if isinstance(store, OwnStore):
        await store.stop()


async def storm(service: Service, kills: int, racers: list[Racer], rng: random.Random) -> None:
    """Kill one of the three, whichever is up, after some more acknowledgements; start it again."""
    killed: Counter[str] = Counter()
    async with asyncio.TaskGroup() as starting:
        for _ in range(kills):
            goal = acked(racers) + rng.randrange(1, 2 * len(racers))
            await eventually(lambda goal=goal: acked(racers) >= goal, 90)  # type: ignore[misc]
            parts = (service.one, service.two, service.store, service.store)
            victim = rng.choice([part for part in parts if part.is_up])
            killed[type(victim).__name__] += 1
            await victim.kill()
            starting.create_task(victim.start())
    print(f"kills {dict(killed)}, acked {acked(racers)}")


@pytest.mark.parametrize(
    ("kills", "races"),
    [(6, 8), pytest.param(350, 50, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])],
)
async def test_no_acked_move_is_lost_or_counted_twice_whoever_is_killed(
    service: Service, kills: int, races: int
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    async with racing(service.urls, races, rng) as racers:
        done = asyncio.Event()
        async with asyncio.TaskGroup() as playing:
            for racer in racers:
                playing.create_task(racer.play(done))
            await storm(service, kills, racers, rng)
            done.set()
        rewound = sum(racer.count(Rewound) for racer in racers)
        print(f"sent again after the store had lost them: {rewound}")
        await finish(racers, service.store.socket)
    for node in (service.one, service.two):
        assert not [line for line in node.log if "Traceback" in line], "".join(node.log)
    # With `everysec` a store that is killed while it syncs has not written what it answered.
    keeps_all = not (isinstance(service.store, OwnStore) and service.store.fsync == "everysec")
    assert not (keeps_all and rewound)
