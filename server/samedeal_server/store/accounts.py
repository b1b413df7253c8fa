"""Guest accounts: a name that is nobody else's, and a token of which only the hash is stored."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.errors import NameTaken
from samedeal_server.names import skeleton
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.names import NameStore
from samedeal_server.store.scripts import Script, run

__all__ = ["HOUSE_BOT", "Account", "AccountStore", "new_id"]

LIFETIME_MS = 400 * 24 * 3600 * 1000
"""An account nobody uses for so long is forgotten."""
_FRESH_MS = 24 * 3600 * 1000
"""An account that was used within so long needs no longer life yet."""

_ACCOUNT = Script("account")
_SEEN = Script("seen")
_ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Account:
    """Who plays."""

    player: str
    name: str
    bot: bool


HOUSE_BOT = Account("00000000housebot", "housebot", bot=True)
"""The server's own bot. It needs no account in the store: no token leads to it."""


def new_id() -> str:
    """Return a fresh id of 16 letters and digits, 82 random bits."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(16))


@translates_faults
class AccountStore:
    """Make and recognise accounts."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.names = NameStore(redis)

    async def create(self, name: str, *, bot: bool) -> tuple[Account, str]:
        """Make a guest. Raise NameTaken if somebody has the name.

        Return it with its token, which is not kept anywhere here.
        """
        account, secret = Account(new_id(), name, bot), secrets.token_hex(32)
        key, reads_as = keys.account(account.player), skeleton(name)
        if not await self.names.claim(reads_as, account.player):
            raise NameTaken(name)
        fields: list[str | int] = ["name", name, "skeleton", reads_as]
        fields += ["bot", int(bot), "token_hash", _digest(secret)]
        await run(self._redis, _ACCOUNT, [key], [LIFETIME_MS, *fields])
        if not await self.names.settle(reads_as, account.player, LIFETIME_MS):
            # This took longer than a claim lasts.
            await self._redis.delete(key)
            raise NameTaken(name)
        return account, f"{account.player}.{secret}"

    async def recognise(self, token: str) -> Account | None:
        """Return the account of a token, or None; seen accounts and their names live on."""
        player, _, secret = token.partition(".")
        key = keys.account(player)
        reply: Any = await run(self._redis, _SEEN, [key], [])
        _, left_ms, flat = reply
        fields = dict(zip(flat[::2], flat[1::2], strict=True))
        if not fields or not hmac.compare_digest(fields["token_hash"], _digest(secret)):
            return None
        if left_ms < LIFETIME_MS - _FRESH_MS or "skeleton" not in fields:
            await self._redis.pexpire(key, LIFETIME_MS)
            await self._keep_name(player, fields)
        return Account(player, fields["name"], fields["bot"] == "1")

    async def _keep_name(self, player: str, fields: dict[str, str]) -> None:
        reads_as = fields.get("skeleton", skeleton(fields["name"]))
        if not reads_as:
            return
        is_held = await self.names.settle(reads_as, player, LIFETIME_MS)
        if "skeleton" not in fields:
            # From before names were one account's alone. Where two have it they keep it both.
            kept = reads_as if is_held else ""
            await self._redis.hset(keys.account(player), "skeleton", kept)


def _digest(secret: str) -> str:
    # The secret has 256 random bits, so one round of a plain hash cannot be searched.
    return hashlib.sha256(secret.encode()).hexdigest()
