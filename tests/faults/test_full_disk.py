"""The disk of the store is full: nothing is acknowledged, the server stays, moves wait for room."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from racers import Racer, acked, finish, racing
from rig import Node, OwnStore
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal_client.connection import Rewound, Store
from support import PATIENCE_S, eventually
from wire import race_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path


class SmallDisk:
    """A file system of 2 MiB that only one process and what is started `through` it can see."""

    def __init__(self, at: Path, keeper: subprocess.Popen[str], namespaces: Sequence[str]) -> None:
        self.at = at
        pid = str(keeper.pid)
        self.through = ["nsenter", "-t", pid, *namespaces, "--preserve-credentials", "--"]
        self._filler = f"/proc/{pid}/root{at}/filler"

    def fill(self) -> None:
        """Leave no byte free."""
        filler = os.open(self._filler, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            for size in (4096, 1):
                try:
                    while os.write(filler, bytes(size)):
                        pass
                except OSError:
                    continue
        finally:
            os.close(filler)

    def make_room(self) -> None:
        os.unlink(self._filler)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A small disk. A machine that lets nobody mount one is told apart by its own words."""
    at = tmp_path / "disk"
    at.mkdir()
    why = "there is no unshare and nsenter here"
    for unshare, namespaces in (("-Urm", ("-U", "-m")), ("-m", ("-m",))):
        if shutil.which("unshare") is None or shutil.which("nsenter") is None:
            break
        script = 'mount -t tmpfs -o size=2m none "$1" && echo mounted && exec cat'
        keeper = subprocess.Popen(
            ["unshare", unshare, "sh", "-c", script, "sh", str(at)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert keeper.stdout is not None
        if keeper.stdout.readline() == "mounted\n":
            yield SmallDisk(at, keeper, namespaces)
            keeper.communicate(timeout=PATIENCE_S)
            return
        _, why = keeper.communicate(timeout=PATIENCE_S)
    pytest.skip(f"no file system can be mounted here: {why.strip()}")


@pytest.fixture
async def store(tmp_path: Path, disk: SmallDisk) -> AsyncIterator[OwnStore]:
    own = OwnStore(tmp_path / "store", data=disk.at, through=disk.through)
    await own.start()
    yield own
    await own.stop()


@pytest.fixture
async def node(store: OwnStore, tmp_path: Path) -> AsyncIterator[Node]:
    server = Node(tmp_path / "node", "--redis", store.url)
    await server.start()
    yield server
    assert await server.stop() == 0
    assert not [line for line in server.log if "Traceback" in line], "".join(server.log)


async def refusals(redis: Redis) -> int:
    """How many writes the store has refused for want of room."""
    stats = await redis.info("errorstats")
    return sum(int(value["count"]) for name, value in stats.items() if "MISCONF" in name)


async def play_into_the_wall(store: OwnStore, disk: SmallDisk, racers: list[Racer]) -> None:
    """Fill the disk, and have every racer play until the store takes no more, for a while."""
    known = [racer.count(Store) for racer in racers]
    disk.fill()
    async with Redis(unix_socket_path=store.socket) as redis:
        await eventually(
            lambda: all(r.count(Store) > n for r, n in zip(racers, known, strict=True))
        )
        told, refused = acked(racers), await refusals(redis)

        async def refuses_on() -> bool:
            return await refusals(redis) > refused + 2 * len(racers)

        await eventually(refuses_on)
        assert acked(racers) == told
    assert all(racer.race.model.outbox for racer in racers)


@pytest.mark.parametrize("is_killed", [False, True], ids=["room again", "killed while full"])
async def test_moves_wait_while_the_disk_of_the_store_is_full(
    store: OwnStore, node: Node, disk: SmallDisk, is_killed: bool
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    async with racing((node.url, node.url), 3, random.Random(seed)) as racers:
        done = asyncio.Event()
        async with asyncio.TaskGroup() as playing:
            for racer in racers:
                playing.create_task(racer.play(done, 0.05))
            await eventually(lambda: all(len(racer.acks) > 5 for racer in racers))
            await play_into_the_wall(store, disk, racers)
            if is_killed:
                await store.kill()
            disk.make_room()
            if is_killed:
                await store.start()
            await eventually(lambda: not any(racer.race.model.outbox for racer in racers), 60)
            more = [len(racer.acks) + 3 for racer in racers]
            await eventually(
                lambda: all(len(r.acks) >= n for r, n in zip(racers, more, strict=True)), 60
            )
            if not is_killed:
                await store.kill()
                await store.start()
            done.set()
        print(f"sent again: {[racer.count(Rewound) for racer in racers]}")
        if not is_killed:
            assert not any(racer.count(Rewound) for racer in racers)
        await finish(racers, store.socket)


async def test_whoever_asks_while_the_disk_is_full_is_told_and_can_ask_again(
    store: OwnStore, node: Node, disk: SmallDisk
) -> None:
    async with wired(node.url, "ada") as ada, wired(node.url, "ivo") as ivo:
        race = await race_of(ada, ivo, game="sally")
        disk.fill()
        seq = 0
        while True:
            request = await ada.post(ask.PlayMove, race=race, seq=seq + 1, move="draw")
            if not isinstance(answer := await ada.answer(request), say.Ack):
                break
            seq += 1
        for refused in (
            answer,
            await ivo.get(say.Refused, ask.Create, game="lanes"),
            await ivo.get(say.Refused, ask.Bank, race=race),
        ):
            assert isinstance(refused, say.Refused)
            assert refused.code is ErrorCode.STORE_UNAVAILABLE
            assert refused.sentence.startswith("the store is unavailable")
            assert refused.retry_ms
        # What needs no writing goes on.
        await ivo.get(say.Board, ask.BoardGet, game="lanes")
        disk.make_room()
        await eventually(lambda: takes_writes(store))
        async with wired(node.url, token=ada.token) as again:
            seated = await again.get(say.Seated, ask.Resume, race=race)
            assert seated.seq == seq
            fields = {"race": race, "seq": seq + 1, "move": "draw"}
            assert (await again.get(say.Ack, ask.PlayMove, **fields)).seq == seq + 1


async def takes_writes(store: OwnStore) -> bool:
    """Whether the store has written its log to the end, now that there is room."""
    async with Redis(unix_socket_path=store.socket) as redis:
        return bool((await redis.info("persistence"))["aof_last_write_status"] == "ok")
