"""Races in the store: every change one atomic script, the record read back whole."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import Redis

from samedeal.protocol.fields import Phase, Phrase, RaceOptions, Status
from samedeal.protocol.limits import MAX_SEATS
from samedeal_server import deals
from samedeal_server.deals import Starts
from samedeal_server.race import RaceDay, RaceState, SeatState
from samedeal_server.store import keys
from samedeal_server.store.faults import translates_faults
from samedeal_server.store.leases import LEASE_S, Outages
from samedeal_server.store.scripts import Script, run

__all__ = ["LIFETIME_MS", "Advanced", "Attached", "NewRace", "RaceStore", "Stale"]

LIFETIME_MS = 30 * 24 * 3600 * 1000
"""How long a race is kept, from its opening: its replay can be had that long."""

SEATED_MS = LIFETIME_MS + 2 * 24 * 3600 * 1000
"""How long it is known who sat in it."""

LOBBY_MS = 6 * 3600 * 1000
"""How long a lobby may wait for its start before it closes."""

OPEN_AT_MOST_MS = LOBBY_MS + 25 * 3600 * 1000
"""No race is open longer: the longest lobby, and a day of play."""

SAY_EVERY_MS = 1500
"""A seat says one phrase in so long, whatever connection says it."""

_CREATE = Script("create")
_JOIN = Script("join")
_READY = Script("ready")
_START = Script("start")
_OPTIONS = Script("options")
_LEAVE = Script("leave")
_ATTACH = Script("attach")
_DETACH = Script("detach")
_ADVANCE = Script("advance")
_BEGIN = Script("begin")
_DUE = Script("due")
_END_RACE = Script("end_race")
_LOAD = Script("load")
_NEXT = Script("next")
_OPEN = Script("open")
_RECODE = Script("recode")
_SAY = Script("say")
_NOTE = Script("note")
_SEATED = Script("seated")


@dataclass(frozen=True, slots=True)
class NewRace:
    """What a race is opened with."""

    id: str
    code: str
    game: str
    rules_version: int
    seed: bytes = field(repr=False)
    commitment: str
    practice: bool
    options: RaceOptions
    round: int
    host: int
    roster: tuple[SeatState, ...]
    day: RaceDay | None = None
    previous: str = ""
    """The race before it in the same room."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A seat taken over; `epoch` fences every older connection."""

    seat: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Advanced:
    """Where a race stands, by the store's clock, and when to ask again (0: never)."""

    phase: Phase
    now_ms: int
    due_ms: int
    is_of_a_day: bool = False
    """Whether it is a run at the deal of a day that is on."""

    def is_news_to(self, state: RaceState) -> bool:
        """Whether a record that was read before may not be all there is to know by now."""
        if self.phase is Phase.RUNNING:
            return (self.phase, self.due_ms) != (state.phase, state.due_ms)
        return self.phase is Phase.CLOSED or self.phase is not state.phase


class Stale(Exception):
    """The outages were read too long ago to say whether a race is over."""


