"""Bans: who may not play, off every board and out of the ratings until the ban is over."""

import datetime

from samedeal_server.boards import Boards
from samedeal_server.ratings import Ratings
from samedeal_server.store.accounts import FOREVER, AccountStore, Ban
from samedeal_server.store.audit import AuditStore, Deed, Flag
from samedeal_server.store.news import News, NewsStore

__all__ = ["Bans", "ban_sentence"]

_CLOCK = "the clock"


class Bans:
    """Ban accounts and lift bans; one that is over lifts itself. Each step may be repeated."""

    def __init__(
        self,
        accounts: AccountStore,
        audit: AuditStore,
        boards: Boards,
        ratings: Ratings,
        news: NewsStore,
    ) -> None:
        self._accounts = accounts
        self._audit = audit
        self._boards = boards
        self._ratings = ratings
        self._news = news

    async def ban(self, player: str, ban: Ban) -> bool:
        """Ban an account. Return whether there is one."""
        if not await self._accounts.ban(player, ban):
            return False
        await self._audit.ban_ends(player, ban.until_ms)
        await self._news.post(News("dismiss", player, ban_sentence(ban)))
        await self._boards.hide(player)
        await self._ratings.leave_out_player(player, out=True)
        return True

    async def lift(self, player: str) -> bool:
        """Lift a ban. Return whether there is such an account."""
        is_there = await self._back(player)
        await self._audit.ban_ended(player)
        return is_there

    async def sweep(self) -> None:
        """Lift the bans whose time is over. Of several nodes that do so one writes it down."""
        for player in await self._audit.bans_over(await self._accounts.now_ms()):
            await self._back(player)
            if await self._audit.ban_ended(player):
                await self._audit.note(Deed(_CLOCK, "unban", player, "the time of the ban is over"))

    async def _back(self, player: str) -> bool:
        """Let an account play and rank again. Return whether there is one."""
        is_there = await self._accounts.ban(player, None)
        if is_there:
            await self._boards.show(player)
            await self._ratings.leave_out_player(player, out=False)
        return is_there

    async def flags_of(self, player: str) -> list[Flag]:
        """What operators are shown of an account's runs."""
        return await self._audit.flags_of(player)

    async def forget(self, player: str) -> None:
        """An account is deleted: there is nobody to unban, and nobody's run to look at."""
        await self._audit.ban_ended(player)
        await self._audit.forget_flags(player)


def ban_sentence(ban: Ban) -> str:
    """Say that an account is banned, until when, and why."""
    until = "for good"
    if ban.until_ms != FOREVER:
        end = datetime.datetime.fromtimestamp(-(-ban.until_ms // 1000), datetime.UTC)
        until = end.strftime("until %Y-%m-%d %H:%M:%S UTC")
    return f"this account is banned {until}: {ban.why or 'no reason was given'}"
