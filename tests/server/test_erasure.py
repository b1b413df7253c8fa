"""What is left of a player who asked to be deleted: nothing with its name, little with its id."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from dailies import NOON, Service, bank, draw, played, service
from node import Player
from samedeal.engine.games import GAMES
from samedeal.protocol import client_messages as ask
from samedeal.protocol import people_messages as wire
from samedeal.protocol import server_messages as say
from samedeal_server.admin.operators import Operators
from samedeal_server.store import keys
from samedeal_server.store.audit import AuditStore, Flag
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

pytestmark = pytest.mark.usefixtures("every_key_expires")

NAME = "wilhelmina"


@pytest.fixture
async def one(valkey_url: str, redis: Redis) -> AsyncIterator[Service]:
    async with service(valkey_url, redis, NOON) as alone:
        yield alone


async def everything(redis: Redis) -> dict[str, str]:
    """All that the store holds, each key as a text."""
    found = {}
    async for key in redis.scan_iter():
        read: dict[str, Any] = {
            "string": lambda k: redis.get(k),
            "hash": lambda k: redis.hgetall(k),
            "set": lambda k: redis.smembers(k),
            "zset": lambda k: redis.zrange(k, 0, -1, withscores=True),
            "stream": lambda k: redis.xrange(k),
        }
        found[key] = str(await read[str(await redis.type(key))](key))
    return found


async def lived(one: Service, redis: Redis) -> tuple[Player, Player]:
    """Somebody who has left a trace wherever one can be left, and a friend."""
    ada, ivo = await one.player(NAME), await one.player("ivo")
    # Days: one that counts for a streak, one of a single move, and practice.
    await played(ada, moves=12)
    await played(ada, game="lanes", moves=1)
    await played(ada, moves=2, practice=True)
    # Races: one that is over, one open to anybody, one that was watched.
    options = {"countdown_s": 0, "seats": 2, "ranked": True, "bots": False}
    race = (await ada.get(say.Seated, ask.Create, game="lanes", options=options)).race
    await ivo.get(say.Seated, ask.Join, code=race.code)
    for player in (ivo, ada):
        await player.get(say.Done, ask.Ready, race=race.id)
    for player in (ivo, ada):
        await eventually(lambda p=player: any(isinstance(m, say.Go) for m in p.said()))  # type: ignore[misc]
        await draw(player, race.id, 1)
    for player in (ivo, ada):
        await bank(player, race.id)
    listed = {**options, "listed": True}
    await ada.get(say.Seated, ask.Create, game="lanes", options=listed)
    # People.
    for player, friend in ((ada, "ivo"), (ivo, NAME)):
        await player.get(say.Friends, ask.FriendAdd, name=friend)
    await ada.get(wire.LinkMade, ask.LinkMake)
    await AuditStore(redis).flag(Flag(f"{race.id}.1", ada.player, "lanes", 1, "too fast"))
    return ada, ivo


async def test_a_deleted_player_leaves_nothing_but_seats_without_a_name(
    one: Service, redis: Redis
) -> None:
    ada, ivo = await lived(one, redis)
    mine = (await ada.get(say.Board, ask.BoardGet, game="lanes", board="wins")).me
    assert mine is not None
    run = mine.run or ""
    await Operators(redis, "zoe").remove(run, "")
    stored = json.loads((await ada.get(wire.ExportPart, ask.Export)).text)
    assert list(stored["removed"]) == ["lanes"]
    assert run in str(stored["removed"])
    assert run not in str(stored["results"])
    await Operators(redis, "zoe").remove(run, "", restore=True)
    before = await everything(redis)
    assert len([key for key, text in before.items() if ada.player in key + text]) > 30
    await ada.get(say.Done, ask.Delete)
    await ada.session.leave()
    # The races that the end of the player ended are booked, and who befriended it looks.
    for race in {key[3:19] for key in before if key.startswith("{r:")}:
        await one.desks[0].rooms.advance(race)
    await redis.zadd(keys.erasures(), {ada.player: 1})
    await one.desks[0].people.sweep()
    await ivo.get(say.Friends, ask.FriendsGet)
    after = await everything(redis)
    assert [key for key, text in after.items() if NAME in key or NAME in text.lower()] == []
    left = {key for key, text in after.items() if ada.player in key + text}
    # Others' results follow from its seats; "hidden" keeps what closes late off the boards.
    assert {re.sub(r"[0-9a-z]{16}", "ID", key) for key in left} == {
        "news",
        "{r:ID}",
        "{r:ID}:s:1",
        *(f"{{b:{game}}}:hidden" for game in GAMES),
        *keys.ratings("lanes")[:2],
    }