@translates_faults
class RaceStore:
    """Everything about races but the commit of a move, which has a connection of its own.

    Every call may raise StoreUnavailable; what it was to write may be written all the same, and may
    be asked for again.
    """

    def __init__(self, redis: Redis, node: str, starts: Starts | None = None) -> None:
        self._redis = redis
        self._starts = starts or deals.starts()
        self._node = node

    async def _run(self, script: Script, race_id: str, *args: str | int) -> Any:
        return await run(self._redis, script, keys.race_keys(race_id), [self._node, *args])

    async def claim_code(self, code: str, race_id: str) -> bool:
        """Point a join code at a race. Return False if it leads to another one."""
        return bool(await self._redis.set(keys.code(code), race_id, nx=True, px=LIFETIME_MS))

    async def move_code(self, code: str, race_id: str, following: str) -> None:
        """Point a join code at the race that follows `race_id`, unless it is further on by now."""
        await run(self._redis, _RECODE, [keys.code(code)], [race_id, following, LIFETIME_MS])

    async def find(self, code: str) -> str | None:
        """Return the id of the race that a join code leads to."""
        found = await self._redis.get(keys.code(code))
        return None if found is None else str(found)

    async def may_open(self, player: str, race_id: str, most: int) -> bool:
        """Note a race that `player` opens. Return False if `most` of its races are open already."""
        args: list[str | int] = [race_id, OPEN_AT_MOST_MS, most]
        return bool(await run(self._redis, _OPEN, [keys.opened(player)], args))

    async def over(self, player: str, race_id: str) -> None:
        """Forget an open race of a player."""
        await self._redis.zrem(keys.opened(player), race_id)

    async def create(self, new: NewRace) -> None:
        """Open a race. Doing it again changes nothing."""
        for seat in new.roster:
            await self._sits(seat.player, new.id)
        # The sweep must hear of the race before it exists: one that nobody looks at never ends.
        await self._redis.zadd(keys.due(), {new.id: 0}, nx=True)
        fields: dict[str, str | int] = {
            "code": new.code,
            "game": new.game,
            "rules_version": new.rules_version,
            "seed": new.seed.hex(),
            "commitment": new.commitment,
            "practice": int(new.practice),
            "phase": Phase.LOBBY.value,
            "round": new.round,
            "host": new.host,
            **_option_fields(new.options),
            **_day_fields(new.day),
            **({"previous": new.previous} if new.previous else {}),
        }
        args: list[str | int] = [LIFETIME_MS, len(fields), *_flat(fields)]
        for seat in new.roster:
            values: dict[str, str | int] = {
                "player": seat.player,
                "name": seat.name,
                "bot": int(seat.bot),
                "series": seat.series,
                "ready": int(seat.ready),
                "rating": "" if seat.rating is None else str(seat.rating),
            }
            args += [seat.seat, len(values), *_flat(values)]
        await self._run(_CREATE, new.id, *args)

    async def join(self, race_id: str, player: str, name: str, *, bot: bool) -> tuple[str, int]:
        """Claim a seat. Return ('seated', seat), or why not and 0.

        That is 'missing', 'watched', 'phase', 'no_bots' or 'full'.
        """
        await self._sits(player, race_id)
        if await self._has_watched_deal(player, race_id):
            return "watched", 0
        args: list[str | int] = [self._node, player, name, int(bot), LIFETIME_MS]
        where = [*keys.race_keys(race_id), keys.watched(race_id)]
        word, seat = await run(self._redis, _JOIN, where, args)
        return word, int(seat)

    async def _sits(self, player: str, race_id: str) -> None:
        """Note it before it is so: whoever deletes an account must find all of its seats."""
        await run(self._redis, _SEATED, [keys.seated(player)], [race_id, SEATED_MS])

    async def _has_watched_deal(self, player: str, race_id: str) -> bool:
        """Whether a player without a seat has watched another race on a deal of a chosen seed."""
        fields = ["practice", "commitment", f"p:{player}"]
        practice, commitment, seat = await self._redis.hmget(keys.race(race_id), fields)
        if practice != "1" or commitment is None or seat is not None:
            return False
        watched = await self._redis.smembers(keys.watched_deal(str(commitment), player))
        return bool(watched - {race_id})

    async def ready(self, race_id: str, player: str, *, ready: bool) -> str:
        """Return 'done', 'not_seated' or 'phase'."""
        word: str = await self._run(_READY, race_id, player, int(ready))
        return word

    async def start(self, race_id: str, player: str) -> tuple[str, int]:
        """Return ('done', 0), ('not_ready', seat) or another word of refusal."""
        word, seat = await self._run(_START, race_id, player)
        return word, int(seat)

    async def set_options(self, race_id: str, player: str, options: RaceOptions) -> str:
        """Return 'done', 'not_seated', 'phase', 'not_host' or 'seats' (more are taken)."""
        fields = _option_fields(options)
        word: str = await self._run(_OPTIONS, race_id, player, options.seats, *_flat(fields))
        return word

    async def leave(self, race_id: str, player: str, how: Status) -> str:
        """End the run as banked or left. Return 'done', 'not_seated', 'phase', 'over', 'closed'."""
        word: str = await self._run(_LEAVE, race_id, player, how.value)
        return word

    async def end_race(self, race_id: str, player: str) -> tuple[str, int]:
        """Close a race in which only bots play on. Return ('done', 0), also again, or why not.

        That is 'not_seated', 'phase', 'bot' (a bot asks), or 'playing' and a person's seat.
        """
        word, seat = await self._run(_END_RACE, race_id, player)
        return str(word), int(seat)

    async def attach(self, race_id: str, player: str) -> Attached | str:
        """Take the player's seat over, or say 'missing' or 'not_seated'."""
        word, seat, epoch = await self._run(_ATTACH, race_id, player)
        return Attached(int(seat), int(epoch)) if word == "done" else str(word)

    async def detach(self, race_id: str, seat: int, epoch: int) -> None:
        """Note that the connection of that epoch is gone; a newer one is left alone."""
        await self._run(_DETACH, race_id, seat, epoch)

    async def advance(self, race_id: str, outages: Outages) -> Advanced | None:
        """Move the phase on if it is time, and the deadline by outages that the race lay under.

        None if there is no such race any more. Raise Stale, having changed nothing, if there may be
        newer outages.
        """
        known = [str(part) for outage in outages.all for part in outage]
        phase, now, due, *of_a_day = await self._run(
            _ADVANCE, race_id, LOBBY_MS, outages.read_at_ms, int(LEASE_S * 1000), *known
        )
        if phase == "stale":
            raise Stale
        if phase == "missing":
            return None
        return Advanced(Phase(phase), int(now), int(due), of_a_day == [1])

    async def begin(self, race_id: str, *, before_ms: int, deadline_ms: int) -> str:
        """Start the clock of a day's run. Return 'done' (also again), 'late', 'missing'."""
        word: str = await self._run(_BEGIN, race_id, before_ms, deadline_ms)
        return word

    async def next_race(self, race_id: str, player: str, new_id: str) -> tuple[str, str]:
        """Name the race that follows. Return ('done', id) or ('not_seated'|'phase', '')."""
        word, following = await self._run(_NEXT, race_id, player, new_id)
        return word, following

    async def say(self, race_id: str, player: str, phrase: Phrase) -> tuple[str, int]:
        """Say a phrase. Return ('done', 0), ('not_seated', 0) or ('early', ms to wait)."""
        # The number tells a repeat, whose first reply was lost, from the same words again.
        number = secrets.token_hex(4)
        args = (player, phrase.value, number, SAY_EVERY_MS)
        word, wait = await self._run(_SAY, race_id, *args)
        return word, int(wait)

    async def note(self, race_id: str, seat: int, field: str, value: str) -> None:
        """Write into a seat's record what the room should see. The same again is no news."""
        await self._run(_NOTE, race_id, seat, field, value)

    async def mark_stuck(self, race_id: str, seat: int, seq: int) -> None:
        """Note that after action `seq` this run can make no progress; a later action voids it."""
        await self._redis.hset(keys.seat(race_id, seat), "stuck", str(seq))

    async def load(self, race_id: str) -> RaceState | None:
        """Read a race with its seats, in one go."""
        now_ms, race, *seats = await self._run(_LOAD, race_id)
        if not race:
            return None
        records = enumerate(map(_fields, seats), start=1)
        return RaceState.read(race_id, _fields(race), records, int(now_ms), self._starts)

    async def vers(self, race_ids: Sequence[str]) -> list[int]:
        """Read the versions of many races in one go; 0 for one that is no more."""
        pipe = self._redis.pipeline(transaction=False)
        for race_id in race_ids:
            pipe.hget(keys.race(race_id), "ver")
        return [int(ver or 0) for ver in await pipe.execute()]

    async def log(self, race_id: str, seat: int, after: int = 0) -> list[tuple[str, int]]:
        """Read a run from action `after` on: (action text, ms from GO) each; the first is seq 1."""
        entries: Any = await self._redis.xrange(keys.log(race_id, seat), min=f"{after + 1}-0")
        return [(fields["a"], int(fields["t"])) for _, fields in entries]

    async def keep(self, race_id: str) -> None:
        """Keep a race with its logs for its lifetime from now on."""
        pipe = self._redis.pipeline(transaction=False)
        for key in keys.race_keys(race_id):
            pipe.pexpire(key, LIFETIME_MS)
        for number in range(1, MAX_SEATS + 1):
            pipe.pexpire(keys.log(race_id, number), LIFETIME_MS)
        await pipe.execute()

    async def schedule(self, dues: Mapping[str, int]) -> None:
        """Have the sweep look at races, each when the store's clock shows so many ms."""
        await self._redis.zadd(keys.due(), dict(dues))

    async def unschedule(self, race_id: str) -> None:
        """Nothing will ever be due in this race again."""
        await self._redis.zrem(keys.live(), race_id)
        await self._redis.zrem(keys.due(), race_id)

    async def list_live(self, since: Mapping[str, int]) -> None:
        """Put races that run since then on the list of those, each once."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.zadd(keys.live(), dict(since), nx=True)
        # Whatever nobody took off it is over by then.
        pipe.zremrangebyscore(keys.live(), 0, max(since.values()) - OPEN_AT_MOST_MS)
        pipe.pexpire(keys.live(), OPEN_AT_MOST_MS)
        await pipe.execute()

    async def live(self, limit: int) -> list[str]:
        """Return races that run, the latest first."""
        found: Any = await self._redis.zrange(keys.live(), 0, limit - 1, desc=True)
        return list(found)

    async def all_due(self) -> None:
        """Have the sweep look at every open race now."""
        await self._redis.zunionstore(keys.due(), {keys.due(): 0})

    async def overdue(self, limit: int) -> list[str]:
        """Return races that have to be looked at by now."""
        return list(await run(self._redis, _DUE, [keys.due()], [limit]))


def _option_fields(options: RaceOptions) -> dict[str, str | int]:
    """The options as the scripts need them, and whole as JSON."""
    return {
        "options": options.model_dump_json(),
        "seats": options.seats,
        "time_limit_s": options.time_limit_s,
        "last_call_s": options.last_call_s,
        "countdown_s": options.countdown_s,
        "bots": int(options.bots),
        "auto_start": int(options.auto_start),
    }


def _day_fields(day: RaceDay | None) -> dict[str, str | int]:
    if day is None:
        return {}
    return {"day": day.number, "label": day.label.value, "day_ends_at": day.ends_at_ms}


def _fields(flat: list[str]) -> dict[str, str]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _flat(fields: Mapping[str, str | int]) -> list[str | int]:
    return [part for pair in fields.items() for part in pair]
