"""A node that stops between the end of a race and its rows on the boards."""

import asyncio
import signal
from pathlib import Path

from racestore import ADA, IVO, RACE, Store
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.fields import Phase, Status
from samedeal_server.results import results_of, updates
from samedeal_server.rows import Board
from samedeal_server.store import keys
from samedeal_server.store.boards import BoardStore, Label
from support import ServerProcess, eventually

WINS = Board("lanes", BoardKind.WINS)


async def ended(store: Store) -> None:
    """A race that is closed, but booked nowhere."""
    ada, ivo = await store.running()
    await store.commit(ada, 1, best=2, rose=True)
    await store.commit(ivo, 1)
    for player in (ADA, IVO):
        await store.races.leave(RACE, player, Status.BANKED)
    await store.advance()
    assert (await store.state()).phase is Phase.CLOSED


async def counts(boards: BoardStore) -> dict[str, tuple[int, int]]:
    page = await boards.top(WINS, 9)
    decoded = ((shown.row.player, WINS.order.decode(shown.row.order)) for shown in page.rows)
    return {player: (values["wins"], values["races"]) for player, values in decoded}


async def test_whatever_was_booked_half_is_booked_whole_and_once(
    store: Store, valkey_url: str, tmp_path: Path
) -> None:
    await ended(store)
    boards, state = BoardStore(store.redis), await store.state()
    # The node that closed it was killed behind ada's row.
    first, _ = results_of(state)
    await boards.book("lanes", first, updates("lanes", first, bots=False), Label("ada", bot=False))
    assert await counts(boards) == {ADA: (1, 1)}
    expected = {ADA: (1, 1), IVO: (0, 1)}

    async def is_booked() -> bool:
        return await counts(boards) == expected and await store.redis.zcard(keys.due()) == 0

    for how in (signal.SIGKILL, signal.SIGTERM):
        server = ServerProcess(tmp_path, "--redis", valkey_url)
        await asyncio.to_thread(server.__enter__)
        try:
            await eventually(is_booked)
        finally:
            await asyncio.to_thread(server.stop, how)
        # Killed before the race was forgotten: the next server books it once more.
        await store.races.schedule({RACE: 0})
    assert await counts(boards) == expected
