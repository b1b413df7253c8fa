"""A node in this process: the product's parts on a real store, and players who keep every frame."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from redis.asyncio import Redis

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, pack
from samedeal.protocol.fields import Message
from samedeal_server.almanac import Calendar
from samedeal_server.bans import Bans
from samedeal_server.boards import Boards
from samedeal_server.books import Books
from samedeal_server.buckets import Limits
from samedeal_server.crowd import Crowd
from samedeal_server.daily import Days, Draw, drawn_at_random
from samedeal_server.deals import Deal, deal, starts
from samedeal_server.desk import RaceDesk
from samedeal_server.door import Door, Visitor
from samedeal_server.lobby import Lobbies
from samedeal_server.matches import Matches
from samedeal_server.pause import is_set_within
from samedeal_server.people import People
from samedeal_server.race import RaceState
from samedeal_server.ratings import Ratings
from samedeal_server.rooms import Rooms
from samedeal_server.runs import COMMIT, LiveRun
from samedeal_server.session import Session
from samedeal_server.spectate import Spectators
from samedeal_server.store.accounts import AccountStore
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.audit import AuditStore
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
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
from support import eventually

__all__ = ["Player", "Trio", "node"]

_Answer = TypeVar("_Answer")
HOSTILE = (b"\xc1", b"\x81\xa4type", "text")


@asynccontextmanager
async def node(
    store_url: str,
    name: str,
    *,
    deal: Deal = deal,
    calendar: Calendar | None = None,
    draw: Draw = drawn_at_random,
) -> AsyncIterator[RaceDesk]:
    """A desk as a server has one, on a deal of the caller's choosing; no sockets, no sweep."""
    address = StoreAddress.parse(store_url)
    redis: Redis = address.client()
    link = CommitLink(address, [COMMIT])
    await link.open()

    def open_run(state: RaceState, seat: int, epoch: int) -> LiveRun:
        return LiveRun(state, seat, epoch, link, name, deal)

    races, day_store = RaceStore(redis, name, starts(deal)), DayStore(redis)
    boards = Boards(BoardStore(redis), races, day_store)
    ratings = Ratings(RatingStore(redis), races, boards.store)
    streaks = Streaks(day_store, boards.store, calendar)
    leases, lobbies = Leases(redis, name), Lobbies(LobbyStore(redis))
    audit = AuditStore(redis)
    books = Books(races, boards, ratings, streaks, Suspicion(races, audit))
    rooms = Rooms(races, books, leases, lobbies, open_run)
    days = Days(races, rooms, day_store, boards, streaks, calendar, draw)
    closing = asyncio.Event()
    beats = asyncio.create_task(beating(rooms, closing))
    spectators = Spectators(rooms, races, WatchStore(redis, name), leases)
    matches = Matches(MatchQueue(redis, name), races, ratings)
    news = NewsStore(redis)
    crowd = Crowd(news)
    await crowd.open()
    looks = asyncio.create_task(looking(crowd, closing))
    traces = Traces(TraceStore(redis), races, day_store, boards, ratings)
    accounts = AccountStore(redis)
    bans = Bans(accounts, audit, boards, ratings, news)
    people = People(accounts, LinkStore(redis), news, traces, bans, crowd)
    yield RaceDesk(races, people, boards, rooms, ratings, days, spectators, matches, lobbies)
    closing.set()
    await asyncio.wait([beats, looks])
    await rooms.close()
    await link.close()
    await redis.aclose()


async def beating(rooms: Rooms, closing: asyncio.Event) -> None:
    """Keep the lease of a node: without any there would be an outage."""
    while True:
        await rooms.beat()
        if await is_set_within(closing, BEAT_S):
            return


async def looking(crowd: Crowd, closing: asyncio.Event) -> None:
    """Read the news of a node."""
    while not await is_set_within(closing, 0.05):
        await crowd.look()


def unframed(framed: bytes) -> list[bytes]:
    """The payloads of whole frames of a server (RFC 6455, 5.2)."""
    payloads = []
    while framed:
        head = {126: 4, 127: 10}.get(framed[1], 2)
        size = framed[1] if head == 2 else int.from_bytes(framed[2:head], "big")
        payloads.append(framed[head : head + size])
        framed = framed[head + size :]
    return payloads


