"""Promise 1: what was acknowledged is there after `kill -9` at any moment, and nothing twice."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from samedeal.engine.moves import DRAW
from samedeal_client.connection import Client, Race
from support import ServerProcess


async def draw_until_killed(race: Race, done: asyncio.Event) -> None:
    """Draw as fast as acks come; sally's stock never ends."""
    while not done.is_set():
        await race.move(DRAW)


@pytest.mark.parametrize(
    "kills", [5, pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]
)
async def test_every_acked_move_survives_kill_9_right_after_an_ack(
    tmp_path: Path, kills: int
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with ExitStack() as servers:
        server = servers.enter_context(ServerProcess(tmp_path / "data"))
        port = int(server.url.rpartition(":")[2])
        async with Client(server.url, name="ada") as a, Client(server.url, name="ivo") as b:
            race = await a.create_race("sally", countdown_s=0, time_limit_s=7200)
            rival = await b.join(race.code)
            await rival.ready()
            await race.ready()
            await race.until_go()
            for _ in range(kills):
                done = asyncio.Event()
                playing = asyncio.create_task(draw_until_killed(race, done))
                goal = race.model.acked + rng.randrange(1, 20)
                await race.until(lambda goal=goal: race.model.acked >= goal)  # type: ignore[misc]
                server.stop(signal.SIGKILL)
                acked = race.model.acked
                server = servers.enter_context(ServerProcess(tmp_path / "data", port=port))
                await race.until(lambda acked=acked: race.model.acked > acked)  # type: ignore[misc]
                done.set()
                await playing
            acked, hash_ = race.model.acked, race.table.hash
            async with Client(server.url, token=a.token) as fresh:
                again = await fresh.resume(race.id)
                assert (again.model.acked, again.table.hash) == (acked, hash_)
                # Sally's draws only turn cards: the log holds each once, and in order.
                assert again.model.run.draws_in_a_row == min(acked, 255)


def test_ctrl_c_stops_server_and_store(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        logged, code = server.stop(signal.SIGINT)
    assert (logged, code) == ("", 0)
    with ServerProcess(tmp_path / "data") as again:
        assert again.url


def test_a_data_folder_in_use_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with (
        ServerProcess(tmp_path / "data"),
        pytest.raises(AssertionError, match="in use by another server"),
        ServerProcess(tmp_path / "data"),
    ):
        pass
