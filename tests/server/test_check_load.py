"""Work of the server's own on its processor, beside players who race."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from raw import Raw, binary, raw
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal_server.app import running
from samedeal_server.board_check import BoardCheck
from samedeal_server.buckets import Limits
from samedeal_server.settings import Settings
from samedeal_server.store import keys
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from support import eventually
from wire import Wire, race_of, wired

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

LONG = 20_000
"""Actions of a run that takes the engine as long as hundreds of usual ones."""


async def long_race(redis: Redis, *wires: Wire) -> None:
    """A closed race whose runs are as long as hundreds."""
    race = await race_of(*wires, game="sally")
    for wire in wires:
        await wire.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
        await wire.get(say.Done, ask.Bank, race=race)
    await eventually(lambda: bool(wires[0].all(say.Closed)))
    for seat in (1, 2):
        pipe = redis.pipeline(transaction=False)
        for seq in range(2, LONG + 1):
            pipe.xadd(keys.log(race, seat), {"a": "draw", "t": str(seq)}, id=f"{seq}-0")
        await pipe.execute()


async def test_p13_a_check_of_thousands_of_moves_keeps_no_player_waiting(
    redis: Redis, valkey_url: str, tmp_path: Path
) -> None:
    settings = Settings("127.0.0.1", 0, valkey_url, tmp_path, limits=Limits(None, None, None))
    async with running(settings) as port:
        url = f"ws://127.0.0.1:{port}"
        async with wired(url, "ada") as ada, wired(url, "ivo") as ivo:
            await long_race(redis, ada, ivo)
            race = await race_of(ada, ivo, game="sally", time_limit_s=600)
            check = BoardCheck(BoardStore(redis), RaceStore(redis, "check"), DayStore(redis))
            async with raw(url, token=ivo.token) as player:
                await player.write(player.frames(binary(ask.Resume(id=1, race=race))))
                checking = asyncio.create_task(check.check("2026-11-30", 0))
                # Both runs are played again for each of the two rows.
                acks = 0
                while not checking.done():
                    acks += 1
                    await drawn(player, race, acks)
            report = await checking
            assert report["checked"] == 2
            assert acks > 400
            assert not ada.is_closed


async def drawn(player: Raw, race: str, seq: int) -> None:
    """Draw, and read on until that is acknowledged. A close instead of an answer fails."""
    move = ask.PlayMove(id=seq + 1, race=race, seq=seq, move="draw")
    await player.write(player.frames(binary(move)))
    while not isinstance(answer := await player.answer(), say.Ack):
        assert not isinstance(answer, say.Refused), answer
