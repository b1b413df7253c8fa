"""One clock for all, the store's: a node whose own is wrong, or that is away, changes nothing."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from rig import OwnStore
from samedeal.engine.replay import verify
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal_server.store import keys
from samedeal_server.store.leases import BEAT_S
from support import ServerProcess, eventually
from wire import Wire, race_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BEAT_MS = 2 * int(BEAT_S * 1000)
"""So long ago the last beat of a node may be, and some more."""
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

    async def jump(self, race: str, ms: int) -> None:
        """Be so much later for a race and for the beats of nodes."""
        await self.redis.hincrby(keys.leases()[1], "beat", -ms)
        for field in ("go_at", "deadline"):
            await self.redis.hincrby(keys.race(race), field, -ms)

    async def is_lengthened(self, race: str) -> bool:
        return await self.redis.hget(keys.race(race), "paused") is not None


@pytest.fixture
async def clock(own_store: OwnStore) -> AsyncIterator[Clock]:
    async with Redis(unix_socket_path=own_store.socket) as redis:
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
    own_store: OwnStore, clock: Clock, tmp_path: Path, skew_s: int
) -> None:
    at_store = ("--redis", own_store.url)
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


OUTAGE = re.compile(r"nobody could play for (\d+\.\d) s")


async def test_p35_an_outage_of_all_nodes_lengthens_the_race_for_both_and_shows_in_the_result(
    own_store: OwnStore, clock: Clock, tmp_path: Path
) -> None:
    """They are away for 20 s by the store's clock: its times are put so much further back."""
    with ServerProcess(tmp_path / "one", "--redis", own_store.url) as node:
        async with wired(node.url, "ada") as ada, wired(node.url, "ivo") as ivo:
            race = await race_of(ada, ivo, game="sally", time_limit_s=300)
            last_ms = await drawn_at(ada, race, 1, clock)
            tokens = ada.token, ivo.token
            beaten_ms = await clock.now_ms() - BEAT_MS
            node.stop(signal.SIGKILL)
    await clock.jump(race, 20_000)
    with (
        ServerProcess(tmp_path / "one", "--redis", own_store.url) as one,
        ServerProcess(tmp_path / "two", "--redis", own_store.url) as two,
    ):
        async with (
            wired(one.url, token=tokens[0]) as ada,
            wired(two.url, token=tokens[1]) as ivo,
        ):
            await eventually(partial(clock.is_lengthened, race))
            deadlines = [await seen_by(wire, race, clock) for wire in (ada, ivo)]
            assert deadlines[0] == deadlines[1]
            paused_ms = deadlines[0] - 300_000
            # However long the start took, besides the jump.
            assert 20_000 <= paused_ms <= 20_000 + await clock.now_ms() - beaten_ms
            times = [await drawn_at(ada, race, 2, clock), await drawn_at(ivo, race, 1, clock)]
            # The clock has run on, for both.
            assert times == sorted(times)
            assert times[0] >= last_ms + 20_000
            for wire in (ada, ivo):
                await wire.get(say.Done, ask.Bank, race=race)
            for wire in (ada, ivo):
                await eventually(partial(is_told_the_end, wire))
                assert wire.all(say.Closed)[0].race.paused_ms == paused_ms
            replay = (await ada.get(say.ReplayFile, ask.ReplayGet, race=race)).text
            assert verify(replay.splitlines(keepends=True)).paused_ms == paused_ms
        logs = [node.stop(signal.SIGTERM)[0] for node in (one, two)]
    (away_s,) = OUTAGE.findall("".join(logs))
    # The last beat may have been before GO: then not all of it was taken from the race.
    assert float(away_s) > paused_ms / 1000 - 0.1


async def test_p35_an_outage_of_the_store_lengthens_a_race_that_would_have_ended_in_it(
    own_store: OwnStore, clock: Clock, tmp_path: Path
) -> None:
    """Its time is up when the store is back; nobody finds it closed, or is told that it is."""
    with ServerProcess(tmp_path / "one", "--redis", own_store.url) as node:
        async with wired(node.url, "ada") as ada, wired(node.url, "ivo") as ivo:
            race = await race_of(ada, ivo, game="sally", time_limit_s=15)
            await drawn_at(ada, race, 1, clock)
            # Nothing beats meanwhile, and nothing is closed.
            node.process.send_signal(signal.SIGSTOP)
            await clock.jump(race, 20_000)
            await own_store.stop()
            await own_store.start()
            node.process.send_signal(signal.SIGCONT)
            seq = {ada: 2, ivo: 1}
            for wire in (ada, ivo):

                async def draws(wire: Wire = wire) -> bool:
                    fields = {"race": race, "seq": seq[wire], "move": "draw"}
                    answer = await wire.answer(await wire.post(ask.PlayMove, **fields))
                    if isinstance(answer, say.Refused):
                        assert answer.code is not ErrorCode.RUN_OVER
                    return isinstance(answer, say.Ack)

                await eventually(draws)
            await eventually(lambda: all(wire.all(say.Notice) for wire in (ada, ivo)))
            for wire in (ada, ivo):
                (notice,) = wire.all(say.Notice)
                away = re.match(r"nobody could play for (\d+) s", notice.sentence)
                assert away is not None
                assert (notice.kind, int(away[1]) >= 20) == ("store", True)
                assert not wire.all(say.Closed)
