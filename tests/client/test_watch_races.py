"""Watching by the client library, on real servers that are killed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

import pytest

from rig import Node, OwnStore
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase
from samedeal_client.connection import Client
from samedeal_client.errors import Refused
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from samedeal_client.race import Race
    from samedeal_client.sight import Sight


@pytest.fixture
async def clients(server_url: str) -> AsyncIterator[tuple[Client, Client, Client]]:
    async with (
        Client(server_url, name="wanda") as ada,
        Client(server_url, name="wotan") as ivo,
        Client(server_url, name="wilma") as eva,
    ):
        yield ada, ivo, eva


async def race_of(ada: Client, ivo: Client, **options: Any) -> tuple[Race, Race]:
    mine = await ada.create_race("lanes", countdown_s=0, seats=2, **options)
    other = await ivo.join(mine.code)
    for race in (mine, other):
        await race.ready()
    for race in (mine, other):
        await race.until_go()
    return mine, other


class Spectator:
    """Keeps every sight of a race."""

    def __init__(self, client: Client, race: str) -> None:
        self.sights: list[Sight] = []
        self.reading = asyncio.create_task(self._read(client, race))

    async def _read(self, client: Client, race: str) -> None:
        async for sight in client.watch(race):
            self.sights.append(sight)

    def sees(self, seat: int, seq: int) -> bool:
        board = self.sights[-1].boards.get(seat) if self.sights else None
        return board is not None and board.seq == seq

    def is_in_order(self) -> bool:
        """Whether no sight showed an older state of anything than one before it."""
        vers = [sight.race.ver for sight in self.sights]
        seqs: dict[int, list[int]] = {}
        for sight in self.sights:
            for seat, board in sight.boards.items():
                seqs.setdefault(seat, []).append(board.seq)
            for player in sight.race.players:
                seqs.setdefault(-player.seat, []).append(player.moves)
        return all(found == sorted(found) for found in (vers, *seqs.values()))


async def test_a_race_is_seen_to_its_close_with_tables_that_are_the_players(
    clients: tuple[Client, Client, Client],
) -> None:
    ada, ivo, eva = clients
    mine, other = await race_of(ada, ivo)

    async def is_listed() -> bool:
        return mine.id in [race.race for race in await eva.live()]

    await eventually(is_listed)
    spectator = Spectator(eva, mine.code)
    for _ in range(3):
        await mine.move("draw")
    await eventually(lambda: spectator.sees(1, 3))
    table = spectator.sights[-1].table(1)
    assert table is not None
    assert table.hash == mine.table.hash
    for race in (mine, other):
        await race.bank()
    await spectator.reading
    last = spectator.sights[-1]
    assert last.race.phase is Phase.CLOSED
    await mine.until_closed()
    assert (last.race.seed, last.race.order) == (mine.view.seed, mine.view.order)
    assert spectator.is_in_order()


async def test_what_may_not_be_watched_is_refused_with_the_reason(
    clients: tuple[Client, Client, Client],
) -> None:
    ada, ivo, eva = clients
    mine, _ = await race_of(ada, ivo, spectating="off")
    for client, word in ((eva, "nobody may watch"), (ivo, "you hold a seat")):
        async with aclosing(client.watch(mine.code)) as sights:
            with pytest.raises(Refused, match=word) as refused:
                await anext(sights)
        assert refused.value.code is ErrorCode.NOT_SHOWN
    assert mine.id not in [race.race for race in await eva.live()]


async def test_who_stops_watching_is_not_counted_any_more(
    clients: tuple[Client, Client, Client],
) -> None:
    ada, ivo, eva = clients
    mine, _ = await race_of(ada, ivo)
    async with aclosing(eva.watch(mine.code)) as sights:
        await anext(sights)
        await mine.until(lambda: mine.view.crowd == 1)
    await mine.until(lambda: mine.view.crowd == 0)


async def test_a_watcher_of_killed_nodes_sees_the_right_end_within_two_seconds(
    tmp_path: Path,
) -> None:
    """The players' node and the watcher's are killed in turn; a third one stays."""
    async with AsyncExitStack() as stack:
        store = OwnStore(tmp_path / "store")
        await store.start()
        stack.push_async_callback(store.stop)
        nodes = [Node(tmp_path / f"n{number}", "--redis", store.url) for number in range(3)]
        for node in nodes:
            await node.start()
        stays, first, second = nodes
        stack.push_async_callback(stays.stop)
        players = ",".join((first.url, stays.url))
        ada = await stack.enter_async_context(Client(players, name="wanda"))
        ivo = await stack.enter_async_context(Client(players, name="wotan"))
        eva = await stack.enter_async_context(Client(f"{second.url},{stays.url}", name="wilma"))
        mine, other = await race_of(ada, ivo)
        spectator = Spectator(eva, mine.code)
        acked = 0
        for killed in (None, second, first):
            if killed is not None:
                await killed.kill()
            for _ in range(4):
                await mine.move("draw")
                await other.move("draw")
                acked += 1
            await eventually(lambda: spectator.sees(1, acked) and spectator.sees(2, acked))  # noqa: B023 - called in this turn
        for race in (mine, other):
            await race.bank()
        await mine.until_closed()
        async with asyncio.timeout(2):
            await spectator.reading
        last = spectator.sights[-1]
        assert (last.race.seed, last.race.order) == (mine.view.seed, mine.view.order)
        assert (acked, spectator.sees(1, acked), spectator.sees(2, acked)) == (12, True, True)
        for seat, race in ((1, mine), (2, other)):
            table = last.table(seat)
            assert table is not None
            assert table.hash == race.table.hash
        assert any(not sight.is_up for sight in spectator.sights)
        assert spectator.is_in_order()
