"""The server put together: store, rooms, gateway; start, sweep, stop."""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from samedeal_server.almanac import Calendar
from samedeal_server.bans import Bans
from samedeal_server.board_check import BoardCheck
from samedeal_server.boards import Boards
from samedeal_server.books import Books
from samedeal_server.crowd import NEWS_S, Crowd
from samedeal_server.daily import Days
from samedeal_server.desk import RaceDesk
from samedeal_server.door import Door, Proxies, origins
from samedeal_server.errors import CannotServe, SeedUsed, StoreUnavailable
from samedeal_server.gateway import Gateway
from samedeal_server.housebot import LOOK_S, HouseBot
from samedeal_server.lobby import PUSH_S, Lobbies
from samedeal_server.matches import TICK_S, Matches
from samedeal_server.pause import is_set_within
from samedeal_server.people import People
from samedeal_server.race import RaceState
from samedeal_server.ratings import Ratings
from samedeal_server.rooms import Rooms
from samedeal_server.runs import COMMIT, LiveRun
from samedeal_server.settings import Settings
from samedeal_server.spectate import Spectators
from samedeal_server.store.accounts import AccountStore
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.audit import AuditStore
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.embedded import EmbeddedStore
from samedeal_server.store.feed import Feed
from samedeal_server.store.leases import BEAT_S, Leases
from samedeal_server.store.link import CommitLink
from samedeal_server.store.links import LinkStore
from samedeal_server.store.lobby import LobbyStore
from samedeal_server.store.news import NewsStore
from samedeal_server.store.queue import MatchQueue
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import RatingStore
from samedeal_server.store.traces import TraceStore
from samedeal_server.store.watch import WatchStore
from samedeal_server.streaks import Streaks
from samedeal_server.suspicion import Suspicion
from samedeal_server.traces import Traces

__all__ = ["running"]

log = logging.getLogger(__name__)

SWEEP_S = 1.0
TEND_S = 5.0
"""How often it is looked for days whose season has to be worked out."""
CHECK_S = 300.0
"""How often it is seen to that the boards were checked for the day before."""
RECHECK_S = 0.5
"""How often races that are idle are looked for; each has its turn every 2 s."""
STREAKS_S = 60.0
"""How often it is looked for streaks that a day has ended."""
PREPARE_S = 600.0
"""How often it is seen to that the deals of the days to come are made."""


@asynccontextmanager
async def running(
    settings: Settings, *, shares_port: bool = False, calendar: Calendar | None = None
) -> AsyncIterator[int]:
    """Run a server. Give the port it listens on. Raise CannotServe if it cannot start."""
    async with AsyncExitStack() as stack:
        tls, proxies = settings.tls(), Proxies.parse(settings.trusted_proxies)
        allowed = origins(settings.origins)
        url = settings.redis
        if url is None:
            url = await stack.enter_async_context(EmbeddedStore(settings.data))
        address = StoreAddress.parse(url)
        redis = address.client()
        stack.push_async_callback(redis.aclose)
        # Connections apart: a crowd that comes back must not keep the node's own work waiting.
        own_redis = address.client()
        stack.push_async_callback(own_redis.aclose)
        node = f"{os.getpid()}-{secrets.token_hex(4)}"
        races, day_store = RaceStore(redis, node), DayStore(redis)
        boards = Boards(BoardStore(redis), races, day_store)
        streaks = Streaks(day_store, boards.store, calendar)
        leases = Leases(own_redis, node)
        link = CommitLink(address, [COMMIT], min_replicas=settings.min_replicas)
        try:
            await leases.beat()
            await link.open()
        except StoreUnavailable as error:
            raise CannotServe(
                f"no store answers at {address.shown} ({error}); start one there, or leave "
                "out --redis and the server runs its own"
            ) from None
        stack.push_async_callback(link.close)

        def open_run(state: RaceState, seat: int, epoch: int) -> LiveRun:
            return LiveRun(state, seat, epoch, link, node)

        ratings = Ratings(RatingStore(redis), races, boards.store)
        lobbies = Lobbies(LobbyStore(redis))
        audit = AuditStore(redis)
        books = Books(races, boards, ratings, streaks, Suspicion(races, audit))
        rooms = Rooms(races, books, leases, lobbies, open_run)
        feed = Feed(own_redis, node, rooms, lobbies.rang)
        feed.open()
        stack.push_async_callback(feed.close)
        stack.push_async_callback(rooms.close)
        days = Days(races, rooms, day_store, boards, streaks, calendar)
        await _made_ready(days)
        matches = Matches(MatchQueue(redis, node), races, ratings)
        spectators = Spectators(
            rooms, races, WatchStore(redis, node), leases, max_watchers=settings.max_watchers
        )
        news = NewsStore(redis)
        crowd = Crowd(news)
        await crowd.open()
        traces = Traces(TraceStore(redis), races, day_store, boards, ratings)
        accounts = AccountStore(redis)
        bans = Bans(accounts, audit, boards, ratings, news)
        people = People(accounts, LinkStore(redis), news, traces, bans, crowd)
        desk = RaceDesk(races, people, boards, rooms, ratings, days, spectators, matches, lobbies)
        house_bot = HouseBot(desk)
        stack.push_async_callback(house_bot.close)
        gateway = Gateway(
            desk,
            Door(settings.limits),
            proxies,
            allowed,
            max_connections=settings.max_connections,
        )
        port = await gateway.open(settings.host, settings.port, tls, reuse_port=shares_port)
        stack.push_async_callback(gateway.close)
        # First of all nobody is matched any more.
        stack.push_async_callback(matches.close)
        closing = asyncio.Event()
        check = BoardCheck(boards.store, races, day_store, closing)
        chores = [
            asyncio.create_task(_every(SWEEP_S, rooms.sweep, closing), name="sweep"),
            asyncio.create_task(_every(BEAT_S, rooms.beat, closing), name="beat"),
            asyncio.create_task(_every(RECHECK_S, rooms.recheck, closing), name="recheck"),
            asyncio.create_task(_every(PUSH_S, lobbies.push, closing), name="lobby"),
            asyncio.create_task(_every(TICK_S, matches.tick, closing), name="matches"),
            asyncio.create_task(_every(LOOK_S, house_bot.look, closing), name="house bot"),
            asyncio.create_task(_every(NEWS_S, crowd.look, closing), name="news"),
            asyncio.create_task(_every(SWEEP_S, people.sweep, closing), name="erase"),
            asyncio.create_task(_every(TEND_S, boards.tend, closing), name="tend"),
            asyncio.create_task(_every(CHECK_S, check.nightly, closing), name="check"),
            asyncio.create_task(_every(PREPARE_S, days.prepare, closing), name="prepare"),
            asyncio.create_task(_every(STREAKS_S, streaks.end_lost, closing), name="streaks"),
        ]
        stack.push_async_callback(asyncio.wait, chores)
        stack.callback(closing.set)
        yield port


async def _made_ready(days: Days) -> None:
    """Have the deals of today and the days to come made. Raise CannotServe if they cannot be."""
    try:
        await days.prepare()
    except (StoreUnavailable, SeedUsed, OSError, NotImplementedError) as error:
        raise CannotServe(f"the deals of the days to come cannot be made: {error}") from None


async def _every(
    pause_s: float, chore: Callable[[], Awaitable[None]], closing: asyncio.Event
) -> None:
    """Do a chore again and again, whatever becomes of it, until the server closes."""
    while not await is_set_within(closing, pause_s):
        try:
            await chore()
        except StoreUnavailable as error:
            log.warning("%s has to wait: %s", chore.__name__, error)
        except Exception:
            log.exception("%s failed", chore.__name__)
