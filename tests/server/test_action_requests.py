"""Moves and undos as a session takes them: one answer each, in order, in whatever form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from node import Player, Trio, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import encode, pack
from samedeal.protocol.errors import ErrorCode
from samedeal_server.desk import RaceDesk
from support import eventually


@pytest.fixture
async def trio(valkey_url: str, redis: Redis) -> AsyncIterator[Trio]:
    async with node(valkey_url, "n1") as desk:
        trio = Trio(desk, "lanes", undo="free")
        await trio.sit()
        yield trio


def answers(player: Player, since: int) -> list[tuple[int | None, str]]:
    """What came of requests: the request, and `ack` or why not."""
    return [
        (message.id, message.type if isinstance(message, say.Ack) else message.code)
        for message in player.said(since)
        if isinstance(message, say.Ack | say.Refused)
    ]


async def test_an_action_waits_for_the_one_under_way(trio: Trio) -> None:
    ada = trio.seats[1]
    since = len(ada.frames)
    frames = [
        encode(ask.PlayMove(id=101, race=trio.race, seq=1, move="draw")),
        encode(ask.PlayUndo(id=102, race=trio.race, seq=2)),
        encode(ask.PlayMove(id=103, race=trio.race, seq=4, move="draw")),
        encode(ask.PlayMove(id=104, race=trio.race, seq=3, move="draw")),
    ]
    # The first is on its way to the store before the others are looked at.
    for frame in frames:
        await ada.throw(frame)
    await eventually(lambda: len(answers(ada, since)) == 4)
    assert answers(ada, since) == [
        (101, "ack"), (102, "ack"), (103, ErrorCode.SEQ_GAP), (104, "ack"),
    ]  # fmt: skip


async def test_the_form_of_an_action_does_not_matter(trio: Trio) -> None:
    ada = trio.seats[1]
    since = len(ada.frames)
    fields = {"move": "draw", "seq": 1, "race": trio.race, "id": 201, "type": "move"}
    plain = pack(dict(fields))
    # The same once more, with a longer head for the map and for a text than they need.
    wide = b"\xde\0\5" + plain[1:].replace(b"\xa4draw", b"\xd9\4draw")
    assert wide.count(b"\xd9\4draw") == 1
    for frame in (plain, wide, plain):
        await ada.throw(frame)
        await ada.session.settled()
    assert answers(ada, since) == [(201, "ack")] * 3
    assert len(set(ada.frames[since:])) == 1


async def test_when_the_run_is_over_that_is_the_answer_to_any_action(trio: Trio) -> None:
    ada = trio.seats[1]
    await trio.act(1, "draw", 1)
    await ada.get(say.Done, ask.Bank, race=trio.race)
    for action in ("draw", "undo", "F1>F2", "nonsense"):
        refused = await trio.act(1, action, 2)
        assert isinstance(refused, say.Refused)
        assert refused.code is ErrorCode.RUN_OVER, action
    assert isinstance(await trio.act(1, "draw", 1), say.Ack), "what was taken is answered again"


async def test_who_goes_while_a_move_is_under_way_leaves_it_in_the_log(
    trio: Trio, redis: Redis
) -> None:
    ada = trio.seats[1]
    since = len(ada.frames)
    await ada.throw(encode(ask.PlayMove(id=301, race=trio.race, seq=1, move="draw")))
    await asyncio.gather(ada.session.leave(), ada.session.settled())
    assert answers(ada, since) == [(301, "ack")]
    assert [action for action, _ in await trio.desk.races.log(trio.race, 1)] == ["draw"]


async def test_an_action_is_for_a_race_that_this_connection_holds_a_seat_in(trio: Trio) -> None:
    desk: RaceDesk = trio.desk
    eva = Player(desk)
    for race in (trio.race, "0" * 16):
        refused = await eva.ask(ask.PlayMove, race=race, seq=1, move="draw")
        assert isinstance(refused, say.Refused)
        assert refused.code is ErrorCode.HELLO_FIRST
    await eva.get(say.Welcome, ask.Hello, name="stranger")
    refused = await eva.ask(ask.PlayUndo, race=trio.race, seq=1)
    assert isinstance(refused, say.Refused)
    assert refused.code is ErrorCode.NOT_SEATED
