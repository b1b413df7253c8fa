"""The queue of quick match in the store: entries with leases, pairs of two who have to accept.

An entry lives while its node answers for it, by ticks; one whose node died is out of the queue
within LEASE_MS. A pair becomes a race only when both have accepted, and by then both are there.
Who lost the connection keeps place and opponent for as long, and is matched with nobody new. Bots
wait for people who ask for one, and are never paired with anybody by themselves.
"""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.accounts import Account, new_id
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["ACCEPT_MS", "BOT_AFTER_MS", "Claim", "MatchQueue", "Standing", "new_ticket"]

LEASE_MS = 3000
"""A few ticks."""
ACCEPT_MS = 12_000
BOT_AFTER_MS = 20_000
WINDOW, WIDENS = 150, 25
"""How far apart two ratings may be, and by how much more after each second of waiting."""
_KEEP_MS = 60_000
_NEW_PAIRS = 16
"""Pairs that one tick makes at most; the next one is soon."""

_MATCH = Script("match")


class Standing(NamedTuple):
    """How one who waits stands: waiting, found, accepted, made, gone or replaced."""

    player: str
    ticket: str
    state: str
    pair: str
    left_ms: int
    waited_ms: int


class Claim(NamedTuple):
    """A pair that has agreed, and whose race this node has to make now; its id is the pair's."""

    pair: str
    game: str
    sides: tuple[tuple[str, str], tuple[str, str]]
    """Player and name of each."""
    with_bot: bool
    """Whether the second is a bot, which the first has asked for."""


def new_ticket() -> str:
    """Return what tells one wish to be matched from the next one of the same player."""
    return secrets.token_hex(6)


@translates_faults
class MatchQueue:
    """Every step one atomic script, in one slot, and repeatable."""

    def __init__(
        self, redis: Redis, node: str, *, accept_ms: int = ACCEPT_MS, bot_ms: int = BOT_AFTER_MS
    ) -> None:
        self._redis = redis
        self._node = node
        self._accept_ms = accept_ms
        self.bot_ms = bot_ms
        """How long one has to wait before a bot is offered."""

    async def join(self, account: Account, ticket: str, game: str, rating: str) -> None:
        """Wait for an opponent; on another connection it is the same place in the line."""
        args = (account.player, ticket, self._node, game, rating.rstrip("?"), account.name)
        await self._run("join", *args, int(account.bot))

    async def leave(self, player: str, ticket: str) -> None:
        """Leave; an opponent who was offered waits on, first in line."""
        await self._run("leave", player, ticket)

    async def away(self, player: str, ticket: str) -> None:
        """The connection was lost: keep place and opponent for who comes back in time."""
        await self._run("away", player, ticket)

    async def answer(self, player: str, ticket: str, pair: str, *, accept: bool) -> str:
        """Accept or decline. Return 'done', 'gone', or 'agreed': too late to decline."""
        word: str = await self._run("answer", player, ticket, pair, int(accept))
        return word

    async def take_bot(self, player: str, ticket: str) -> tuple[str, Claim | None]:
        """Take a bot that waits, whose race has to be made then, or leave for another one.

        Return 'done', 'gone', 'paired' (there is an opponent) or 'early'.
        """
        word, *claim = await self._run("bot", player, ticket, self.bot_ms, new_id())
        return word, _claim(claim[0]) if claim else None

    async def made(self, pair: str) -> None:
        """The race of a pair is there."""
        await self._run("made", pair)

    async def tick(
        self, waiting: Sequence[tuple[str, str]]
    ) -> tuple[list[Standing], tuple[Claim, ...]]:
        """Answer for those who wait on this node, and move the whole queue on."""
        ids = [new_id() for _ in range(_NEW_PAIRS)]
        flat = [part for each in waiting for part in each]
        rows, claims = await self._run("tick", len(ids), *ids, *flat)
        return (
            [Standing(r[0], r[1], r[2], r[3], int(r[4]), int(r[5])) for r in rows],
            tuple(map(_claim, claims)),
        )

    async def _run(self, *args: str | int) -> Any:
        settings = (LEASE_MS, self._accept_ms, WINDOW, WIDENS, _KEEP_MS)
        return await run(self._redis, _MATCH, keys.match(), [*settings, *args])


def _claim(parts: Sequence[str]) -> Claim:
    pair, game, bot, *sides = parts
    return Claim(pair, game, ((sides[0], sides[1]), (sides[2], sides[3])), bot == "1")
