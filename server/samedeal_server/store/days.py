"""The daily challenge in the store: the deals of the days, and who played them."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis

from samedeal.protocol.fields import DealLabel
from samedeal_server.errors import SeedUsed
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.races import LIFETIME_MS
from samedeal_server.store.scripts import Script, run

__all__ = ["DayDeal", "DayStore", "Tries"]

PLAYED_MS = 400 * 24 * 3600 * 1000
"""Who plays no day for so long starts a streak anew."""

_PUT = Script("put_deal")
_DEALS = Script("deals")
_CLAIM = Script("claim")
_PLAYED = Script("day_played")


@dataclass(frozen=True, slots=True)
class DayDeal:
    """The deal of a day and game. Its seed stays on the server until the day is closed."""

    day: int
    game: str
    label: DealLabel
    seed: bytes = field(repr=False)
    is_void: bool = False


@dataclass(frozen=True, slots=True)
class Tries:
    """A player's runs at a deal, as race ids; empty where there is none."""

    ranked: str
    practice: str


@translates_faults
class DayStore:
    """Every change one script that may be repeated; a deal that is made is never made again."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def now_ms(self) -> int:
        """The store's clock."""
        now_ms, _ = await self.deals(())
        return now_ms

    async def deals(self, wanted: Sequence[tuple[int, str]]) -> tuple[int, list[DayDeal | None]]:
        """Read the store's clock, and the deals of (day, game) pairs, None where none is made."""
        fields = [_field(day, game) for day, game in wanted]
        now, *found = await run(self._redis, _DEALS, keys.days(), fields)
        deals = [
            _deal(day, game, text, is_void=void == "1") if text else None
            for (day, game), text, void in zip(wanted, found[::2], found[1::2], strict=True)
        ]
        return int(now), deals

    async def put(self, deal: DayDeal) -> DayDeal:
        """Make a day's deal, unless it has one. Return the one that stands; raise SeedUsed."""
        digest = hashlib.sha256(deal.seed).hexdigest()
        args = [_field(deal.day, deal.game), f"{deal.label.value} {deal.seed.hex()}", digest]
        stands = await run(self._redis, _PUT, keys.days(), args)
        if not stands:
            raise SeedUsed(f"the seed drawn for day {deal.day} of {deal.game} was used before")
        return _deal(deal.day, deal.game, stands)

    async def void(self, day: int, game: str) -> None:
        """Take a day out of the ranking."""
        *_, void = keys.days()
        await self._redis.sadd(void, _field(day, game))

    async def unvoid(self, day: int, game: str) -> None:
        """Put a day back into the ranking."""
        *_, void = keys.days()
        await self._redis.srem(void, _field(day, game))

    async def voided(self, game: str) -> set[int]:
        """Return the days of a game that are void."""
        return (await self.all_voided())[game]

    async def all_voided(self) -> Mapping[str, set[int]]:
        """Return the days that are void, by game."""
        *_, void = keys.days()
        members: Any = await self._redis.smembers(void)
        found: dict[str, set[int]] = defaultdict(set)
        for member in members:
            day, _, game = member.partition(":")
            found[game].add(int(day))
        return found

    async def tries(self, player: str, day: int, game: str) -> Tries:
        """Read which runs a player has at a deal."""
        return (await self.all_tries(player, [(day, game)]))[0]

    async def all_tries(self, player: str, wanted: Iterable[tuple[int, str]]) -> list[Tries]:
        """Read which runs a player has at each of some deals."""
        pipe = self._redis.pipeline(transaction=False)
        for day, game in wanted:
            pipe.hmget(keys.tries(player, day, game), ["ranked", "practice"])
        return [
            Tries(str(ranked or ""), str(practice or ""))
            for ranked, practice in await pipe.execute()
        ]

    async def claim(self, player: str, day: int, game: str, race_id: str) -> str:
        """Name the run that ranks. Return the id that stands: the first one, for good."""
        return await self._claim(player, day, game, "ranked", "", race_id)

    async def practise(self, player: str, day: int, game: str, last: str, race_id: str) -> str:
        """Name a new practice run after the `last` one. Return the id that stands."""
        return await self._claim(player, day, game, "practice", last, race_id)

    async def _claim(
        self, player: str, day: int, game: str, which: str, last: str, race_id: str
    ) -> str:
        args: list[str | int] = [which, last, race_id, 2 * LIFETIME_MS]
        stands: str = await run(self._redis, _CLAIM, [keys.tries(player, day, game)], args)
        return stands

    async def forget(self, player: str, day: int, game: str) -> None:
        """Forget which runs a player has at a deal."""
        await self._redis.delete(keys.tries(player, day, game))

    async def note_played(self, player: str, game: str, day: int) -> None:
        """Note that a player has played a day."""
        await run(self._redis, _PLAYED, [keys.days_played(player, game)], [day, PLAYED_MS])

    async def streak_ends_with(self, player: str, game: str, day: int) -> None:
        """Note the day that costs a player's streak if it closes unplayed."""
        await self._redis.zadd(keys.streaks_at_risk(game), {player: day})

    async def streak_is_over(self, player: str, game: str) -> None:
        """There is nothing more to lose."""
        await self._redis.zrem(keys.streaks_at_risk(game), player)

    async def streaks_ended(self, game: str, closed: int, limit: int) -> list[str]:
        """Return players whose streaks have to be looked at, days up to this one being closed."""
        found: Any = await self._redis.zrangebyscore(
            keys.streaks_at_risk(game), 0, closed, start=0, num=limit
        )
        return [str(player) for player in found]

    async def played(self, player: str, games: Iterable[str]) -> list[set[int]]:
        """Return the days that a player has played, for each game."""
        pipe = self._redis.pipeline(transaction=False)
        for game in games:
            pipe.smembers(keys.days_played(player, game))
        return [{int(day) for day in days} for days in await pipe.execute()]


def _field(day: int, game: str) -> str:
    return f"{day}:{game}"


def _deal(day: int, game: str, text: str, *, is_void: bool = False) -> DayDeal:
    label, seed = text.split(" ")
    return DayDeal(day, game, DealLabel(label), bytes.fromhex(seed), is_void)
