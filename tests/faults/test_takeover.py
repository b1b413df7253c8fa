"""A seat taken over on another node: the old node writes nothing more, and its socket is told."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import OptionsPatch, PlayerView
from samedeal_server.store import keys
from support import ServerProcess, eventually
from wire import Wire, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from redis.asyncio import Redis


@dataclass
class Race:
    """A race that runs, with ada on node one and ivo on node two."""

    id: str
    one: ServerProcess
    two: ServerProcess
    ada: Wire
    ivo: Wire


@pytest.fixture
async def race(valkey_url: str, redis: Redis, tmp_path: Path) -> AsyncIterator[Race]:
    store = ("--redis", valkey_url)
    with ServerProcess(tmp_path, *store) as one, ServerProcess(tmp_path, *store) as two:
        async with wired(one.url, "ada") as ada, wired(two.url, "ivo") as ivo:
            options = OptionsPatch(countdown_s=0)
            create = ask.Create(id=ada.next_id(), game="sally", options=options)
            opened = (await ada.seated(create)).race
            await ivo.seated(ask.Join(id=ivo.next_id(), code=opened.code))
            for wire in (ivo, ada):
                await wire.done(ask.Ready(id=wire.next_id(), race=opened.id))
            await eventually(lambda: bool(ada.all(say.Go) and ivo.all(say.Go)))
            yield Race(opened.id, one, two, ada, ivo)


@contextmanager
def frozen(node: ServerProcess) -> Iterator[None]:
    os.kill(node.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(node.process.pid, signal.SIGCONT)


def draw(wire: Wire, race: Race, seq: int) -> ask.PlayMove:
    return ask.PlayMove(id=wire.next_id(), race=race.id, seq=seq, move="draw")


async def play(wire: Wire, race: Race, seq: int) -> say.Ack:
    answer = await wire.request(draw(wire, race, seq))
    assert isinstance(answer, say.Ack), answer
    return answer


async def logged(redis: Redis, race: Race) -> list[str]:
    """The numbers in ada's log, in its order."""
    entries: Any = await redis.xrange(keys.log(race.id, 1))
    return [entry for entry, _ in entries]


def numbers(count: int) -> list[str]:
    return [f"{seq}-0" for seq in range(1, count + 1)]


async def test_the_old_socket_is_told_and_refused(race: Race, redis: Redis) -> None:
    await play(race.ada, race, 1)
    async with wired(race.two.url, "ada", token=race.ada.token) as new:
        seated = await new.seated(ask.Resume(id=new.next_id(), race=race.id))
        assert seated.seq == 1
        await eventually(lambda: bool(race.ada.all(say.TakenOver)))
        refused = await race.ada.request(draw(race.ada, race, 2))
        assert isinstance(refused, say.Refused)
        assert refused.code is ErrorCode.NOT_SEATED
        await play(new, race, 2)
    assert await logged(redis, race) == numbers(2)
    assert len(race.ada.all(say.TakenOver)) == 1


@pytest.mark.parametrize("played", [0, 1, 3], ids=["nothing", "the same number", "more"])
async def test_a_node_that_was_frozen_while_another_took_over_is_fenced(
    race: Race, redis: Redis, played: int
) -> None:
    for seq in range(1, 4):
        await play(race.ada, race, seq)
    async with wired(race.two.url, "ada", token=race.ada.token) as new:
        with frozen(race.one):
            stale = draw(race.ada, race, 4)
            await race.ada.send(stale)
            await new.seated(ask.Resume(id=new.next_id(), race=race.id))
            for seq in range(4, 4 + played):
                last = await play(new, race, seq)
        # The first thing the node does is to read that move; its table has room for it.
        await eventually(lambda: bool(race.ada.all(say.TakenOver)))
        await eventually(lambda: bool(race.ada.all(say.Refused)))
        (refused,) = race.ada.all(say.Refused)
        assert refused.id == stale.id
        assert refused.code in (ErrorCode.TAKEN_OVER, ErrorCode.NOT_SEATED)
        assert len(race.ada.all(say.Ack)) == 3
        assert len(race.ada.all(say.TakenOver)) == 1
        assert await logged(redis, race) == numbers(3 + played)
        last = await play(new, race, 4 + played)
        assert await logged(redis, race) == numbers(4 + played)
        # The board is the log's: whoever reads it back finds the same.
        again = await new.seated(ask.Resume(id=new.next_id(), race=race.id))
        assert (again.seq, again.hash) == (4 + played, last.hash)
        await eventually(lambda: any(p.moves == 4 + played for p in _progress(race.ivo)))


def _progress(wire: Wire) -> list[PlayerView]:
    return [player for message in wire.all(say.Progress) for player in message.players]


async def test_a_node_that_was_frozen_and_is_back_serves_on(race: Race, redis: Redis) -> None:
    await play(race.ada, race, 1)
    with frozen(race.one):
        sent = draw(race.ada, race, 2)
        await race.ada.send(sent)
        await play(race.ivo, race, 1)
    await eventually(lambda: any(ack.seq == 2 for ack in race.ada.all(say.Ack)))
    await play(race.ada, race, 3)
    assert await logged(redis, race) == numbers(3)
    await eventually(lambda: any(p.seat == 2 and p.moves == 1 for p in _progress(race.ada)))
