"""What another node changed arrives here: never missed, never older after newer, closed once.

Two nodes in this process, on a real store; the one under test reaches it through a relay.
"""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import OptionsPatch, PlayerView
from samedeal_server.app import running
from samedeal_server.settings import Settings
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from support import Proxy, eventually
from wire import Wire, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from redis.asyncio import Redis


@dataclass
class Nodes:
    """A node straight on the store, and one that reaches it through `relay`."""

    near: str
    far: str
    relay: Proxy


@pytest.fixture
async def nodes(valkey_url: str, redis: Redis, tmp_path: Path) -> AsyncIterator[Nodes]:
    relay = Proxy(StoreAddress.parse(valkey_url).nodes[0].path)
    async with relay as port:
        url = f"redis://127.0.0.1:{port}"
        async with (
            running(Settings("127.0.0.1", 0, valkey_url, tmp_path)) as near,
            running(Settings("127.0.0.1", 0, url, tmp_path)) as far,
        ):
            yield Nodes(f"ws://127.0.0.1:{near}", f"ws://127.0.0.1:{far}", relay)


@asynccontextmanager
async def room_of_two(nodes: Nodes) -> AsyncIterator[tuple[Wire, Wire, str]]:
    """A host on the near node, a guest on the far one, and the race's id."""
    async with wired(nodes.near, "ada") as host, wired(nodes.far, "ivo") as guest:
        options = OptionsPatch(countdown_s=0, seats=2)
        opened = ask.Create(id=host.next_id(), game="sally", options=options)
        race = (await host.seated(opened)).race
        await guest.seated(ask.Join(id=guest.next_id(), code=race.code))
        await eventually(lambda: knows(host, 2))
        yield host, guest, race.id


def knows(wire: Wire, seat: int) -> bool:
    return any(player.seat == seat for player in players(wire))


def players(wire: Wire) -> Sequence[PlayerView]:
    """The room as its messages leave it with a client that takes them as they come."""
    known: dict[int, PlayerView] = {}
    for message in wire.heard:
        if isinstance(message, say.Progress):
            known |= {player.seat: player for player in message.players}
        elif isinstance(message, say.Seated | say.Room | say.Go | say.Closed):
            known = {player.seat: player for player in message.race.players}
    return [known[seat] for seat in sorted(known)]


def is_in_order(wire: Wire) -> bool:
    return wire.vers() == sorted(wire.vers())


async def play(wire: Wire, race_id: str, seq: int) -> None:
    """Draw a card; sally's stock never ends."""
    move = ask.PlayMove(id=wire.next_id(), race=race_id, seq=seq, move="draw")
    assert isinstance(await wire.request(move), say.Ack)


async def end(host: Wire, guest: Wire, race_id: str) -> None:
    """Bank on both sides, and see both told the same end once."""
    await guest.done(ask.Bank(id=guest.next_id(), race=race_id))
    await host.done(ask.Bank(id=host.next_id(), race=race_id))
    await eventually(lambda: bool(guest.all(say.Closed) and host.all(say.Closed)))
    # Whatever is told twice would come before this answer, or with the next look at the store.
    assert isinstance(await guest.request(ask.Ping(id=guest.next_id())), say.Pong)
    for wire in (host, guest):
        assert is_in_order(wire), wire.vers()
        assert len(wire.all(say.Closed)) == 1
        assert len(wire.all(say.Go)) == 1
    (first,), (second,) = host.all(say.Closed), guest.all(say.Closed)
    assert first.race.order == second.race.order
    assert first.race.seed == second.race.seed
    assert players(host) == players(guest)


async def begin(host: Wire, guest: Wire, race_id: str) -> None:
    await guest.done(ask.Ready(id=guest.next_id(), race=race_id))
    await host.done(ask.Ready(id=host.next_id(), race=race_id))
    await eventually(lambda: bool(guest.all(say.Go) and host.all(say.Go)))


