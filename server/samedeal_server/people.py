"""What players may ask about their accounts: name, tokens, devices, all that is stored, the end."""

import json
import random
import secrets
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from samedeal.protocol import client_messages as ask
from samedeal.protocol import limits
from samedeal.protocol import people_messages as wire
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal_server import names
from samedeal_server.bans import Bans, ban_sentence
from samedeal_server.crowd import Crowd, Guest
from samedeal_server.errors import NameTaken, Refusal
from samedeal_server.store.accounts import Account, AccountStore
from samedeal_server.store.links import LinkStore
from samedeal_server.store.news import News, NewsStore
from samedeal_server.traces import Traces

__all__ = ["Asked", "People"]

MAX_DEVICES = 10
LINK_MS = 600_000
MAX_LINKS, LINKS_MS = 10, 3_600_000
"""Link codes of an account in an hour."""

Asked = wire.AccountGet | wire.Rename | wire.Rotate | wire.LinkMake | wire.Export | wire.Delete


class People:
    """The requests of players about themselves, done in the store and told to every node."""

    def __init__(
        self,
        accounts: AccountStore,
        links: LinkStore,
        news: NewsStore,
        traces: Traces,
        bans: Bans,
        crowd: Crowd,
    ) -> None:
        self.crowd = crowd
        self.bans = bans
        self.accounts = accounts
        self._links = links
        self._news = news
        self._traces = traces

    # Hello

    async def recognise(self, token: str) -> Account | None:
        """Return the account of a token, if there is one. Raise Refusal if it is banned."""
        account = await self.accounts.recognise(token)
        return None if account is None else _unbanned(account)

    async def introduce(self, message: ask.Hello) -> tuple[Account, str]:
        """Make an account for a guest, or let a device in. Return it with the new token.

        Raise Refusal for a wrong token, code or name.
        """
        if message.token is not None:
            raise Refusal(ErrorCode.BAD_TOKEN, "this server does not know that token")
        if message.link is not None:
            return await self._use(message.link, message.secret or secrets.token_hex(32))
        if message.name is None:
            raise Refusal(ErrorCode.BAD_FRAME, "hello needs a token, or a name for a guest")
        name = names.checked(message.name)
        wishes = [name, *names.like(name, random.SystemRandom())]
        for wish in wishes if message.or_like else [name]:
            with suppress(NameTaken):
                return await self.accounts.create(wish, bot=message.bot)
        raise await self.taken(name)

    async def _use(self, code: str, secret: str) -> tuple[Account, str]:
        who = secret[:16]
        player = await self._links.use(code, who)
        word = "gone"
        if player:
            word = await self.accounts.add_device(player, secret, MAX_DEVICES)
        if word == "many":
            await self._links.give_back(code, who)
            raise _too_many()
        account = await self.accounts.recognise(f"{player}.{secret}")
        if account is None:
            sentence = "that link code leads nowhere: it works once and for 10 minutes"
            raise Refusal(ErrorCode.NOT_FOUND, sentence)
        return _unbanned(account), f"{player}.{secret}"

    async def taken(self, name: str) -> Refusal:
        """A refusal of a name that somebody has; it offers a free one."""
        sentence = f"the name {name} is taken, or reads like one that is"
        for other in names.like(name, random.SystemRandom()):
            if await self.accounts.names.is_free(names.skeleton(other)):
                sentence += f"; {other} is free"
                break
        return Refusal(ErrorCode.NAME_TAKEN, sentence)

    # Requests

    async def answer(self, guest: Guest, message: Asked) -> say.ServerMessage:
        """Do what is asked, and return the answer. Raise Refusal."""
        account = guest.account
        assert account is not None
        match message:
            case wire.AccountGet():
                return await self._view(account, message.id)
            case wire.Rename():
                await self.rename(account.player, message.name)
                return await self._view(account, message.id)
            case wire.Rotate():
                await self._rotate(guest, message.secret)
            case wire.LinkMake():
                return await self._link(account, message)
            case wire.Export():
                text = json.dumps(await self._export(account, message.race), ensure_ascii=False)
                return wire.ExportPart(id=message.id, text=text)
            case wire.Delete():
                await self._traces.begin(account.player)
                await self.erase(account.player, but=guest.id)
        return say.Done(id=message.id)

    async def rename(self, player: str, text: str) -> None:
        """Give an account another name, on every board at once. Raise Refusal."""
        name = names.checked(text)
        try:
            is_done = await self.accounts.rename(player, name)
        except NameTaken:
            raise await self.taken(name) from None
        if not is_done:
            raise _gone()
        profile = await self.accounts.profile(player)
        if profile is None:
            raise _gone()
        await self._traces.renamed(player, name, bot=profile.account.bot)
        await self._news.post(News("renamed", player, name))

    async def _view(self, account: Account, request: int) -> wire.AccountView:
        profile = await self.accounts.profile(account.player)
        if profile is None:
            raise _gone()
        return wire.AccountView(
            id=request,
            player=account.player,
            name=profile.account.name,
            bot=profile.account.bot,
            since_ms=profile.since_ms,
            devices=profile.devices,
        )

    async def _rotate(self, guest: Guest, secret: str) -> None:
        assert guest.account is not None
        player = guest.account.player
        if not await self.accounts.rotate(player, secret):
            raise _gone()
        await self._links.drop(player)
        sentence = "the token of this account was replaced on another device"
        await self._news.post(News("dismiss", player, sentence, but=guest.id))

    async def _link(self, account: Account, message: wire.LinkMake) -> wire.LinkMade:
        profile = await self.accounts.profile(account.player)
        if profile is not None and profile.devices >= MAX_DEVICES:
            raise _too_many()
        code = "".join(secrets.choice(limits.CODE_ALPHABET) for _ in range(limits.LINK_LETTERS))
        early_ms = await self._links.note(account.player, code, MAX_LINKS, LINKS_MS)
        if early_ms:
            minutes = -(-early_ms // 60_000)
            sentence = f"{MAX_LINKS} link codes in an hour are enough; the next in {minutes} min"
            raise Refusal(ErrorCode.TOO_MANY, sentence)
        await self._links.put(code, account.player, LINK_MS)
        return wire.LinkMade(id=message.id, code=code, lasts_ms=LINK_MS)

    async def _export(self, account: Account, race_id: str | None) -> dict[str, Any]:
        if race_id is not None:
            found = await self._traces.of_race(account.player, race_id)
            if found is None:
                raise Refusal(ErrorCode.NOT_FOUND, "you have no run in such a race")
            return found
        profile = await self.accounts.profile(account.player)
        if profile is None:
            raise _gone()
        return {
            "account": {
                "player": account.player,
                "name": profile.account.name,
                "bot": profile.account.bot,
                "since_ms": profile.since_ms,
                "devices": profile.devices,
            },
            "flags": [asdict(flag) for flag in await self.bans.flags_of(account.player)],
            **await self._traces.of(account.player),
        }

    # The end

    async def erase(self, player: str, *, but: str = "") -> None:
        """Forget an account and all that bears its name. Whatever stops it, it goes on later.

        All its connections are shown out `but` one, which is to get its answer first.
        """
        await self.accounts.remove(player)
        await self.show_out(player, but=but)
        await self._links.drop(player)
        await self._traces.erase(player)
        await self.bans.forget(player)

    async def show_out(self, player: str, *, but: str = "") -> None:
        """Close the connections of a deleted account on every node."""
        await self._news.post(News("dismiss", player, "this account was deleted", but=but))

    async def sweep(self) -> None:
        """Lift bans that are over, and finish deletions.

        Who was deleted is erased once more, some seconds later: a race may have begun meanwhile.
        """
        await self.bans.sweep()
        for player in await self._traces.unfinished():
            await self.erase(player)
            await self._traces.done(player)


def _unbanned(account: Account) -> Account:
    if account.ban is not None:
        raise Refusal(ErrorCode.BANNED, ban_sentence(account.ban))
    return account


def _too_many() -> Refusal:
    return Refusal(
        ErrorCode.TOO_MANY,
        f"the account has {MAX_DEVICES} devices; rotating its token on one of them signs the "
        "others out",
    )


def _gone() -> Refusal:
    return Refusal(ErrorCode.NOT_FOUND, "there is no such account any more")
