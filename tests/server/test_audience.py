"""A crowd on the loop that a server runs on."""

from __future__ import annotations

import asyncio

import uvloop
from redis.asyncio import Redis

from node import Player, Trio, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from support import eventually


async def news_twice_in_a_turn(store_url: str) -> None:
    async with node(store_url, "n1") as desk:
        trio = Trio(desk, "lanes")
        await trio.sit()
        eye = Player(desk)
        await eye.get(say.Welcome, ask.Hello, name="kim")
        await eye.get(say.Watching, ask.Watch, race=trio.race)
        room = desk.rooms.get(trio.race)
        assert room is not None
        assert room.audience is not None
        for seat in (1, 2):
            room.audience.moved({seat})
        await eventually(lambda: any(isinstance(m, say.Watched) for m in eye.said()))
        told = [row.seat for m in eye.said() if isinstance(m, say.Watched) for row in m.players]
        assert told[:2] == [1, 2]


async def test_what_is_due_at_once_and_comes_twice_is_told_together(
    valkey_url: str, redis: Redis
) -> None:
    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(news_twice_in_a_turn(valkey_url))

    await asyncio.to_thread(run)
