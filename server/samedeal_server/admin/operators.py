"""What operators do: each deed by a stable id, written down before it is done, and reversible."""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from samedeal.protocol import days
from samedeal_server.almanac import Calendar
from samedeal_server.bans import Bans, ban_sentence
from samedeal_server.boards import Boards
from samedeal_server.crowd import Crowd
from samedeal_server.errors import Refusal, ServerError
from samedeal_server.names import skeleton
from samedeal_server.people import People
from samedeal_server.ratings import Ratings
from samedeal_server.store.accounts import FOREVER, AccountStore, Ban, Profile
from samedeal_server.store.audit import AuditStore, Deed, Flag
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.links import LinkStore
from samedeal_server.store.news import Announced, News, NewsStore
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import RatingStore
from samedeal_server.store.traces import TraceStore
from samedeal_server.streaks import Streaks
from samedeal_server.traces import Traces

__all__ = ["CannotDo", "Operators"]


class CannotDo(ServerError):
    """An operator asked for what cannot be done; the text says why."""


class Operators:
    """One operator at work on a store. Servers on it see the changes within a second."""

    def __init__(self, redis: Redis, who: str, calendar: Calendar | None = None) -> None:
        self._who = who
        self._races = RaceStore(redis, "admin")
        self._days = DayStore(redis)
        self._boards = Boards(BoardStore(redis), self._races, self._days)
        self._calendar = Calendar() if calendar is None else calendar
        self._streaks = Streaks(self._days, self._boards.store, self._calendar)
        self._ratings = Ratings(RatingStore(redis), self._races, self._boards.store)
        self._accounts = AccountStore(redis)
        self._audit = AuditStore(redis)
        self._news = NewsStore(redis)
        self._bans = Bans(self._accounts, self._audit, self._boards, self._ratings, self._news)
        traces = Traces(TraceStore(redis), self._races, self._days, self._boards, self._ratings)
        self._people = People(
            self._accounts, LinkStore(redis), self._news, traces, self._bans, Crowd(self._news)
        )

    # Accounts

    async def player(self, which: str) -> Profile:
        """The account of an id, or that has a name. Raise CannotDo if there is none."""
        profile = await self._accounts.profile(which)
        if profile is None and (owner := await self._accounts.names.owner(skeleton(which))):
            profile = await self._accounts.profile(owner)
        if profile is None:
            raise CannotDo(f"there is no account {which}")
        return profile

    async def ban(self, player: str, for_ms: int | None, why: str) -> str:
        """Ban an account, for a time or for good. Return what it is told."""
        await self._known(player)
        until_ms = FOREVER if for_ms is None else await self._accounts.now_ms() + for_ms
        ban = Ban(until_ms, why)
        await self._note("ban", player, why, ban_sentence(ban))
        await self._bans.ban(player, ban)
        return ban_sentence(ban)

    async def unban(self, player: str, why: str) -> None:
        """Lift a ban: the account is back on every board."""
        profile = await self._known(player)
        if profile.account.ban is None:
            raise CannotDo(f"the account {player} is not banned")
        await self._note("unban", player, why, ban_sentence(profile.account.ban))
        await self._bans.lift(player)

    async def rename(self, player: str, name: str, why: str) -> None:
        """Give an account another name."""
        profile = await self._known(player)
        async with self._doing("rename", player, why, f"was {profile.account.name}"):
            try:
                await self._people.rename(player, name)
            except Refusal as refusal:
                raise CannotDo(refusal.sentence) from None

    # Results

    async def remove(self, run: str, why: str, *, restore: bool = False) -> None:
        """Take a run off every board and its race out of the ratings, or put them back."""
        change = self._boards.restore if restore else self._boards.remove
        async with self._doing("restore" if restore else "remove", run, why):
            if not await change(run):
                raise CannotDo(f"there is no run {run} that counts for anything")
            await self._ratings.leave_out(run, out=not restore)
        await self._recount(run[:16])

    async def void(self, race: str, why: str, *, unvoid: bool = False) -> None:
        """Take all runs of a race off the boards and out of the ratings, or put them back."""
        change = self._boards.unvoid if unvoid else self._boards.void
        async with self._doing("unvoid" if unvoid else "void", race, why):
            counts = await change(race)
            is_rated = await self._ratings.leave_out(race, out=not unvoid)
            if not (counts or is_rated):
                raise CannotDo(f"there is no race {race} that is over and counts for anything")
        await self._recount(race)

    async def void_day(
        self, day: int, games: Sequence[str], why: str, *, unvoid: bool = False
    ) -> None:
        """Take the deals of a day out of streaks and seasons, or put them back."""
        today = self._calendar.day_at(await self._days.now_ms())
        if day > today + days.AHEAD and not unvoid:
            raise CannotDo(f"day {day} has no deal yet; today is day {today}")
        date = days.date_of(day).isoformat()
        for game in games:
            await self._note("unvoid-day" if unvoid else "void-day", f"{day}:{game}", why, date)
            await (self._days.unvoid if unvoid else self._days.void)(day, game)
            await self._streaks.recount(game)
            await self._boards.store.day_is_due(game, date, 0)

    async def rebuild(self, games: Sequence[str], why: str) -> dict[str, int]:
        """Make boards, ratings and streaks anew. Return how many results each game has."""
        counts = {}
        for game in games:
            await self._note("rebuild", game, why)
        for player in await self._audit.banned():
            await self._boards.hide(player)
        for game in games:
            counts[game] = await self._boards.rebuild(game)
            await self._ratings.rebuild(game)
            if game in days.DAILY_GAMES:
                await self._streaks.recount(game)
        return counts

    async def _recount(self, race: str) -> None:
        """Work out anew the streaks that a race's runs may count for."""
        state = await self._races.load(race)
        if state is not None:
            games = [state.game] if state.day is not None else []
        else:
            games = list(days.DAILY_GAMES)
        for game in games:
            await self._streaks.recount(game)

    # Words

    async def announce(self, text: str, for_ms: int, why: str) -> str:
        """Say something to all who are connected, and to who comes later. Return its id."""
        now_ms = await self._accounts.now_ms()
        said = Announced(f"{now_ms:013d}-{secrets.token_hex(2)}", now_ms + for_ms, text)
        await self._note("announce", said.id, why, text)
        await self._news.announce(said, for_ms)
        await self._news.post(News("announced"))
        return said.id

    async def unsay(self, which: str, why: str) -> None:
        """Say it no more."""
        async with self._doing("unsay", which, why):
            if not await self._news.unsay(which):
                raise CannotDo(f"there is no announcement {which}")
        await self._news.post(News("announced"))

    async def announced(self) -> list[Announced]:
        """What is being said."""
        return (await self._news.announced())[1]

    # To read

    async def flags(self) -> list[Flag]:
        """Runs that a person can hardly have played."""
        return await self._audit.flags()

    async def log(self, limit: int) -> list[Deed]:
        """What operators did, the latest first."""
        return await self._audit.deeds(limit)

    async def _known(self, player: str) -> Profile:
        profile = await self._accounts.profile(player)
        if profile is None:
            sentence = f"there is no account {player}; samedeal-admin player NAME finds ids"
            raise CannotDo(sentence)
        return profile

    @asynccontextmanager
    async def _doing(self, did: str, what: str, why: str, detail: str = "") -> AsyncIterator[None]:
        """Write a deed down, then let it be done; and that it could not be, if so."""
        await self._note(did, what, why, detail)
        try:
            yield
        except CannotDo as error:
            await self._note(f"{did} failed", what, why, str(error))
            raise

    async def _note(self, did: str, what: str, why: str, detail: str = "") -> None:
        await self._audit.note(Deed(self._who, did, what, why, detail))
