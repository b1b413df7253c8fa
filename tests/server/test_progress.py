"""What players hear of one another: with their acks while they move, by itself when they do not."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis.strategies import floats, lists
from redis.asyncio import Redis

from node import Trio, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.limits import PROGRESS_PER_S
from samedeal_server.progress import PATIENCE_S, Progress
from support import eventually
from wire import race_of, wired

TICK_S = 0.05


def test_who_does_not_move_is_told_at_once() -> None:
    progress = Progress()
    assert progress.add(b"news", 10.0) == 10.0
    assert progress.due(10.0) == b"news"
    assert progress.due(11.0) == progress.take() == b""


def test_who_moves_is_told_with_the_next_ack_all_that_waits() -> None:
    progress = Progress()
    assert progress.with_ack(10.0) == b""
    assert progress.add(b"one ", 10.1) == 10.1 + PATIENCE_S
    assert progress.add(b"two", 10.15) is None, "it is due with the first"
    assert progress.due(10.15) == b""
    assert progress.with_ack(10.2) == b"one two"
    assert progress.due(10.1 + PATIENCE_S) == b""


def test_an_ack_that_does_not_come_is_not_waited_for_long() -> None:
    progress = Progress()
    progress.with_ack(10.0)
    progress.add(b"one ", 10.1)
    progress.add(b"two", 10.24)
    assert progress.due(10.24) == b""
    assert progress.due(10.25) == b"one two"
    progress.with_ack(11.0)
    progress.add(b"three", 11.01)
    progress.add(b" four", 11.2)
    # The first of them has waited long enough.
    assert progress.due(11.22) == b"three four"


async def test_what_somebody_did_last_is_told_though_the_seat_is_empty_by_then(
    redis: Redis, valkey_url: str
) -> None:
    async with node(valkey_url, "n1") as desk:
        trio = Trio(desk, "lanes")
        await trio.sit()
        room = desk.rooms.get(trio.race)
        assert room is not None
        await trio.act(1, "draw", 1)
        desk.rooms.exit(room, room.members[1])
        ivo = trio.seats[2]
        await eventually(lambda: any(isinstance(m, say.Progress) for m in ivo.said()))
        (told,) = [m for m in ivo.said() if isinstance(m, say.Progress)]
        assert [(row.seat, row.moves) for row in told.players] == [(1, 1)]


async def test_two_who_move_all_the_time_hear_of_each_other_and_of_the_end(
    server_url: str,
) -> None:
    async with wired(server_url, "quick-ada") as ada, wired(server_url, "quick-ivo") as ivo:
        race = await race_of(ada, ivo, game="lanes", undo="free")
        for seq in range(1, 41):
            fields: dict[str, Any] = {"move": "draw"} if seq % 2 else {}
            kind = ask.PlayMove if fields else ask.PlayUndo
            for wire in (ada, ivo):
                await wire.get(say.Ack, kind, race=race, seq=seq, **fields)
        for wire, other in ((ada, 2), (ivo, 1)):
            await eventually(
                lambda w=wire, o=other: any(  # type: ignore[misc]
                    (view.seat, view.moves) == (o, 40)
                    for told in w.all(say.Progress)
                    for view in told.players
                )
            )
            assert wire.vers() == sorted(wire.vers())
            kinds = [type(m) for m in wire.heard if isinstance(m, say.Ack | say.Progress)]
            assert say.Ack in kinds[kinds.index(say.Progress) :], "nothing came while it moved"


async def test_what_is_new_does_not_come_after_what_follows_from_it(server_url: str) -> None:
    async with wired(server_url, "last-ada") as ada, wired(server_url, "last-ivo") as ivo:
        race = await race_of(ada, ivo, game="lanes")
        for seq in range(1, 4):
            for wire in (ada, ivo):
                await wire.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")
        await ada.get(say.Done, ask.Bank, race=race)
        await ivo.get(say.Done, ask.Bank, race=race)
        for wire in (ada, ivo):
            await eventually(lambda w=wire: bool(w.all(say.Closed)))  # type: ignore[misc]
            assert wire.vers() == sorted(wire.vers())
            assert [p.moves for p in wire.all(say.Closed)[0].race.players] == [3, 3]


@given(
    pushes=lists(floats(0.0, 0.3), min_size=12, max_size=12),
    acks=lists(floats(0.0, 0.4), min_size=40, max_size=40),
)
def test_nobody_is_told_five_times_in_a_second(pushes: list[float], acks: list[float]) -> None:
    """The room looks as seldom as it promises, and acks come whenever they do."""
    interval_s = (1 + PATIENCE_S + TICK_S) / PROGRESS_PER_S
    progress, told = Progress(), []
    times = [(at, "push") for at in accumulate(pause + interval_s for pause in pushes)]
    times += [(at, "ack") for at in accumulate(acks)]
    ticks = [(tick * TICK_S, "tick") for tick in range(200)]
    for now, what in sorted(times + ticks):
        if what == "push":
            progress.add(b".", now)
        if progress.with_ack(now) if what == "ack" else progress.due(now):
            told.append(now)
    for first, fifth in zip(told, told[PROGRESS_PER_S:], strict=False):
        assert fifth - first > 1 - 1e-9
