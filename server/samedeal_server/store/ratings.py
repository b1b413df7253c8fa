"""Ratings in the store: for each game the rated races, in their order, and what follows from them.

The list of rated races is kept for good and is the truth; the skills beside it can be made anew
from it at any time, and are when a race is voided, a run of it removed, or a player of it banned.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from samedeal.protocol.limits import MAX_SEATS
from samedeal_server.skill import NEW, Skill
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.scripts import Script, run

__all__ = ["LeftOut", "Rated", "RatingStore", "Row", "of_player"]

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


class LeftOut:
    """Which rated races are out of account, by the marks that say so."""

    def __init__(self, marks: frozenset[str]) -> None:
        self.marks = marks
        self._races = {mark.partition(".")[0] for mark in marks}

    def has(self, rated: Rated) -> bool:
        """Whether a race is left out."""
        return rated.race in self._races or any(
            of_player(r.player) in self.marks for r in rated.rows
        )


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
        """Rate a race, once. Return False if a skill is not any more what it was computed from.

        A race that is left out is noted, and moves no skill.
        """
        args: list[str | int] = [rated.race, str(rated), MAX_SEATS]
        for row in rated.rows:
            before = "" if row.before == NEW else str(row.before)
            args += [row.player, before, str(row.after)]
        return bool(await run(self._redis, _RATE, keys.ratings(game), args))

    async def leave_out(self, game: str, mark: str, *, out: bool) -> None:
        """Leave races out of account, or count them again; then the skills are to be made anew.

        A mark is a race, a run of it, or `of_player`: each goes by itself.
        """
        *_, left_out = keys.ratings(game)
        if out:
            await self._redis.sadd(left_out, mark)
        else:
            await self._redis.srem(left_out, mark)

    async def all(self, game: str) -> tuple[list[Rated], LeftOut]:
        """Return the rated races in their order, and which of them are left out."""
        races, _, marks = keys.ratings(game)
        left_out = LeftOut(frozenset(str(mark) for mark in await self._redis.smembers(marks)))
        texts: Any = await self._redis.hgetall(races)
        # There may be many: whoever else is served meanwhile must not wait for it.
        return await asyncio.to_thread(_in_order, texts), left_out

    async def replace(
        self, game: str, skills: Mapping[str, Skill], races: int, left_out: LeftOut
    ) -> bool:
        """Put skills made anew in the place of all.

        Return False if more races were rated since, or others are left out by now.
        """
        args: list[str | int] = [races, len(left_out.marks), *left_out.marks]
        for player, skill in skills.items():
            args += [player, str(skill)]
        return bool(await run(self._redis, _RERATE, keys.ratings(game), args))


def of_player(player: str) -> str:
    """The mark that leaves out all races a player was in."""
    return f"@{player}"


def _in_order(texts: Mapping[str, str]) -> list[Rated]:
    in_order = []
    for race, text in texts.items():
        position, _, rest = text.partition(" ")
        in_order.append((int(position), race, rest))
    return [Rated.parse(race, rest) for _, race, rest in sorted(in_order)]
