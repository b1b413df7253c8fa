"""Who is here: a seat is present while its connection holds it and the node of that one lives."""

from __future__ import annotations

import asyncio
import random
import signal
from typing import TYPE_CHECKING

import pytest

from samedeal.engine.moves import DRAW
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import RaceOptions
from samedeal_client.connection import Client
from samedeal_server.race import SeatState
from samedeal_server.store.races import Attached, NewRace, RaceStore
from support import PATIENCE_S, ServerProcess, eventually
from wire import Wire, wired

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis


def shown_present(wire: Wire, seat: int) -> list[bool]:
    """Whether a seat was present, in each message that says so."""
    found = []
    for message in wire.heard:
        players = (
            message.players
            if isinstance(message, say.Progress)
            else message.race.players
            if isinstance(message, say.Seated | say.Room | say.Go | say.Closed)
            else ()
        )
        found += [player.present for player in players if player.seat == seat]
    return found


async def test_players_of_a_killed_node_are_absent_and_nobody_waits_for_them(
    valkey_url: str, redis: Redis, tmp_path: Path
) -> None:
    store = ("--redis", valkey_url)
    with ServerProcess(tmp_path, *store) as one, ServerProcess(tmp_path, *store) as two:
        async with Client(one.url, name="ada") as a, Client(two.url, name="ivo") as b:
            first = await a.create_race("sally", countdown_s=0)
            second = await b.join(first.code)
            await second.ready()
            await first.ready()
            async with asyncio.timeout(PATIENCE_S):
                await second.until_go()
                await second.until(lambda: second.view.players[0].present)
                one.stop(signal.SIGKILL)
                await second.move(DRAW)
                await second.until(lambda: not second.view.players[0].present)
                assert second.view.players[1].present
                await second.move(DRAW)
                async with Client(two.url, token=a.token) as back:
                    again = await back.resume(first.id)
                    await second.until(lambda: second.view.players[0].present)
                    await again.bank()
                    await second.bank()
                    await second.until_closed()


async def test_players_of_a_frozen_node_are_absent_until_it_goes_on(
    valkey_url: str, redis: Redis, tmp_path: Path
) -> None:
    store = ("--redis", valkey_url)
    with ServerProcess(tmp_path, *store) as one, ServerProcess(tmp_path, *store) as two:
        async with Client(one.url, name="ada") as a, Client(two.url, name="ivo") as b:
            first = await a.create_race("sally", countdown_s=0)
            second = await b.join(first.code)
            await second.until(lambda: second.view.players[0].present)
            async with asyncio.timeout(PATIENCE_S):
                one.process.send_signal(signal.SIGSTOP)
                try:
                    await second.until(lambda: not second.view.players[0].present)
                finally:
                    one.process.send_signal(signal.SIGCONT)
                await second.until(lambda: second.view.players[0].present)
                await first.until(lambda: first.view.players[1].present)


@pytest.mark.parametrize("far", [False, True], ids=["same node", "other node"])
async def test_p01_a_late_close_of_the_old_socket_changes_nothing(
    valkey_url: str, redis: Redis, tmp_path: Path, far: bool
) -> None:
    store = ("--redis", valkey_url)
    with ServerProcess(tmp_path, *store) as one, ServerProcess(tmp_path, *store) as two:
        async with wired(one.url, "ada") as old, wired(one.url, "ivo") as rival:
            race = (await old.seated(ask.Create(id=old.next_id(), game="sally"))).race
            await rival.seated(ask.Join(id=rival.next_id(), code=race.code))
            async with wired(two.url if far else one.url, "ada", token=old.token) as new:
                await new.seated(ask.Resume(id=new.next_id(), race=race.id))
                await eventually(lambda: bool(old.all(say.TakenOver)))
                old.abort()
                await eventually(lambda: old.is_closed)
                await new.done(ask.Ready(id=new.next_id(), race=race.id))
                await eventually(
                    lambda: any(room.race.players[0].ready for room in rival.all(say.Room))
                )
                assert all(shown_present(rival, 1))
                assert all(shown_present(new, 1))
                assert not new.all(say.TakenOver)
                new.abort()
                await eventually(lambda: not shown_present(rival, 1)[-1])
                assert shown_present(rival, 2)[-1]


def two_seats(race_id: str) -> NewRace:
    return NewRace(
        id=race_id,
        code="AAAAA",
        game="sally",
        rules_version=1,
        seed=bytes(32),
        commitment="0" * 64,
        practice=True,
        options=RaceOptions(),
        round=1,
        host=1,
        roster=(SeatState(1, "a", "ada", bot=False), SeatState(2, "b", "ivo", bot=False)),
    )


async def test_p11_every_order_of_drops_and_returns_names_the_right_player(redis: Redis) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    stores = {node: RaceStore(redis, node) for node in ("one", "two")}
    await stores["one"].create(two_seats("x"))
    held: dict[str, list[tuple[str, Attached]]] = {"a": [], "b": []}
    newest: dict[int, str] = {}
    for _ in range(300):
        player, node = rng.choice("ab"), rng.choice(["one", "two"])
        if rng.random() < 0.5 or not held[player]:
            attached = await stores[node].attach("x", player)
            assert isinstance(attached, Attached)
            held[player].append((node, attached))
            newest[attached.seat] = node
        else:
            # Any connection it ever had may close now, also one that closed before.
            on, attached = rng.choice(held[player])
            await stores[on].detach("x", attached.seat, attached.epoch)
            if attached == held[player][-1][1]:
                newest.pop(attached.seat, None)
        state = await stores["one"].load("x")
        assert state is not None
        seats = state.seats.values()
        assert {seat.seat: seat.node for seat in seats if seat.present} == newest
