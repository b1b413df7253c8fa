"""Runs that a person can hardly have played, told from the times of their actions."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, pstdev

from samedeal.engine.run import UNDO
from samedeal.protocol.fields import Phase
from samedeal_server.race import RaceState
from samedeal_server.store.audit import AuditStore, Flag
from samedeal_server.store.races import RaceStore

__all__ = ["Suspicion", "suspicions"]

BURST, BURST_MS = 20, 4000
"""So many moves of cards in a row, in so short a time: the eye alone takes longer."""
EVEN, EVEN_SPREAD = 40, 0.04
"""So many gaps that differ by less than this share of their mean: nobody keeps time like that."""
SLOW_MS = 2000
"""A run of a slower pace than this, over all of it, is not looked at."""
_BY_KEY = ("draw", UNDO.value)
"""Actions that a key held down repeats; they say nothing about who plays."""


def suspicions(log: Sequence[tuple[str, int]]) -> list[str]:
    """Return what is implausible about a run's (action, ms from GO), each in words."""
    found = []
    times = [t_ms for action, t_ms in log if action not in _BY_KEY]
    # Between them there may have been draws: that only makes it slower.
    quickest = min(
        (last - first for first, last in zip(times, times[BURST - 1 :], strict=False)), default=None
    )
    if quickest is not None and quickest < BURST_MS:
        found.append(f"{BURST} moves in {quickest / 1000:.1f} s")
    gaps = [after - before for before, after in pairwise(times)]
    if len(gaps) >= EVEN and (mean := fmean(gaps)) > 0 and pstdev(gaps) < EVEN_SPREAD * mean:
        found.append(f"{len(gaps)} moves as even as a clock, every {mean / 1000:.2f} s")
    return found


class Suspicion:
    """Looks at the runs of a closed race, and notes those that no person can have played."""

    def __init__(self, races: RaceStore, audit: AuditStore) -> None:
        self._races = races
        self._audit = audit

    async def book(self, state: RaceState) -> None:
        """Look at the runs of people. Again changes nothing."""
        if not state.was_run or state.practice or state.phase is not Phase.CLOSED:
            return
        for seat in state.seats.values():
            if seat.bot or seat.seq < BURST or seat.t_ms > SLOW_MS * seat.seq:
                continue
            why = suspicions(await self._races.log(state.id, seat.seat))
            if why:
                run = f"{state.id}.{seat.seat}"
                text = "; ".join(why)
                await self._audit.flag(Flag(run, seat.player, state.game, state.now_ms, text))
