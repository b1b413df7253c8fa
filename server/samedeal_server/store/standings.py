"""The leaderboard of each game: wins, then fewer races; each race is counted once."""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.races import LIFETIME_MS
from samedeal_server.store.scripts import Script, run

__all__ = ["Row", "StandingsStore"]

_RECORD = Script("record")
_MOST, _SPAN = 67108863, 67108864
"""How record.lua packs a score: (most - wins) * span + races, below 2^53."""


@dataclass(frozen=True, slots=True)
class Row:
    """One player on a board; equal ones share a place."""

    place: int
    name: str
    bot: bool
    wins: int
    races: int


@translates_faults
class StandingsStore:
    """Count races and list the best."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def record(
        self, game: str, race_id: str, rows: list[tuple[str, str, bool, bool]]
    ) -> None:
        """Count a closed race: (player, name, bot, first place) each. Again changes nothing."""
        args: list[str | int] = [2 * LIFETIME_MS]
        for player, name, bot, won in rows:
            args += [player, f"{int(bot)}{name}", int(won)]
        await run(self._redis, _RECORD, keys.standings(game, race_id), args)

    async def best(self, game: str, limit: int) -> list[Row]:
        """Return the first `limit` rows. A place is 1 + the number of strictly better players."""
        _, board, names = keys.standings(game, "")
        found: Any = await self._redis.zrange(board, 0, limit - 1, withscores=True)
        if not found:
            return []
        labels: Any = await self._redis.hmget(names, [player for player, _ in found])
        rows: list[Row] = []
        place, last = 0, -1
        for at, ((_, score), label) in enumerate(zip(found, labels, strict=True), start=1):
            packed = int(score)
            if packed != last:
                place, last = at, packed
            wins, races = _MOST - packed // _SPAN, packed % _SPAN
            rows.append(Row(place, (label or "0?")[1:], (label or "0")[0] == "1", wins, races))
        return rows
