"""What every run of the bench starts with: players in their races; and how it sums up."""

import asyncio
import math
from collections.abc import Sequence
from contextlib import AsyncExitStack

from samedeal.engine.run import Action
from samedeal_client.bench.load import Line, go, seated_pair

__all__ = ["PLANS", "TURNS", "UNLIMITED", "all_go", "percentile", "seated"]

PLANS = 16
"""Different plans; the players share them out."""
AT_ONCE = 20
"""Races that are set up at the same time."""
UNLIMITED = ("--limit-actions", "off", "--limit-requests", "off", "--limit-hellos", "off")
TURNS = 5
"""Slices each of the two servers gets, in turn, so that a busy machine slows both."""


async def seated(
    stack: AsyncExitStack,
    url: str,
    game_id: str,
    races: range,
    plans: Sequence[tuple[Action, ...]],
) -> list[Line]:
    room = asyncio.Semaphore(AT_ONCE)

    async def pair(number: int) -> list[Line]:
        both = [plans[2 * number % PLANS], plans[(2 * number + 1) % PLANS]]
        async with room:
            return await seated_pair(stack, url, game_id, both)

    pairs = await asyncio.gather(*map(pair, races))
    return [line for both in pairs for line in both]


async def all_go(lines: Sequence[Line]) -> None:
    """Start every race, some at a time: two lines that follow each other share a race."""
    room = asyncio.Semaphore(AT_ONCE)

    async def pair(at: int) -> None:
        async with room:
            await asyncio.gather(go(lines[at]), go(lines[at + 1]))

    await asyncio.gather(*map(pair, range(0, len(lines), 2)))


def percentile(values: Sequence[float], percent: int) -> float | None:
    """Return the smallest value that `percent` of `values` do not exceed; None of none."""
    if not values:
        return None
    return round(sorted(values)[math.ceil(len(values) * percent / 100) - 1], 3)
