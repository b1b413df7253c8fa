"""`samedeal bench --spectators K`: what a crowd at one race costs its players and the server."""

import asyncio
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect

from samedeal.engine.games import game
from samedeal.protocol.limits import PROGRESS_PER_S
from samedeal_client.bench.load import Measured, run_slice
from samedeal_client.bench.plan import plan
from samedeal_client.bench.start import PLANS, TURNS, UNLIMITED, all_go, percentile, seated
from samedeal_client.errors import ServerFailed
from samedeal_client.processes import cpu_s, rss_kib, started

__all__ = ["bench_watched"]


class _Gallery:
    """The process with the watchers."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def ask(self, word: str) -> list[str]:
        """Send a line, and return the words of the answer. Raise ServerFailed if there is none."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())
        return await self.said()

    async def said(self) -> list[str]:
        assert self._process.stdout is not None
        words = (await self._process.stdout.readline()).decode().split()
        if not words:
            raise ServerFailed("the watchers of the bench have ended")
        return words

    async def count(self) -> tuple[int, int]:
        """How many frames and bytes they were sent so far."""
        frames, size = await self.ask("count")
        return int(frames), int(size)


@asynccontextmanager
async def _gallery(url: str, count: int, *race: str) -> AsyncIterator[_Gallery]:
    words = (sys.executable, "-m", "samedeal_client.bench.gallery", url, str(count), *race)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    try:
        gallery = _Gallery(process)
        await gallery.said()
        yield gallery
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def bench_watched(
    game_id: str, races: int, rate: float, seconds: float, spectators: int
) -> dict[str, object]:
    """Load races with and without a crowd at the first of them, and beside a bare broadcast.

    What the broadcast's crowd does to acks it does by being there: it shares the machine, not the
    server.
    """
    loop, me = asyncio.get_running_loop(), asyncio.current_task()
    assert me is not None
    loop.add_signal_handler(signal.SIGTERM, me.cancel)
    plans = [plan(game(game_id), number) for number in range(PLANS)]
    alone, seen, beside = Measured(), Measured(), Measured()
    spent = dict.fromkeys(("alone", "seen", "cast"), 0.0)
    frames = size = cast_frames = 0
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="samedeal-bench-"))
        server, url = await stack.enter_async_context(
            started("samedeal_server", "serve", "--port", "0", "--data", folder, *UNLIMITED)
        )
        cast, cast_url = await stack.enter_async_context(started("samedeal_client.bench.cast"))
        lines = await seated(stack, url, game_id, range(races), plans)
        await all_go(lines)
        before_kib = rss_kib(server)
        crowd = await stack.enter_async_context(_gallery(url, spectators, lines[0].race_id))
        await crowd.ask("watch")
        crowd_kib = rss_kib(server) - before_kib
        await crowd.ask("leave")
        audience = await stack.enter_async_context(_gallery(cast_url, spectators))
        speaker = await stack.enter_async_context(connect(cast_url, compression=None))
        for _ in range(TURNS):
            begun = cpu_s(server)
            await run_slice(lines, rate, seconds / TURNS, alone)
            spent["alone"] += cpu_s(server) - begun
            await crowd.ask("watch")
            # Who comes is counted, and everyone is told: that is over by the first slice.
            await asyncio.sleep(2.5)
            begun, (had, had_size) = cpu_s(server), await crowd.count()
            await run_slice(lines, rate, seconds / TURNS, seen)
            spent["seen"] += cpu_s(server) - begun
            got, got_size = await crowd.count()
            await crowd.ask("leave")
            frames, size = frames + got - had, size + got_size - had_size
            each = (got_size - had_size) // max(1, got - had)
            begun, (had, _) = cpu_s(cast), await audience.count()
            async with asyncio.TaskGroup() as both:
                both.create_task(_broadcast(speaker, each, seconds / TURNS))
                both.create_task(run_slice(lines, rate, seconds / TURNS, beside))
            spent["cast"] += cpu_s(cast) - begun
            cast_frames += (await audience.count())[0] - had
    # The same moves were made in both kinds of slice: what is more is the crowd's.
    each_us = (spent["seen"] - spent["alone"]) / max(1, frames) * 1e6
    cast_us = spent["cast"] / max(1, cast_frames) * 1e6
    p99s = percentile(alone.answers_ms, 99), percentile(seen.answers_ms, 99)
    return {
        "game": game_id,
        "races": races,
        "rate": rate,
        "seconds": seconds,
        "spectators": spectators,
        "acked_moves": sum(len(part.answers_ms) for part in (alone, seen, beside)),
        "delivered": frames,
        "delivered_per_s": round(frames / seen.wall_s, 1),
        "delivered_bytes_each": round(size / max(1, frames)),
        "ack_ms_p50_unwatched": percentile(alone.answers_ms, 50),
        "ack_ms_p50_watched": percentile(seen.answers_ms, 50),
        "ack_ms_p99_unwatched": p99s[0],
        "ack_ms_p99_watched": p99s[1],
        "ack_ms_p99_crowd_elsewhere": percentile(beside.answers_ms, 99),
        "ack_p99_ratio": round(p99s[1] / p99s[0], 2) if p99s[0] and p99s[1] else None,
        "server_cpu_us_per_delivery": round(each_us, 1),
        "broadcast_cpu_us_per_delivery": round(cast_us, 1),
        "delivery_cpu_ratio": round(each_us / cast_us, 2) if cast_us else None,
        "rss_kib_per_spectator": round(crowd_kib / spectators, 1),
    }


async def _broadcast(speaker: ClientConnection, size: int, seconds: float) -> None:
    """Have frames of that size broadcast as often as a race is told of, for so long."""
    for _ in range(round(seconds * PROGRESS_PER_S)):
        await speaker.send(b"." * size)
        await asyncio.sleep(1 / PROGRESS_PER_S)
