"""The doorbell of this node: hear that another one changed a race which has players here.

What rings is only a hint. The record in the store is the truth, and a ring can be lost: so after
every (re)subscription, and where nothing rang for a while, the versions of the races are compared.

In a cluster the bell is rung by plain PUBLISH, which every node of it passes on: a script may ring
wherever its keys are, and one subscription anywhere hears it. A ring is a few bytes and rare.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Protocol

from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from samedeal_server.pause import is_set_within
from samedeal_server.store import keys
from samedeal_server.store.faults import is_fault

__all__ = ["Feed", "Listener"]

log = logging.getLogger(__name__)

WAIT_S = 0.5
"""How long a closing server may have to wait for the listener to notice."""
PING_S = 3.0
"""After so long without a word the store is asked for one."""
SILENCE_S = 6.0
"""A connection that says nothing for so long is dead, whatever its socket says."""
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.1, 2.0


class Listener(Protocol):
    """Who is told."""

    def rang(self, race_id: str, ver: int, *, is_move: bool) -> None:
        """Another node brought this race to that version."""

    def missed(self) -> None:
        """Rings may have been lost: every race may have changed."""


class Feed:
    """Listens on one channel for the whole node, and on that of the lobby, while it is open."""

    def __init__(
        self, redis: Redis, node: str, listener: Listener, lobby: Callable[[], None]
    ) -> None:
        self._redis = redis
        self._channel = keys.bell(node)
        self._listener = listener
        self._lobby = lobby
        """Called when the open rooms have changed."""
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def open(self) -> None:
        """Start to listen."""
        self._task = asyncio.create_task(self._listen(), name="feed")

    async def close(self) -> None:
        """Stop listening."""
        self._closing.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _listen(self) -> None:
        """Hear, on one connection after the other."""
        pause_s = _FIRST_PAUSE_S
        while not self._closing.is_set():
            pubsub = self._redis.pubsub()
            began = self._now()
            try:
                await self._hear(pubsub)
            except Exception as error:
                if is_fault(error):
                    log.warning("the doorbell is out of reach: %s", error)
                else:
                    log.exception("the doorbell failed")
            finally:
                await pubsub.aclose()  # type: ignore[no-untyped-call]
            lasted = self._now() - began > SILENCE_S
            pause_s = _FIRST_PAUSE_S if lasted else min(_LAST_PAUSE_S, pause_s * 2)
            await is_set_within(self._closing, pause_s * random.uniform(0.5, 1.0))

    async def _hear(self, pubsub: PubSub) -> None:
        """Pass on what rings, until the server closes or the connection is dead."""
        await pubsub.subscribe(self._channel, keys.lobby_bell())
        heard_at = self._now()
        asked = False
        while not self._closing.is_set():
            message = await pubsub.get_message(timeout=WAIT_S)
            if message is not None:
                heard_at, asked = self._now(), False
                self._take(message["type"], message["channel"], message["data"])
                continue
            silence = self._now() - heard_at
            if silence > SILENCE_S:
                log.warning("the doorbell says nothing; connecting again")
                return
            if silence > PING_S and not asked:
                asked = True
                await pubsub.ping()

    def _take(self, kind: str, channel: str | None, data: str) -> None:
        if channel == keys.lobby_bell():
            self._lobby()
        elif kind == "subscribe":
            # Also after redis-py connected again by itself: what rang meanwhile is lost.
            self._listener.missed()
        elif kind == "message":
            race, ver, word = data.split(" ")
            self._listener.rang(keys.race_of(race), int(ver), is_move=word == "moved")

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
