"""The doorbell: hear that another node changed a race, and have it read again.

What rings is only a hint. The record in the store is the truth: it is read whole on every ring and
after every (re)subscription, so a lost ring costs a moment, never an event.
"""

import asyncio
import logging
from collections.abc import Callable

from redis.asyncio import Redis
from redis.exceptions import RedisError

from samedeal_server.pause import is_set_within
from samedeal_server.store import keys

__all__ = ["Feed"]

log = logging.getLogger(__name__)

IDLE_S = 0.5
"""How long a closing server may have to wait for the listener to notice."""


class Feed:
    """Subscribes to the doorbells of the races that are watched on this node."""

    def __init__(self, redis: Redis, node: str, rang: Callable[[str], None]) -> None:
        self._redis = redis
        self._node = node
        self._rang = rang
        self._races: dict[str, str] = {}
        self._pubsub = redis.pubsub()
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def open(self) -> None:
        """Start to listen."""
        self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        self._closing.set()
        if self._task is not None:
            await asyncio.wait([self._task])
        await self._pubsub.aclose()  # type: ignore[no-untyped-call]

    async def watch(self, race_id: str, on: bool) -> None:
        """Listen for a race, or no more."""
        channel = keys.bell(race_id)
        try:
            if on:
                self._races[channel] = race_id
                await self._pubsub.subscribe(channel)
            else:
                self._races.pop(channel, None)
                await self._pubsub.unsubscribe(channel)
        except (RedisError, OSError) as error:
            log.warning("race %s: the doorbell is out of reach: %s", race_id, error)

    async def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                if not self._pubsub.subscribed:
                    await is_set_within(self._closing, 0.1)
                    continue
                message = await self._pubsub.get_message(timeout=IDLE_S)
            except (RedisError, OSError) as error:
                log.warning("the doorbell is out of reach: %s", error)
                await is_set_within(self._closing, 0.5)
                for race_id in list(self._races.values()):
                    self._rang(race_id)
                continue
            if message is None:
                continue
            known = self._races.get(message["channel"])
            if known is None:
                continue
            own = message["type"] == "message" and message["data"].startswith(f"{self._node} ")
            if message["type"] in ("message", "subscribe") and not own:
                self._rang(known)
