"""`serve --workers N`: one port, one store, several processes, and nobody missing for long."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from samedeal.engine.moves import DRAW
from samedeal_client.connection import Client, Race
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from support import PATIENCE_S, ServerProcess, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis


@asynccontextmanager
async def store_of(data: Path) -> AsyncIterator[Redis]:
    client = StoreAddress.parse(f"unix://{data / 'store.sock'}").client()
    try:
        yield client
    finally:
        await client.aclose()


def pid_of(node: object) -> int:
    """The process that a node is."""
    return int(str(node).partition("-")[0])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def node_of(redis: Redis, race: Race) -> str:
    """The node that holds a player's connection."""
    return str(await redis.hget(keys.seat(race.id, race.model.seat), "on"))


async def joined_on_another_worker(
    stack: AsyncExitStack, redis: Redis, url: str, first: Race
) -> tuple[Client, Race]:
    """A second player; comes again, as the same one, until the port leads to another worker."""
    client = await stack.enter_async_context(Client(url, name="ivo"))
    race = await client.join(first.code)
    for _ in range(60):
        if await node_of(redis, race) != await node_of(redis, first):
            return client, race
        assert client.token is not None
        client = await stack.enter_async_context(Client(url, token=client.token))
        race = await client.resume(first.id)
    raise AssertionError("sixty connections in a row came to one worker of two")


async def test_a_race_over_two_workers_goes_on_when_one_is_killed(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", "--workers", "2") as server:
        async with AsyncExitStack() as stack:
            redis = await stack.enter_async_context(store_of(tmp_path / "data"))
            a = await stack.enter_async_context(Client(server.url, name="ada"))
            first = await a.create_race("sally", countdown_s=0)
            _, second = await joined_on_another_worker(stack, redis, server.url, first)
            nodes = [await node_of(redis, first), await node_of(redis, second)]
            async with asyncio.timeout(2 * PATIENCE_S):
                await second.ready()
                await first.ready()
                await first.until_go()
                await second.until_go()
                await first.move(DRAW)
                await second.until(lambda: second.view.players[0].moves == 1)

                os.kill(pid_of(nodes[0]), signal.SIGKILL)
                await first.move(DRAW)
                assert await node_of(redis, first) != nodes[0]
                assert await node_of(redis, second) == nodes[1]
                await second.until(lambda: second.view.players[0].moves == 2)
                await second.until(lambda: second.view.players[0].present)

                async def is_replaced() -> bool:
                    now = await redis.zrangebyscore(keys.leases()[0], "-inf", "+inf")
                    return len(set(now) - set(nodes)) == 1

                await eventually(is_replaced)
                await second.move(DRAW)
                await first.bank()
                await second.bank()
                await first.until_closed()
                await second.until_closed()
            assert first.view.order == second.view.order
            assert sorted(row.moves for row in first.view.order) == [1, 2]
            workers = [pid_of(node) for node in await redis.zrange(keys.leases()[0], 0, -1)]
            assert len(workers) == 3
        logged, code = server.stop(signal.SIGTERM)
    assert code == 0
    assert f"(process {pid_of(nodes[0])}) ended with -9; starting another" in logged
    # The log ends only when every process that wrote to it has ended.
    assert not any(is_alive(pid) for pid in workers)


async def test_a_worker_that_cannot_be_started_for_a_while_is_replaced_after_all(
    tmp_path: Path,
) -> None:
    with ServerProcess(tmp_path / "data", "--workers", "2") as server:
        async with store_of(tmp_path / "data") as redis:
            first = await redis.zrange(keys.leases()[0], 0, -1)
            limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
            os.kill(pid_of(first[0]), signal.SIGKILL)
            assert server.process.stderr is not None
            lines = [""]
            while " cannot be started: " not in lines[-1]:
                assert len(lines) < 10, lines
                lines.append(await asyncio.to_thread(server.process.stderr.readline))
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)

            async def is_replaced() -> bool:
                return len(await redis.zrange(keys.leases()[0], 0, -1)) == 3

            await eventually(is_replaced)
        _, code = server.stop(signal.SIGTERM)
    assert code == 0


def test_workers_stop_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", "--workers", "2") as server:
        server.process.kill()
        _, logged = server.process.communicate(timeout=PATIENCE_S)
    assert logged == ""
    with ServerProcess(tmp_path / "data", "--workers", "2") as again:
        assert again.url


def test_ctrl_c_stops_workers_and_store(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", "--workers", "3") as server:
        logged, code = server.stop(signal.SIGINT)
    assert (logged, code) == ("", 0)
    assert not (tmp_path / "data" / "store.sock").exists()


def test_the_address_is_printed_once(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", "--workers", "2") as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.stdout is not None
        out = server.process.stdout.read()
    join = f"open a race: samedeal race --game lanes --server {server.url}"
    assert out.splitlines() == [join, "samedeal stopping"]


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "samedeal_server", "serve", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


@pytest.mark.parametrize("number", ["0", "-1", "65", "two", ""])
def test_a_bad_number_of_workers_is_refused_in_one_sentence(number: str, tmp_path: Path) -> None:
    done = serve(f"--workers={number}", "--data", str(tmp_path / "data"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "--workers" in done.stderr


def test_a_port_that_is_taken_is_not_shared(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = serve("--workers", "2", "--port", port, "--data", str(tmp_path / "data"))
    assert done.returncode == 2
    assert done.stderr == f"samedeal: cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_workers_without_a_store_say_so(tmp_path: Path) -> None:
    gone = f"unix://{tmp_path / 'none.sock'}"
    done = serve("--workers", "2", "--port", "0", "--redis", gone)
    assert done.returncode == 2
    assert "no store answers" in done.stderr
