"""`samedeal bench --boards`: do boards hurt races, and does a large one answer as a small one?"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack

from samedeal.engine.games import game
from samedeal_client.accounts import guest_name
from samedeal_client.bench.load import Measured, run_slice
from samedeal_client.bench.plan import plan
from samedeal_client.bench.start import (
    PLANS,
    TURNS,
    UNLIMITED,
    all_go,
    percentile,
    seated,
)
from samedeal_client.connection import Client
from samedeal_client.errors import ServerFailed
from samedeal_client.processes import started

__all__ = ["bench_boards"]

RUNS_PER_MINUTE = 10_000
SMALL = 1000
SMALL_GAME, LARGE_GAME, FED_GAME = "sally", "klondike", "gargantua"
"""Boards apart from one another, and from the races under load."""
ASKED = 300
"""Times each board is asked for each kind of page."""
BOOKED_S = 30.0


async def bench_boards(
    game_id: str, races: int, rate: float, seconds: float, rows: int
) -> dict[str, object]:
    """Race under load with and without finished runs coming in, then read boards of two sizes."""
    plans = [plan(game(game_id), number) for number in range(PLANS)]
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="samedeal-bench-"))
        _, url = await stack.enter_async_context(
            started("samedeal_server", "serve", "--port", "0", "--data", folder, *UNLIMITED)
        )
        store = f"unix://{folder}/store.sock"
        lines = await seated(stack, url, game_id, range(races), plans)
        await all_go(lines)
        quiet, fed = Measured(), Measured()
        per_s = RUNS_PER_MINUTE / 60 / 2
        for _ in range(TURNS):
            await run_slice(lines, rate, seconds / TURNS, quiet)
            feeder = await _feeder(store, FED_GAME, "--per-s", per_s, "--seconds", seconds / TURNS)
            assert feeder.stdout is not None
            await feeder.stdout.readline()
            await run_slice(lines, rate, seconds / TURNS, fed)
            await _ended(feeder)
        client = await stack.enter_async_context(Client(url, name=guest_name()))
        wanted = 2 * TURNS * round(per_s * seconds / TURNS)
        booked = await _booked(client, wanted)
        for game_of, size in ((SMALL_GAME, SMALL), (LARGE_GAME, rows)):
            words = ("--rows", size, "--player", client.player)
            await _ended(await _feeder(store, game_of, *words))
        pages = await _pages(client)
    ack_ms = [percentile(measured.answers_ms, 99) for measured in (quiet, fed)]
    return {
        "game": game_id,
        "races": races,
        "rate": rate,
        "seconds": seconds,
        "finished_runs_per_minute": RUNS_PER_MINUTE,
        "finished_runs": wanted,
        "booked_runs": booked,
        "ack_ms_p50": percentile(quiet.answers_ms, 50),
        "ack_ms_p50_with_boards": percentile(fed.answers_ms, 50),
        "ack_ms_p99": ack_ms[0],
        "ack_ms_p99_with_boards": ack_ms[1],
        "ack_p99_ratio": _ratio(ack_ms[1], ack_ms[0]),
        "small_board_rows": SMALL,
        "large_board_rows": rows,
        **pages,
    }


async def _feeder(store: str, game_id: str, *words: object) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "samedeal_server.bench_feed", "--redis", store),
        *("--game", game_id, *map(str, words)),
        stdout=asyncio.subprocess.PIPE,
    )


async def _ended(feeder: asyncio.subprocess.Process) -> None:
    await feeder.communicate()
    if feeder.returncode:
        raise ServerFailed("the process that feeds the boards of the bench has failed")


async def _booked(client: Client, wanted: int) -> int:
    """Wait for the last finished runs to be on the board. Return how many there are."""
    until_s = time.perf_counter() + BOOKED_S
    while True:
        total = (await client.boards.page(FED_GAME, limit=1)).total
        if total >= wanted or time.perf_counter() > until_s:
            return total
        await asyncio.sleep(0.2)


async def _pages(client: Client) -> dict[str, object]:
    """Ask both boards in turn, so that a busy machine slows both."""
    spent: dict[str, list[float]] = {}
    for _ in range(ASKED):
        for size, game_of in (("small", SMALL_GAME), ("large", LARGE_GAME)):
            for what in ("top", "around"):
                start_s = time.perf_counter()
                wish = {"board": "rating", "around": what == "around"}
                page = await client.boards.page(game_of, **wish)
                spent.setdefault(f"{what}_{size}", []).append(
                    (time.perf_counter() - start_s) * 1000
                )
                if page.me is None:
                    raise ServerFailed("the own row is not on a board of the bench")
    figures: dict[str, object] = {}
    for what in ("top", "around"):
        for percent in (50, 99):
            small, large = _both(spent, what, percent)
            figures[f"{what}_ms_p{percent}_small"] = small
            figures[f"{what}_ms_p{percent}_large"] = large
        figures[f"{what}_p50_ratio"] = _ratio(*reversed(_both(spent, what, 50)))
    return figures


def _both(spent: dict[str, list[float]], what: str, percent: int) -> Sequence[float | None]:
    return [percentile(spent[f"{what}_{size}"], percent) for size in ("small", "large")]


def _ratio(one: float | None, other: float | None) -> float | None:
    return round(one / other, 2) if one is not None and other else None
