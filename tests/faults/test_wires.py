"""A race over wires that fail, to the players or to the store: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from racers import acked, finish, racing
from rig import Node, OwnStore
from samedeal_client.connection import Rewound
from support import Fault, Proxy, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FAULTS = 4
SILENT = (Fault.DEAF, Fault.MUTE)
"""These end only when somebody has waited in vain, which takes seconds."""


@dataclass
class Wires:
    """A node behind a proxy, in front of a store behind another one."""

    node: Node
    url: str
    store: OwnStore
    to_players: Proxy
    to_store: Proxy


@pytest.fixture(scope="module")
async def wires(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wires]:
    folder = tmp_path_factory.mktemp("wires")
    store = OwnStore(folder / "store")
    await store.start()
    to_store = Proxy(store.socket)
    async with to_store as store_port:
        node = Node(folder / "node", "--redis", f"redis://127.0.0.1:{store_port}")
        await node.start()
        to_players = Proxy(("127.0.0.1", int(node.url.rpartition(":")[2])))
        async with to_players as port:
            yield Wires(node, f"ws://127.0.0.1:{port}", store, to_players, to_store)
        assert await node.stop() == 0
    await store.stop()
    assert not [line for line in node.log if "Traceback" in line], "".join(node.log)


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
@pytest.mark.parametrize("side", ["players", "store"])
async def test_a_race_survives_a_wire_that_fails(wires: Wires, side: str, fault: Fault) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    proxy = wires.to_players if side == "players" else wires.to_store
    async with racing((wires.url, wires.url), 1, rng) as racers:
        done = asyncio.Event()
        async with asyncio.TaskGroup() as playing:
            for racer in racers:
                playing.create_task(racer.play(done, 0.02))
            for _ in range(1 if fault in SILENT else FAULTS):
                goal = acked(racers) + rng.randrange(1, 20)
                await eventually(lambda goal=goal: acked(racers) >= goal)  # type: ignore[misc]
                lost = proxy.lost_bytes
                proxy.fault = fault
                await eventually(lambda: proxy.fault is None)
                if side == "players" and fault in SILENT:
                    # A silent wire to the server is found out, but that takes its time.
                    await eventually(lambda lost=lost: proxy.lost_bytes > lost)  # type: ignore[misc]
                    proxy.cut()
                each = [len(racer.acks) + 2 for racer in racers]
                await eventually(
                    lambda each=each: all(  # type: ignore[misc]
                        len(racer.acks) >= n for racer, n in zip(racers, each, strict=True)
                    ),
                    60,
                )
            done.set()
        await finish(racers, wires.store.socket)
        assert not any(racer.count(Rewound) for racer in racers)
