"""Guest accounts: a name that is nobody else's, and tokens of which only hashes are stored."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.errors import NameTaken
from samedeal_server.names import skeleton
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.names import NameStore
from samedeal_server.store.scripts import Script, run

__all__ = ["FOREVER", "HOUSE_BOT", "Account", "AccountStore", "Ban", "Profile", "new_id"]

LIFETIME_MS = 400 * 24 * 3600 * 1000
"""An account nobody uses for so long is forgotten."""
FOREVER = 0
"""As the end of a ban: it has none."""
_FRESH_MS = 24 * 3600 * 1000
"""An account that was used within so long needs no longer life yet."""

_ACCOUNT = Script("account")
_SEEN = Script("seen")
_CHANGE = Script("change")
_ROTATE = Script("rotate")
_DEVICE = Script("device")
_ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Ban:
    """Why an account may not play, and until when, in milliseconds since 1970, or FOREVER."""

    until_ms: int
    why: str


@dataclass(frozen=True, slots=True)
class Account:
    """Who plays."""

    player: str
    name: str
    bot: bool
    ban: Ban | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What is stored of an account itself, but for its tokens."""

    account: Account
    since_ms: int
    """When it was made; 0 if it is from before that was written down."""
    devices: int
    """How many tokens it has."""


HOUSE_BOT = Account("00000000housebot", "housebot", bot=True)
"""The server's own bot. It needs no account in the store: no token leads to it."""


def new_id() -> str:
    """Return a fresh id of 16 letters and digits, 82 random bits."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(16))


@translates_faults
class AccountStore:
    """Make, recognise and change accounts. Every change may be repeated."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.names = NameStore(redis)

    async def create(self, name: str, *, bot: bool) -> tuple[Account, str]:
        """Make a guest. Raise NameTaken if somebody has the name.

        Return it with its token, which is not kept anywhere here.
        """
        account, secret = Account(new_id(), name, bot), secrets.token_hex(32)
        key, reads_as = keys.account(account.player), skeleton(name)
        if reads_as == _HOUSE_BOT or not await self.names.claim(reads_as, account.player):
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
        now_ms, left_ms, fields = await self._read(player)
        if not fields or not _fits(fields, secret):
            return None
        if left_ms < LIFETIME_MS - _FRESH_MS or "skeleton" not in fields:
            await self._redis.pexpire(keys.account(player), LIFETIME_MS)
            await self._keep_name(player, fields)
        return _account(player, fields, now_ms)

    async def profile(self, player: str) -> Profile | None:
        """What is stored of an account, or None if there is none."""
        now_ms, _, fields = await self._read(player)
        if not fields:
            return None
        devices = 1 + sum(field.startswith("device:") for field in fields)
        return Profile(_account(player, fields, now_ms), int(fields.get("made", 0)), devices)

    async def rename(self, player: str, name: str) -> bool:
        """Give an account another name. Raise NameTaken; False if there is no such account."""
        reads_as = skeleton(name)
        _, _, fields = await self._read(player)
        if not fields:
            return False
        if reads_as == _HOUSE_BOT or not await self.names.claim(reads_as, player):
            raise NameTaken(name)
        if not await self._change(player, "name", name, "skeleton", reads_as):
            await self.names.release(reads_as, player)
            return False
        await self.names.settle(reads_as, player, LIFETIME_MS)
        old = fields.get("skeleton", skeleton(fields["name"]))
        if old != reads_as:
            await self.names.release(old, player)
        return True

    async def rotate(self, player: str, secret: str) -> bool:
        """Have one token only. Return whether there is such an account."""
        return bool(await run(self._redis, _ROTATE, [keys.account(player)], [_digest(secret)]))

    async def add_device(self, player: str, secret: str, most: int) -> str:
        """Take one more token. Return 'done', 'gone' or 'many'."""
        args: list[str | int] = [_digest(secret), most]
        word: str = await run(self._redis, _DEVICE, [keys.account(player)], args)
        return word

    async def ban(self, player: str, ban: Ban | None) -> bool:
        """Ban an account, or lift its ban. Return whether there is such an account."""
        until, why = ("", "") if ban is None else (str(ban.until_ms), ban.why)
        return await self._change(player, "ban_until", until, "ban_why", why)

    async def banned(self, players: Sequence[str]) -> set[str]:
        """Return those of some accounts that are banned now."""
        if not players:
            return set()
        pipe = self._redis.pipeline(transaction=False)
        for player in players:
            pipe.hget(keys.account(player), "ban_until")
        found: Any = await pipe.execute()
        times = {p: int(until) for p, until in zip(players, found, strict=True) if until}
        if not times:
            return set()
        now_ms = await self.now_ms()
        return {player for player, until in times.items() if not until or until > now_ms}

    async def remove(self, player: str) -> None:
        """Forget an account and give its name back."""
        _, _, fields = await self._read(player)
        if fields:
            await self.names.release(fields.get("skeleton", skeleton(fields["name"])), player)
        await self._redis.delete(keys.account(player))

    async def now_ms(self) -> int:
        """The store's clock."""
        seconds, micros = await self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def _read(self, player: str) -> tuple[int, int, dict[str, str]]:
        reply: Any = await run(self._redis, _SEEN, [keys.account(player)], [])
        now_ms, left_ms, flat = reply
        return int(now_ms), int(left_ms), dict(zip(flat[::2], flat[1::2], strict=True))

    async def _change(self, player: str, *fields: str) -> bool:
        return bool(await run(self._redis, _CHANGE, [keys.account(player)], fields))

    async def _keep_name(self, player: str, fields: dict[str, str]) -> None:
        reads_as = fields.get("skeleton", skeleton(fields["name"]))
        if reads_as == _NOBODY_S:
            return
        is_held = await self.names.settle(reads_as, player, LIFETIME_MS)
        if "skeleton" not in fields:
            # From before names were one account's alone. Where two have it they keep it both.
            await self._change(player, "skeleton", reads_as if is_held else _NOBODY_S)


_HOUSE_BOT = skeleton(HOUSE_BOT.name)
_NOBODY_S = "-"
"""The skeleton of a name that its account shares with one that came first."""


def _account(player: str, fields: dict[str, str], now_ms: int) -> Account:
    ban = None
    if (until := fields.get("ban_until")) and (int(until) == FOREVER or int(until) > now_ms):
        ban = Ban(int(until), fields.get("ban_why", ""))
    return Account(player, fields["name"], fields["bot"] == "1", ban)


def _fits(fields: dict[str, str], secret: str) -> bool:
    digest = _digest(secret)
    return hmac.compare_digest(fields["token_hash"], digest) or f"device:{digest}" in fields


def _digest(secret: str) -> str:
    # The secret has 256 random bits, so one round of a plain hash cannot be searched.
    return hashlib.sha256(secret.encode()).hexdigest()
