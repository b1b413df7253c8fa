"""The server put together: store, rooms, gateway; start, sweep, stop."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from samedeal_server.desk import RaceDesk
from samedeal_server.errors import CannotServe, StoreUnavailable
from samedeal_server.gateway import Gateway
from samedeal_server.pause import is_set_within
from samedeal_server.race import RaceState
from samedeal_server.rooms import Rooms
from samedeal_server.runs import COMMIT, LiveRun
from samedeal_server.store.accounts import AccountStore
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.embedded import EmbeddedStore
from samedeal_server.store.feed import Feed
from samedeal_server.store.link import CommitLink
from samedeal_server.store.races import RaceStore
from samedeal_server.store.standings import StandingsStore

__all__ = ["Settings", "running"]

log = logging.getLogger(__name__)

SWEEP_S = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What `serve` was told."""

    host: str
    port: int
    redis: str | None
    """Address of the store; None for a private one in `data`."""
    data: Path


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[int]:
    """Run a server. Give the port it listens on. Raise CannotServe if it cannot start."""
    async with AsyncExitStack() as stack:
        url = settings.redis
        if url is None:
            url = await stack.enter_async_context(EmbeddedStore(settings.data))
        address = StoreAddress.parse(url)
        redis = address.client()
        stack.push_async_callback(redis.aclose)
        node = secrets.token_hex(4)
        races, standings = RaceStore(redis, node), StandingsStore(redis)
        link = CommitLink(address, [COMMIT])
        try:
            await races.overdue(1)
            await link.open()
        except StoreUnavailable:
            raise CannotServe(
                f"no store answers at {address.shown}; start one there, or leave out --redis "
                "and the server runs its own"
            ) from None
        stack.push_async_callback(link.close)

        def open_run(state: RaceState, seat: int, epoch: int) -> LiveRun:
            return LiveRun(state, seat, epoch, link, node)

        rooms = Rooms(races, standings, open_run)
        feed = Feed(redis, node, rooms.rang)
        rooms.watch = feed.watch
        feed.open()
        stack.push_async_callback(feed.close)
        stack.push_async_callback(rooms.close)
        desk = RaceDesk(races, AccountStore(redis), standings, rooms)
        gateway = Gateway(desk)
        port = await gateway.open(settings.host, settings.port)
        stack.push_async_callback(gateway.close)
        closing = asyncio.Event()
        sweeper = asyncio.create_task(_sweep(rooms, closing))
        stack.push_async_callback(asyncio.wait, [sweeper])
        stack.callback(closing.set)
        yield port


async def _sweep(rooms: Rooms, closing: asyncio.Event) -> None:
    """Close races on time, also those that nobody is connected to any more."""
    while not await is_set_within(closing, SWEEP_S):
        try:
            await rooms.sweep()
        except StoreUnavailable as error:
            log.warning("the sweep has to wait: %s", error)
        except Exception:
            log.exception("the sweep failed")
