"""One clock for all, the store's: a node whose own is wrong, or that is away, changes nothing."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from rig import OwnStore
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal_server.store import keys
from support import ServerProcess, eventually
from wire import Wire, race_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SKEWED = str(Path(__file__).parents[1] / "skewed.py")


@dataclass
class Clock:
    """The clock of the store."""

    redis: Redis

    async def now_ms(self) -> int:
        seconds, micros = await self.redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def go_at_ms(self, race: str) -> int:
        return int(await self.redis.hget(keys.race(race), "go_at") or 0)

    async def has_passed(self, ms: int) -> bool:
        return await self.now_ms() >= ms


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[OwnStore]:
    own = OwnStore(tmp_path / "store")
    await own.start()
    yield own
    await own.stop()


@pytest.fixture
async def clock(store: OwnStore) -> AsyncIterator[Clock]:
    async with Redis(unix_socket_path=store.socket) as redis:
        yield Clock(redis)


async def drawn_at(wire: Wire, race: str, seq: int, clock: Clock) -> int:
    """Draw, and return when that was, from GO; see that the store's clock says the same."""
    before = await clock.now_ms()
    ack = await wire.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")
    assert before <= await clock.go_at_ms(race) + ack.t_ms <= await clock.now_ms()
    return ack.t_ms


async def seen_by(wire: Wire, race: str, clock: Clock) -> int:
    """Resume, and return the deadline; see that the clock shown is the store's."""
    before = await clock.now_ms()
    seated = await wire.get(say.Seated, ask.Resume, race=race)
    go_at_ms = await clock.go_at_ms(race)
    assert before <= go_at_ms + seated.race.clock_ms <= await clock.now_ms()
    return seated.race.deadline_ms


def is_told_the_end(wire: Wire) -> bool:
    return bool(wire.all(say.Closed))


@pytest.mark.parametrize("skew_s", [60, -60])
async def test_a_node_whose_clock_is_wrong_and_stepped_shows_the_clock_of_the_store(
    store: OwnStore, clock: Clock, tmp_path: Path, skew_s: int
) -> None:
    at_store = ("--redis", store.url)
    skewed = (SKEWED, str(skew_s))
    with (
        ServerProcess(tmp_path / "one", *at_store, program=skewed) as wrong,
        ServerProcess(tmp_path / "two", *at_store) as right,
    ):
        async with wired(wrong.url, "ada") as ada, wired(right.url, "ivo") as ivo:
            race = await race_of(ada, ivo, game="sally", time_limit_s=300)
            times = []
            for seq in range(1, 11):
                if seq == 6:
                    wrong.process.send_signal(signal.SIGUSR1)
                for wire in (ada, ivo):
                    times.append(await drawn_at(wire, race, seq, clock))
                for wire in (ada, ivo):
                    assert await seen_by(wire, race, clock) == 300_000
            assert times == sorted(times)
            for wire in (ada, ivo):
                assert {go.race.deadline_ms for go in wire.all(say.Go)} == {300_000}
                await wire.get(say.Done, ask.Bank, race=race)
            for wire in (ada, ivo):
                await eventually(partial(is_told_the_end, wire))
            assert ada.all(say.Closed)[0].race.order == ivo.all(say.Closed)[0].race.order


async def test_p35_the_clock_runs_on_for_both_while_their_node_is_away(
    store: OwnStore, clock: Clock, tmp_path: Path
) -> None:
    with ServerProcess(tmp_path / "one", "--redis", store.url) as node:
        async with wired(node.url, "ada") as ada, wired(node.url, "ivo") as ivo:
            race = await race_of(ada, ivo, game="sally", time_limit_s=300)
            last_ms = await drawn_at(ada, race, 1, clock)
            tokens = ada.token, ivo.token
            node.stop(signal.SIGKILL)
    away_until_ms = await clock.now_ms() + 3000
    await eventually(lambda: clock.has_passed(away_until_ms), 20)
    with ServerProcess(tmp_path / "one", "--redis", store.url) as again:
        async with (
            wired(again.url, token=tokens[0]) as ada,
            wired(again.url, token=tokens[1]) as ivo,
        ):
            for wire in (ada, ivo):
                assert await seen_by(wire, race, clock) == 300_000
            times = [await drawn_at(ada, race, 2, clock), await drawn_at(ivo, race, 1, clock)]
            assert times == sorted(times)
            assert times[0] >= last_ms + 3000
