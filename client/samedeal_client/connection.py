"""A client of one account: any number of races over a connection that comes back."""

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import Any, Self

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import OptionsPatch, Phase
from samedeal.protocol.lobby_messages import LobbyRoom
from samedeal.protocol.watch_messages import LiveRace
from samedeal_client.boards import Boards
from samedeal_client.daily import play_day, show_day
from samedeal_client.errors import ConnectionLost
from samedeal_client.exchange import Exchange
from samedeal_client.lobby import lobby
from samedeal_client.matching import QuickMatch
from samedeal_client.people import People
from samedeal_client.race import Dropped, Event, Link, Race, Rewound, Store
from samedeal_client.replays.fetch import fetch
from samedeal_client.sight import Sight
from samedeal_client.watch import list_live, watch

__all__ = ["Client", "Dropped", "Event", "Link", "Race", "Rewound", "Store"]


class Client:
    """`async with Client(url, name="ada") as client`: one account, any number of races.

    `link` is a code that another device of an account was given: this one then has a token too.
    It works once; with the same `secret`, 64 hex digits, it can be asked again for a lost answer.
    If somebody has the name, a free one like it is taken; `exact` has that refused instead.
    `url` is one address, or those of several nodes of one service with commas between. A lost
    connection is made again, at the next address, with growing pauses, and every race is resumed;
    after `give_up_s` in vain all calls raise ConnectionLost. A request that is not answered within
    `patience_s` raises Unanswered.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        token: str | None = None,
        bot: bool = False,
        exact: bool = False,
        link: str | None = None,
        secret: str | None = None,
        rng: random.Random | None = None,
        patience_s: float = 30.0,
        give_up_s: float = 600.0,
    ) -> None:
        self.url = url
        self._exchange: Exchange[Race] = Exchange(
            url,
            self._new_race,
            name=name,
            token=token,
            is_bot=bot,
            exact=exact,
            link=link,
            secret=secret,
            rng=rng or random.Random(),
            patience_s=patience_s,
            give_up_s=give_up_s,
        )

    @property
    def token(self) -> str | None:
        """The key to the account."""
        return self._exchange.token

    @property
    def name(self) -> str:
        """The name of the account, as the server has it."""
        return self._exchange.name

    @property
    def player(self) -> str:
        """The id of the account."""
        return self._exchange.player

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now; a lost one is being made again until `has_ended`."""
        return self._exchange.is_up

    @property
    def has_ended(self) -> bool:
        """Whether nothing will be answered any more: closed, or given up."""
        return self._exchange.has_ended

    @property
    def is_bot(self) -> bool:
        """Whether the account is marked as a program's; the server's word once connected."""
        return self._exchange.is_bot

    @property
    def people(self) -> People:
        """What can be asked about the own account."""
        return People(self._exchange)

    @property
    def boards(self) -> Boards:
        """The leaderboards, as this account sees them."""
        return Boards(self._exchange)

    async def __aenter__(self) -> Self:
        """Connect and say hello. Raise CannotConnect or Refused."""
        await self._exchange.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect. Seats are kept: the same account can resume them."""
        await self._exchange.close()

    async def create_race(self, game: str, *, seed: str | None = None, **options: Any) -> Race:
        """Open a room; see RaceOptions for the options. Raise Refused."""
        patch = OptionsPatch(**options)
        return await self._sit(ask.Create(id=self._next_id(), game=game, options=patch, seed=seed))

    async def join(self, code: str) -> Race:
        """Take a seat by code, or come back to the one held. Raise Refused."""
        return await self._sit(ask.Join(id=self._next_id(), code=code))

    async def resume(self, race_id: str) -> Race:
        """Come back to a seat of this account. Raise Refused."""
        return await self._sit(ask.Resume(id=self._next_id(), race=race_id))

    async def daily(self, game: str | None = None, *, day: int | None = None) -> say.Daily:
        """A day of the daily challenge, today if none is named. Raise Refused."""
        return await show_day(self._exchange, game, day)

    async def play_daily(
        self, game: str, *, day: int | None = None, practice: bool = False
    ) -> Race:
        """Begin the own run at a day's deal, or come back to it. Raise Refused."""
        return await play_day(self._exchange, game, day, practice=practice)

    async def replay(self, race: str) -> str:
        """The replay file of a closed race, by its id or its room's code. Raise Refused."""
        return await fetch(self._exchange, race)

    async def ping(self) -> float:
        """Measure the link: seconds until the server's answer. Raise Unanswered.

        What a connection took to be made again is not part of it: the new one is measured.
        """
        loop = asyncio.get_running_loop()
        while True:
            start_s = loop.time()
            await self._exchange.request(ask.Ping(id=self._next_id()), say.Pong)
            if self._exchange.up_since_s <= start_s:
                return loop.time() - start_s

    async def live(self, *, limit: int = 20) -> tuple[LiveRace, ...]:
        """The races that run and may be watched, the latest first. Raise Refused."""
        return await list_live(self._exchange, limit)

    def lobby(self, game: str | None = None) -> AsyncGenerator[tuple[LobbyRoom, ...]]:
        """The rooms that anybody may join, and again whenever they change. Raise Refused.

        `async for rooms in client.lobby()`: each is the newest list; a slow reader skips some.
        """
        return lobby(self._exchange, game)

    def match(self, game: str) -> QuickMatch:
        """Look for an opponent of about the same strength; its events tell how that stands."""
        return QuickMatch(self._exchange, game)

    def watch(self, race: str) -> AsyncGenerator[Sight]:
        """See a race, by its code or id, until it is closed; the last sight has seed and order.

        `async for sight in client.watch(code)`: each is the newest, so who reads slowly skips
        some. A lost connection is made again, and told by a sight. Raise Refused if the race may
        not be watched, or not any longer.
        """
        return watch(self._exchange, race)

    def _next_id(self) -> int:
        return self._exchange.next_id()

    def _new_race(self, seated: say.Seated) -> Race:
        """Make the race of a new seat, and let go of those that are over for good."""
        self._exchange.rest()
        seats = self._exchange.seats
        for race_id, race in list(seats.items()):
            if race.code == seated.race.code and race.view.phase is Phase.CLOSED:
                del seats[race_id]
                race.end(ConnectionLost("the room has gone on to its next race"))
        return Race(self._exchange, seated)

    async def _sit(self, message: ask.Create | ask.Join | ask.Resume) -> Race:
        seated = await self._exchange.request(message, say.Seated)
        return self._exchange.seats[seated.race.id]
