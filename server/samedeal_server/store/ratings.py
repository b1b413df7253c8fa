"""Ratings in the store: for each game the rated races, in their order, and what follows from them.

The list of rated races is kept for good and is the truth; the skills beside it can be made anew
from it at any time, and are, when a race is voided.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal_server.skill import NEW, Skill
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["Rated", "RatingStore", "Row"]

_RATE = Script("rate")
_RERATE = Script("rerate")


@dataclass(frozen=True, slots=True)
class Row:
    """One player in a rated race: the place, and the skill before and after it."""

    player: str
    place: int
    before: Skill
    after: Skill


@dataclass(frozen=True, slots=True)
class Rated:
    """A rated race."""

    race: str
    at_ms: int
    """When it closed."""
    rows: tuple[Row, ...]

    @classmethod
    def parse(cls, race: str, text: str) -> "Rated":
        at_ms, *rows = json.loads(text)
        return cls(
            race,
            at_ms,
            tuple(Row(p, place, Skill.parse(b), Skill.parse(a)) for p, place, b, a in rows),
        )

    def __str__(self) -> str:
        rows = [[r.player, r.place, str(r.before), str(r.after)] for r in self.rows]
        return json.dumps([self.at_ms, *rows], separators=(",", ":"))


@translates_faults
class RatingStore:
    """Reads skills and writes them together with the race they come from."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def skills(self, game: str, players: Sequence[str]) -> list[Skill]:
        """Read how strong these players are; who was never rated is new."""
        found: Any = await self._redis.hmget(keys.ratings(game)[1], list(players))
        return [NEW if text is None else Skill.parse(text) for text in found]

    async def rated(self, game: str, race: str) -> Rated | None:
        """Return a rated race as it was when it was rated."""
        text: Any = await self._redis.hget(keys.ratings(game)[0], race)
        return None if text is None else Rated.parse(race, text.partition(" ")[2])

    async def add(self, game: str, rated: Rated) -> bool:
        """Rate a race, once. Return False if a skill is not any more what it was computed from."""
        args: list[str | int] = [rated.race, str(rated)]
        for row in rated.rows:
            before = "" if row.before == NEW else str(row.before)
            args += [row.player, before, str(row.after)]
        return bool(await run(self._redis, _RATE, keys.ratings(game), args))

    async def set_void(self, game: str, race: str, *, void: bool) -> None:
        """Leave a race out of account, or count it again; then the skills are to be made anew."""
        _, _, voided = keys.ratings(game)
        if void:
            await self._redis.sadd(voided, race)
        else:
            await self._redis.srem(voided, race)

    async def all(self, game: str) -> tuple[list[Rated], set[str], int]:
        """Return the rated races in their order, those left out, and how many there are."""
        races, _, voided = keys.ratings(game)
        left_out = {str(race) for race in await self._redis.smembers(voided)}
        texts: Any = await self._redis.hgetall(races)
        in_order = []
        for race, text in texts.items():
            position, _, rest = text.partition(" ")
            in_order.append((int(position), race, rest))
        return [Rated.parse(race, rest) for _, race, rest in sorted(in_order)], left_out, len(texts)

    async def replace(self, game: str, skills: Mapping[str, Skill], races: int) -> bool:
        """Put skills made anew in the place of all. Return False if more races were rated since."""
        args: list[str | int] = [races]
        for player, skill in skills.items():
            args += [player, str(skill)]
        return bool(await run(self._redis, _RERATE, keys.ratings(game), args))
