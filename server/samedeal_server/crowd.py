"""Who is connected to this node: told, renamed or shown out when the store's news say so."""

import asyncio
from dataclasses import replace
from typing import Protocol

from samedeal.protocol.codec import encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.people_messages import Announcement, Dismissed
from samedeal_server.errors import Refusal
from samedeal_server.store.accounts import Account
from samedeal_server.store.news import Announced, News, NewsStore
from samedeal_server.wire import POLICY

__all__ = ["NEWS_S", "Crowd", "Guest"]

NEWS_S = 0.5
"""How often each node reads the news: who is dismissed is gone so soon everywhere."""
_REMEMBERED_S = 60.0
"""A hello that takes longer than this to be answered has long been given up."""


class Way(Protocol):
    """The way out to one client."""

    def send(self, frame: bytes) -> None:
        """Write a frame now."""

    def close(self, code: int, reason: str) -> None:
        """Close the connection soon."""


class Guest(Protocol):
    """A connection that has said hello."""

    id: str
    account: Account | None

    @property
    def outbox(self) -> Way:
        """Where its frames go."""


class Crowd:
    """The connections of this node by account, and what all of them have to hear."""

    def __init__(self, news: NewsStore) -> None:
        self._news = news
        self._place = "0-0"
        self._guests: dict[str, list[Guest]] = {}
        self._dismissed: dict[str, tuple[float, str]] = {}
        self._announced: list[Announced] = []
        self._shown: set[str] = set()
        self._now = asyncio.get_running_loop().time

    async def open(self) -> None:
        """Begin to follow the news; to be done before the first connection comes."""
        self._place = await self._news.place()
        await self._hear()

    def enter(self, guest: Guest, account: Account, since_s: float) -> None:
        """Take a connection in. Raise Refusal if it was dismissed since it began its hello."""
        player = account.player
        at_s, sentence = self._dismissed.get(player, (0.0, ""))
        if sentence and at_s >= since_s:
            raise Refusal(ErrorCode.BAD_TOKEN, sentence)
        self._guests.setdefault(player, []).append(guest)

    def greet(self, guest: Guest) -> None:
        """Say to a connection what is announced to everybody."""
        for announced in self._announced:
            guest.outbox.send(encode(Announcement(sentence=announced.text)))

    def leave(self, guest: Guest) -> None:
        """Forget a connection."""
        if guest.account is None:
            return
        guests = self._guests.get(guest.account.player, [])
        if guest in guests:
            guests.remove(guest)
        if not guests:
            self._guests.pop(guest.account.player, None)

    async def look(self) -> None:
        """Read the news, and do what they say."""
        now_s = self._now()
        self._place, news = await self._news.after(self._place)
        for one in news:
            self._take(one)
        self._dismissed = {
            player: known
            for player, known in self._dismissed.items()
            if known[0] > now_s - _REMEMBERED_S
        }
        if self._announced or any(one.kind == "announced" for one in news):
            await self._hear()

    def _take(self, news: News) -> None:
        guests = self._guests.get(news.player, [])
        match news.kind:
            case "dismiss":
                if not news.but:
                    self._dismissed[news.player] = self._now(), news.text
                for guest in list(guests):
                    if guest.id != news.but:
                        guest.outbox.send(encode(Dismissed(sentence=news.text)))
                        guest.outbox.close(POLICY, "this account or token is no longer good")
            case "renamed":
                for guest in guests:
                    if guest.account is not None:
                        guest.account = replace(guest.account, name=news.text)
            case _:
                pass

    async def _hear(self) -> None:
        """Take over what is announced now, and say what is new to all who are here."""
        _, self._announced = await self._news.announced()
        for announced in self._announced:
            if announced.id not in self._shown:
                frame = encode(Announcement(sentence=announced.text))
                for guests in list(self._guests.values()):
                    for guest in guests:
                        guest.outbox.send(frame)
        self._shown = {announced.id for announced in self._announced}