async def test_changes_on_another_node_ring_here(nodes: Nodes) -> None:
    async with room_of_two(nodes) as (host, guest, race_id):
        await begin(host, guest, race_id)
        for seq in range(1, 21):
            await play(host, race_id, seq)
        await eventually(lambda: players(guest)[0].moves == 20)
        await end(host, guest, race_id)


async def test_a_deaf_doorbell_costs_moments_and_no_event(nodes: Nodes) -> None:
    nodes.relay.lose_rings = True
    async with room_of_two(nodes) as (host, guest, race_id):
        await begin(host, guest, race_id)
        for seq in range(1, 6):
            await play(host, race_id, seq)
        await eventually(lambda: players(guest)[0].moves == 5)
        await end(host, guest, race_id)
    assert nodes.relay.lost_bytes > 0


async def test_a_race_where_nobody_else_played_yet_is_looked_at_too(nodes: Nodes) -> None:
    nodes.relay.lose_rings = True
    async with wired(nodes.far, "ivo") as guest, wired(nodes.near, "ada") as host:
        race = (await guest.seated(ask.Create(id=guest.next_id(), game="sally"))).race
        await host.seated(ask.Join(id=host.next_id(), code=race.code))
        await eventually(lambda: knows(guest, 2))


async def test_a_seat_taken_over_elsewhere_is_let_go_without_a_ring(nodes: Nodes) -> None:
    nodes.relay.lose_rings = True
    async with room_of_two(nodes) as (_, guest, race_id):
        async with wired(nodes.near, "ivo", token=guest.token) as new:
            await new.seated(ask.Resume(id=new.next_id(), race=race_id))
            await eventually(lambda: bool(guest.all(say.TakenOver)))
        assert len(guest.all(say.TakenOver)) == 1


async def test_a_doorbell_that_is_killed_is_hung_up_again(nodes: Nodes, redis: Redis) -> None:
    async with room_of_two(nodes) as (host, guest, race_id):
        await begin(host, guest, race_id)
        for seq in range(1, 6):
            await redis.client_kill_filter(_type="pubsub")
            await play(host, race_id, seq)
        await eventually(lambda: players(guest)[0].moves == 5)
        await eventually(lambda: rings(redis))
        await end(host, guest, race_id)


async def test_versions_never_fall_when_the_store_lost_some(nodes: Nodes, redis: Redis) -> None:
    async with room_of_two(nodes) as (host, guest, race_id):
        await begin(host, guest, race_id)
        for seq in range(1, 6):
            await play(host, race_id, seq)
        await eventually(lambda: players(guest)[0].moves == 5)
        await redis.hincrby(keys.race(race_id), "ver", -4)
        await end(host, guest, race_id)


async def rings(redis: Redis) -> bool:
    """Whether both nodes listen."""
    return len(await redis.pubsub_channels("bell:*")) == 2


@pytest.mark.parametrize(
    "rounds", [3, pytest.param(60, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]
)
async def test_over_random_cuts_versions_never_fall_and_the_race_closes_once(
    nodes: Nodes, redis: Redis, rounds: int
) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(rounds):
        nodes.relay.lose_rings = False
        async with room_of_two(nodes) as (host, guest, race_id):
            if rng.random() < 0.5:
                nodes.relay.cut()
            await begin(host, guest, race_id)
            moves = 0
            for _ in range(25):
                match rng.choice(["host", "host", "host", "back", "kill", "cut", "deaf", "heard"]):
                    case "host":
                        moves += 1
                        await play(host, race_id, moves)
                    case "back":
                        # Another connection of the host: presence and epoch change, the run stays.
                        async with wired(nodes.near, "ada", token=host.token) as new:
                            await new.seated(ask.Resume(id=new.next_id(), race=race_id))
                        again = await host.seated(ask.Resume(id=host.next_id(), race=race_id))
                        assert again.seq == moves
                    case "kill":
                        await redis.client_kill_filter(_type="pubsub")
                    case "cut":
                        nodes.relay.cut()
                    case what:
                        nodes.relay.lose_rings = what == "deaf"
            await eventually(lambda moves=moves: players(guest)[0].moves == moves)  # type: ignore[misc]
            await end(host, guest, race_id)
