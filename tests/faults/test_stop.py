"""A node that is told to stop under load: all it took is answered, and play goes on."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from redis.asyncio import Redis
from websockets.exceptions import ConnectionClosed

from racers import acked, finish, racing
from rig import Node, OwnStore
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal_client.connection import Client
from samedeal_client.errors import CannotConnect
from samedeal_server.store import keys
from support import eventually
from wire import Wire, race_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def node(own_store: OwnStore, tmp_path: Path) -> AsyncIterator[Node]:
    """The node at which play goes on."""
    other = Node(tmp_path / "other", "--redis", own_store.url)
    await other.start()
    yield other
    await other.stop()


@dataclass
class Player:
    """One who draws as fast as acknowledgements come, until the server says no more."""

    wire: Wire
    race: str
    seat: int
    acks: list[say.Ack] = field(default_factory=list)

    async def play(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                seq = len(self.acks) + 1
                request = await self.wire.post(ask.PlayMove, race=self.race, seq=seq, move="draw")
                answer = await answered(self.wire, request)
                if answer is None:
                    return
                assert isinstance(answer, say.Ack), answer
                self.acks.append(answer)


async def answered(wire: Wire, request: int) -> say.ServerMessage | None:
    """The answer to a request, or None if the connection ends without one."""
    await eventually(lambda: bool(wire.answers(request)) or wire.is_closed)
    return next(iter(wire.answers(request)), None)


async def open_rooms(wire: Wire) -> list[str]:
    """Open one room after the other until the server says no more. Return those it told of."""
    opened: list[str] = []
    with suppress(ConnectionClosed):
        while True:
            answer = await answered(wire, await wire.post(ask.Create, game="lanes"))
            if answer is None:
                break
            assert isinstance(answer, say.Seated), answer
            opened.append(answer.race.id)
            leaving = await answered(wire, await wire.post(ask.Leave, race=answer.race.id))
            if leaving is None:
                break
            assert isinstance(leaving, say.Done), leaving
    return opened


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_node_told_to_stop_under_load_answers_all_it_took_and_takes_no_more(
    own_store: OwnStore, node: Node, tmp_path: Path, workers: str
) -> None:
    stopping = Node(
        tmp_path / "one", "--redis", own_store.url, "--workers", workers, "--limit-actions", "off"
    )
    await stopping.start()
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(
            Redis(unix_socket_path=own_store.socket, decode_responses=True)
        )
        players: list[Player] = []
        for number in range(20):
            pair = [
                await stack.enter_async_context(wired(stopping.url, f"p{number}-{side}"))
                for side in (1, 2)
            ]
            race = await race_of(*pair, game="sally")
            players += [Player(wire, race, seat) for seat, wire in enumerate(pair, start=1)]
        host = await stack.enter_async_context(wired(stopping.url, "host"))
        async with asyncio.TaskGroup() as playing:
            for player in players:
                playing.create_task(player.play())
            rooms = playing.create_task(open_rooms(host))
            await eventually(lambda: all(len(player.acks) >= 3 for player in players), 60)
            code = playing.create_task(stopping.stop())
            await host.socket.wait_closed()
            with pytest.raises(CannotConnect):
                await Client(stopping.url, name="late").__aenter__()
        assert code.result() == 0
        wires = [host, *(player.wire for player in players)]
        assert {wire.socket.close_code for wire in wires} == {1012}
        reasons = [wire.socket.close_reason or "" for wire in wires]
        hints_ms = [int(reason.removeprefix("retry_ms=")) for reason in reasons]
        assert len(set(hints_ms)) > len(wires) / 2
        assert max(hints_ms) - min(hints_ms) > 1000
        for player in players:
            entries: Any = await redis.xrange(keys.log(player.race, player.seat))
            assert [(entry, int(fields["t"])) for entry, fields in entries] == [
                (f"{ack.seq}-0", ack.t_ms) for ack in player.acks
            ]
        found = {keys.race_of(key) async for key in redis.scan_iter("{r:*}")}
        assert found == {player.race for player in players} | set(rooms.result())
        for player in players:
            last = player.acks[-1]
            async with wired(node.url, token=player.wire.token) as again:
                seated = await again.get(say.Seated, ask.Resume, race=player.race)
                assert (seated.seq, seated.hash) == (last.seq, last.hash)
                fields = {"race": player.race, "seq": last.seq + 1, "move": "draw"}
                await again.get(say.Ack, ask.PlayMove, **fields)
    assert not [line for line in stopping.log if "Traceback" in line], "".join(stopping.log)


async def test_races_go_on_elsewhere_when_a_node_is_stopped_under_load(
    own_store: OwnStore, node: Node, tmp_path: Path
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    stopping = Node(tmp_path / "one", "--redis", own_store.url)
    await stopping.start()
    urls = f"{stopping.url},{node.url}", f"{node.url},{stopping.url}"
    async with racing(urls, 10, random.Random(seed)) as racers:
        done = asyncio.Event()
        async with asyncio.TaskGroup() as playing:
            for racer in racers:
                playing.create_task(racer.play(done, 0.1))
            await eventually(lambda: acked(racers) > 100, 60)
            assert await stopping.stop() == 0
            before = [len(racer.acks) for racer in racers]
            await eventually(
                lambda: all(len(r.acks) > n for r, n in zip(racers, before, strict=True)), 60
            )
            done.set()
        await finish(racers, own_store.socket)