class Player:
    """One connection: what it was sent, in order, as bytes. Also the outbox of its session."""

    def __init__(self, desk: RaceDesk) -> None:
        self.frames: list[bytes] = []
        self.closed: tuple[int, str] | None = None
        self.token = self.player = ""
        unlimited = Door[Player](Limits(None, None, None))
        self.session = Session(desk, self, Visitor(unlimited, self, "", 0.0))
        self._ids = 0

    def send(self, frame: bytes) -> None:
        self.frames.append(frame)

    def write(self, framed: bytes) -> None:
        self.frames += unframed(framed)

    def offer(self, framed: bytes) -> bool:
        self.write(framed)
        return True

    def keep_little(self) -> None:
        """There is no system in between."""

    def rest(self) -> None:
        """Nothing is read from here anyway."""

    def close(self, code: int, reason: str) -> None:
        self.closed = code, reason

    async def throw(self, frame: bytes | str) -> None:
        """Hand in a frame, whatever it is."""
        if (work := self.session.receive(frame)) is not None:
            await work

    async def ask(self, kind: type[Message], **fields: Any) -> say.ServerMessage:
        """Ask, and return the one answer."""
        self._ids += 1
        request, at = self._ids, len(self.frames)
        await self.throw(pack({"type": kind.model_fields["type"].default, "id": request, **fields}))

        def answers() -> list[say.ServerMessage]:
            return [m for m in self.said(at) if getattr(m, "id", None) == request]

        await eventually(lambda: bool(answers()))
        (answer,) = answers()
        return answer

    async def get(self, answer: type[_Answer], kind: type[Message], **fields: Any) -> _Answer:
        """Ask for what must be granted."""
        got = await self.ask(kind, **fields)
        assert isinstance(got, answer), got
        return got

    def said(self, since: int = 0) -> list[say.ServerMessage]:
        """What the server said from a frame on."""
        return [decode_server(frame) for frame in self.frames[since:]]


class Trio:
    """Two who play and one who looks on, in a race on a node."""

    def __init__(self, desk: RaceDesk, game: str, *, tag: str = "", **options: Any) -> None:
        """`tag` stands behind the names, where other trios are on the same store."""
        self.desk = desk
        self.game, self.tag = game, tag
        self.options = {"seats": 3, "countdown_s": 0, "bots": False, **options}
        self.race = ""
        self.token: dict[int, str] = {}
        self.seats: dict[int, Player] = {}
        self.everyone: list[Player] = []
        self.seq = {1: 0, 2: 0, 3: 0}
        self.last: dict[int, str] = {}

    def connected(self, seat: int) -> Player:
        player = Player(self.desk)
        self.seats[seat] = player
        self.everyone.append(player)
        return player

    async def sit(self) -> None:
        """Open the race and have it begin."""
        code = ""
        for seat, name in ((1, "ada"), (2, "ivo"), (3, "eva")):
            player = self.connected(seat)
            welcome = await player.get(say.Welcome, ask.Hello, name=f"{name}{self.tag}")
            self.token[seat] = welcome.token or ""
            if seat == 1:
                fields: dict[str, Any] = {"game": self.game, "options": self.options}
                seated = await player.get(say.Seated, ask.Create, **fields)
                self.race, code = seated.race.id, seated.race.code
            else:
                await player.get(say.Seated, ask.Join, code=code)
        for seat in (3, 2, 1):
            await self.seats[seat].get(say.Done, ask.Ready, race=self.race)
        for player in self.everyone:
            await eventually(lambda p=player: any(isinstance(m, say.Go) for m in p.said()))  # type: ignore[misc]

    async def act(self, seat: int, action: str, seq: int) -> say.ServerMessage:
        kind: type[Message] = ask.PlayUndo if action == "undo" else ask.PlayMove
        fields = {} if action == "undo" else {"move": action}
        return await self.seats[seat].ask(kind, race=self.race, seq=seq, **fields)

    async def do(self, seat: int, kind: str, action: str) -> None:
        """Take one step of a play, and wait until everyone was told what comes of it."""
        seq = self.seq[seat]
        if kind == "played":
            answer = await self.act(seat, action, seq + 1)
            assert isinstance(answer, say.Ack), answer
            self.seq[seat], self.last[seat] = seq + 1, action
            await self.told(seat)
        elif kind == "refused":
            answer = await self.act(seat, action, seq + 1)
            assert isinstance(answer, say.Refused), answer
        elif kind == "gap":
            assert isinstance(await self.act(seat, "draw", seq + 3), say.Refused)
        elif kind == "again" and seq:
            assert isinstance(await self.act(seat, self.last[seat], seq), say.Ack)
        elif kind == "hostile":
            await self.seats[seat].throw(HOSTILE[len(self.seats[seat].frames) % len(HOSTILE)])
        elif kind == "resume":
            await self.resume(seat)

    async def told(self, seat: int) -> None:
        """Wait until every seat's newest connection has heard of the last action of `seat`."""

        def heard(player: Player) -> bool:
            views = [
                view
                for message in player.said()
                for view in (message.players if isinstance(message, say.Progress) else ())
            ]
            return any((v.seat, v.moves) == (seat, self.seq[seat]) for v in views)

        for player in self.seats.values():
            await eventually(lambda p=player: heard(p))  # type: ignore[misc]

    async def resume(self, seat: int) -> None:
        """Come back on another connection, with half of the play known already."""
        player = self.connected(seat)
        await player.get(say.Welcome, ask.Hello, token=self.token[seat])
        fields = {"race": self.race, "have": self.seq[seat] // 2}
        seated = await player.get(say.Seated, ask.Resume, **fields)
        assert seated.seq == self.seq[seat]
