"""A bot over a connection like any player's: it plays what the greedy strategy chooses."""

import asyncio

from samedeal.engine.errors import IllegalMove
from samedeal.greedy import Greedy
from samedeal.protocol.fields import Phase
from samedeal_client.errors import Refused, Unanswered
from samedeal_client.race import Race

__all__ = ["play"]


async def play(race: Race, *, seed: int = 0, pace_s: float = 0.3) -> None:
    """Play a race from GO until nothing is left to do, then bank. `pace_s` is seconds a move."""
    greedy = Greedy(seed)
    await race.until_go()
    try:
        while race.view.phase is not Phase.CLOSED and not race.table.is_won:
            move = greedy.choose(race.table)
            if move is None:
                await race.bank()
                break
            try:
                await race.move(move)
            except Unanswered:
                # It is kept, and the table does not show its outcome yet.
                await race.until(lambda: not race.model.outbox)
            await asyncio.sleep(pace_s)
    except (Refused, IllegalMove):
        # The race closed under its hands: the order says the rest.
        pass
    await race.until_closed()
