"""Every kind of request that there is: counted by the limits, and for accounts alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from redis.asyncio import Redis

from fuzz import SCHEMAS, Fuzz
from node import Player, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_client, pack
from samedeal.protocol.errors import BadFrame, ErrorCode
from samedeal_server.buckets import Limits, Rate
from samedeal_server.desk import RaceDesk
from samedeal_server.door import Door, Visitor
from samedeal_server.session import Session
from samedeal_server.store import keys

FREE = {"Hello", "Ping"}
"""Hellos are counted by address, pings only slow down who sends too many."""
ACTIONS = {"PlayMove", "PlayUndo"}
ONE = Rate(1, 0.000_1)


@pytest.fixture
async def desk(redis: Redis, valkey_url: str) -> AsyncIterator[RaceDesk]:
    async with node(valkey_url, "n1") as desk:
        yield desk


def frames() -> list[tuple[str, bytes]]:
    """A good message of each kind."""
    found = []
    fuzz = Fuzz(1)
    for schema in SCHEMAS:
        fields: dict[str, Any] = {}
        while not fields:
            drawn = fuzz.message(schema)
            with suppress(BadFrame):
                decode_client(pack(drawn))
                fields = drawn | {"id": 7}
        found.append((schema["title"], pack(fields)))
    return found


def limited(desk: RaceDesk) -> Player:
    """A connection that may do next to nothing."""
    player = Player(desk)
    door = Door[Player](Limits(actions=ONE, requests=ONE, hellos=None))
    player.session = Session(desk, player, Visitor(door, player, "", 0.0))
    return player


async def refusals(player: Player) -> dict[str, ErrorCode | None]:
    """What each kind of message is refused with."""
    told: dict[str, ErrorCode | None] = {}
    for kind, frame in frames():
        if kind not in FREE:
            at = len(player.frames)
            await player.throw(frame)
            (answer,) = player.said(at)
            told[kind] = answer.code if isinstance(answer, say.Refused) else None
    return told


async def test_every_request_is_counted(desk: RaceDesk) -> None:
    player = limited(desk)
    await player.get(say.Welcome, ask.Hello, name="ada")
    # The one request and the one action that are granted.
    await player.ask(ask.FriendsGet)
    await player.ask(ask.PlayUndo, race="0" * 16, seq=1)
    told = await refusals(player)
    assert len(told) > 30
    assert {kind: code for kind, code in told.items() if code is not ErrorCode.SLOW_DOWN} == {}


async def test_nothing_is_done_for_who_has_not_said_hello(desk: RaceDesk, redis: Redis) -> None:
    before = {key async for key in redis.scan_iter()}
    told = await refusals(Player(desk))
    first = {kind: code for kind, code in told.items() if kind not in ACTIONS}
    assert set(first.values()) == {ErrorCode.HELLO_FIRST}
    assert all(told[kind] is not None for kind in ACTIONS)
    # The node itself says that it lives.
    assert {key async for key in redis.scan_iter()} - before <= {*keys.leases()}


@pytest.mark.parametrize(
    ("request_of", "fields"),
    [(ask.Ready, {}), (ask.SetOptions, {"options": {}}), (ask.Say, {"phrase": "hello"})],
)
async def test_a_request_gets_one_answer_also_if_what_follows_from_it_fails(
    desk: RaceDesk, redis: Redis, request_of: Any, fields: dict[str, Any]
) -> None:
    player = Player(desk)
    await player.get(say.Welcome, ask.Hello, name="ada")
    seated = await player.get(say.Seated, ask.Create, game="lanes")
    at = len(player.frames)
    await redis.hset(keys.race(seated.race.id), "round", "damaged")
    await player.ask(request_of, race=seated.race.id, **fields)
    answers = [message for message in player.said(at) if getattr(message, "id", None) is not None]
    assert len(answers) == 1
