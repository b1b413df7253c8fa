"""Two servers on one store: any node serves any player, and a player may change nodes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from samedeal.engine.moves import DRAW
from samedeal.protocol.fields import Phase
from samedeal_client.connection import Client
from support import PATIENCE_S, ServerProcess


async def test_players_of_one_race_sit_on_two_nodes_and_one_changes_over(tmp_path: Path) -> None:
    store = f"unix://{tmp_path / 'data' / 'store.sock'}"
    with (
        ServerProcess(tmp_path / "data") as one,
        ServerProcess(tmp_path / "unused", "--redis", store) as two,
    ):
        async with Client(one.url, name="ada") as a, Client(two.url, name="ivo") as b:
            first = await a.create_race("lanes", countdown_s=0)
            second = await b.join(first.code)
            await second.ready()
            await first.ready()
            async with asyncio.timeout(PATIENCE_S):
                await first.until_go()
                await second.until_go()
                assert first.table.hash == second.table.hash
                await first.move(DRAW)
                await second.until(lambda: second.view.players[0].moves == 1)
                await second.move(DRAW)
                await first.until(lambda: first.view.players[1].moves == 1)
                async with Client(two.url, token=a.token) as moved:
                    race = await moved.resume(first.id)
                    await first.until(lambda: first.is_taken_over)
                    assert race.table.hash == first.table.hash
                    await race.move(DRAW)
                    await race.bank()
                    await second.bank()
                    await race.until_closed()
                    await second.until_closed()
                    assert race.view.order == second.view.order
                    assert race.view.phase is Phase.CLOSED
                    assert sorted(row.moves for row in race.view.order) == [1, 2]
