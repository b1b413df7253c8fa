"""A run with no progress left: who is told, and that the race of such runs closes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from node import Trio, node
from samedeal.engine.games import GAMES
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase, Status
from samedeal_server.desk import RaceDesk
from samedeal_server.store import keys
from support import eventually

STUCK = "T1=AC-,9H; T2=9D; T3=AH; S=4D"
"""Klondike: with the ace of hearts home, nothing but draws and null moves is left."""


def dealt(game: str, _seed: bytes) -> Table:
    return Table.parse(GAMES[game], STUCK)


@pytest.fixture
async def desk(valkey_url: str, redis: Redis) -> AsyncIterator[RaceDesk]:
    async with node(valkey_url, "n1", deal=dealt) as desk:
        yield desk


async def is_marked(redis: Redis, trio: Trio, seat: int, *, seq: int = 1) -> bool:
    """Whether the server noted that this run has no progress left after action `seq`."""
    return await redis.hget(keys.seat(trio.race, seat), "stuck") == str(seq)


async def test_a_player_is_told_once_when_the_cards_seen_say_so(
    desk: RaceDesk, redis: Redis
) -> None:
    trio = Trio(desk, "klondike", undo="none")
    await trio.sit()

    def notices(seat: int) -> int:
        return sum(isinstance(m, say.Notice) for m in trio.seats[seat].said())

    await trio.do(1, "played", "T3>F1")
    await trio.do(1, "played", "draw")
    # The server knows; the player has not gone through the stock and back yet.
    await eventually(lambda: is_marked(redis, trio, 1, seq=2))
    assert notices(1) == 0
    await trio.do(1, "played", "draw")
    await eventually(lambda: notices(1) == 1)
    await trio.do(1, "played", "draw")
    await trio.do(2, "played", "T3>F1")
    await eventually(lambda: is_marked(redis, trio, 2))
    assert [notices(seat) for seat in (1, 2, 3)] == [1, 0, 0]
    await trio.resume(1)
    assert notices(1) == 1


async def test_who_got_out_and_is_stuck_again_is_told_again(desk: RaceDesk) -> None:
    trio = Trio(desk, "klondike", undo="free")
    await trio.sit()

    async def told(seat: int, times: int) -> None:
        for action in ("T3>F1", "draw", "draw"):
            await trio.do(seat, "played", action)
        notices = trio.seats[seat]
        await eventually(lambda: sum(isinstance(m, say.Notice) for m in notices.said()) == times)

    await told(1, 1)
    for _ in range(3):
        await trio.do(1, "played", "undo")
    # Ada has paused for longer: when ivo is told, ada was looked at, too.
    await told(2, 1)
    await told(1, 2)


async def test_the_race_closes_when_everyone_still_in_is_stuck(desk: RaceDesk) -> None:
    trio = Trio(desk, "klondike", undo="none")
    await trio.sit()
    await trio.seats[3].get(say.Done, ask.Leave, race=trio.race)
    await trio.do(1, "played", "T3>F1")
    await trio.do(2, "played", "T3>F1")

    def closed(seat: int) -> list[say.Closed]:
        return [m for m in trio.seats[seat].said() if isinstance(m, say.Closed)]

    await eventually(lambda: all(closed(seat) for seat in (1, 2, 3)))
    (end,) = closed(1)
    assert {row.seat: row.status for row in end.race.order} == {
        1: Status.STUCK, 2: Status.STUCK, 3: Status.LEFT,
    }  # fmt: skip
    assert {view.seat: view.status for view in end.race.players}[1] is Status.STUCK
    # Who comes back to a closed race need not hear of it any more.
    await trio.resume(1)
    assert not any(isinstance(m, say.Notice) for m in trio.seats[1].said())


async def test_who_draws_on_and_on_is_found_to_be_stuck_all_the_same(
    desk: RaceDesk, redis: Redis
) -> None:
    trio = Trio(desk, "klondike", undo="none")
    await trio.sit()
    await trio.do(1, "played", "T3>F1")

    async def drew_and_is_marked() -> bool:
        trio.seq[1] += 1
        assert isinstance(await trio.act(1, "draw", trio.seq[1]), say.Ack)
        return await redis.hexists(keys.seat(trio.race, 1), "stuck")

    # It never pauses for as long as a look waits.
    await eventually(drew_and_is_marked)


async def test_who_may_still_undo_is_not_stuck(desk: RaceDesk, redis: Redis) -> None:
    trio = Trio(desk, "klondike", undo="safe")
    await trio.sit()
    await trio.do(1, "played", "T3>F1")
    await trio.do(2, "played", "T3>F1")
    # A draw cannot be taken back, nor can what was before it.
    await trio.do(2, "played", "draw")
    await eventually(lambda: is_marked(redis, trio, 2, seq=2))
    assert not await redis.hexists(keys.seat(trio.race, 1), "stuck")


async def test_who_goes_right_after_getting_stuck_does_not_keep_the_race_open(
    desk: RaceDesk, redis: Redis
) -> None:
    trio = Trio(desk, "klondike", undo="none")
    await trio.sit()
    assert isinstance(await trio.act(1, "T3>F1", 1), say.Ack)
    await trio.seats[1].session.leave()
    await eventually(lambda: is_marked(redis, trio, 1))


async def test_a_run_left_stuck_by_a_node_that_died_is_found_so_by_the_next(
    valkey_url: str, redis: Redis
) -> None:
    async with node(valkey_url, "n1", deal=dealt) as desk:
        trio = Trio(desk, "klondike", undo="none")
        await trio.sit()
        assert isinstance(await trio.act(1, "T3>F1", 1), say.Ack)
        trio.seq[1] = 1
    assert not await is_marked(redis, trio, 1)
    async with node(valkey_url, "n2", deal=dealt) as desk:
        trio.desk = desk
        await trio.resume(1)
        await eventually(lambda: is_marked(redis, trio, 1))
        state = await desk.races.load(trio.race)
        assert state is not None
        assert state.phase is Phase.RUNNING
