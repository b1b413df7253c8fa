"""Waiting that a closing server ends: loops around the store stop by an event, not by cancellation.

A cancellation that reaches a redis-py call can be swallowed there; the loop would never end.
"""

import asyncio

__all__ = ["is_set_within"]


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but not longer than `seconds`. Return whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
