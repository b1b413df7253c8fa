"""Guest accounts: a name and a token, of which only the hash is stored."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["Account", "AccountStore", "new_id"]

LIFETIME_MS = 400 * 24 * 3600 * 1000
"""An account nobody uses for so long is forgotten."""

_ACCOUNT = Script("account")
_ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Account:
    """Who plays."""

    player: str
    name: str
    bot: bool


def new_id() -> str:
    """Return a fresh id of 16 letters and digits, 82 random bits."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(16))


@translates_faults
class AccountStore:
    """Make and recognise accounts."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def create(self, name: str, *, bot: bool) -> tuple[Account, str]:
        """Make a guest. Return it with its token, which is not kept anywhere here."""
        account, secret = Account(new_id(), name, bot), secrets.token_hex(32)
        key = keys.account(account.player)
        fields: list[str | int] = ["name", name, "bot", int(bot), "token_hash", _digest(secret)]
        await run(self._redis, _ACCOUNT, [key], [LIFETIME_MS, *fields])
        return account, f"{account.player}.{secret}"

    async def recognise(self, token: str) -> Account | None:
        """Return the account of a token, or None; seen accounts live on."""
        player, _, secret = token.partition(".")
        key = keys.account(player)
        fields: Any = await self._redis.hgetall(key)
        if not fields or not hmac.compare_digest(fields["token_hash"], _digest(secret)):
            return None
        await self._redis.pexpire(key, LIFETIME_MS)
        return Account(player, fields["name"], fields["bot"] == "1")


def _digest(secret: str) -> str:
    # The secret has 256 random bits, so one round of a plain hash cannot be searched.
    return hashlib.sha256(secret.encode()).hexdigest()
