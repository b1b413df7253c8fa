"""The daily over real processes: a node killed in the middle, a node whose clock is wrong."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from rig import OwnStore
from samedeal.protocol import client_messages as ask
from samedeal.protocol import days
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Status
from samedeal_client.connection import Client
from support import ServerProcess, eventually
from wire import wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SKEWED = str(Path(__file__).parents[1] / "skewed.py")


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnStore]:
    own = OwnStore(tmp_path_factory.mktemp("store"))
    await own.start()
    yield own
    await own.stop()


async def test_a_day_goes_on_at_another_node_when_its_own_is_killed(
    store: OwnStore, tmp_path: Path
) -> None:
    at_store = ("--redis", store.url)
    with (
        ServerProcess(tmp_path / "one", *at_store) as one,
        ServerProcess(tmp_path / "two", *at_store) as two,
    ):
        async with Client(f"{one.url},{two.url}", name="ada") as ada:
            race = await ada.play_daily("sally")
            view = race.view
            assert view.day is not None
            day = view.day.number
            for _ in range(5):
                await race.move("draw")
            await asyncio.to_thread(one.stop, signal.SIGKILL)
            for _ in range(6):
                await race.move("draw")
            assert race.acked == 11
            assert race.view.day == view.day
            assert race.view.deadline_ms == view.deadline_ms
            again = await ada.play_daily("sally", day=day)
            assert (again.id, again.acked) == (race.id, 11)
            await again.bank()
            await again.until_closed()
            assert again.view.seed is None

            async def is_booked() -> bool:
                (sally,) = (await ada.daily("sally", day=day)).games
                own = sally.own
                assert own is not None
                assert (own.race, own.status) == (race.id, Status.BANKED)
                return sally.played == 1 and sally.streak.days == 1

            await eventually(is_booked)


@pytest.mark.parametrize("skew_s", [86_400, -7_200])
async def test_the_day_is_the_one_of_the_store_whatever_the_clocks_of_nodes_and_clients(
    store: OwnStore, tmp_path: Path, skew_s: int
) -> None:
    skewed = (SKEWED, str(skew_s))
    with ServerProcess(tmp_path / "one", "--redis", store.url, program=skewed) as wrong:
        async with (
            wired(wrong.url, f"ivo-{abs(skew_s)}") as ivo,
            Redis(unix_socket_path=store.socket) as redis,
        ):
            seconds, _ = await redis.time()
            daily = await ivo.get(say.Daily, ask.DailyGet, game="lanes")
            assert daily.day in (
                days.number_at(int(seconds) * 1000),
                days.number_at((int(seconds) + 60) * 1000),
            )
            assert 0 <= daily.now_ms - int(seconds) * 1000 < 60_000
            seated = await ivo.get(say.Seated, ask.DailyPlay, game="lanes")
            assert seated.race.clock_ms < 60_000
            race = seated.race.id
            lie = await ivo.get(say.Refused, ask.PlayMove, race=race, seq=1, move="draw", t_ms=1)
            assert lie.code is ErrorCode.BAD_FRAME
            ack = await ivo.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
            after, _ = await redis.time()
            assert ack.t_ms <= (int(after) + 1 - int(seconds)) * 1000
