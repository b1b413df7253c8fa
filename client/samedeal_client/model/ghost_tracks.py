"""Ghosts beside a live run on a screen: as tracks while it goes on, as rows of its result."""

from typing import TYPE_CHECKING, Final

from samedeal.engine.scoring import Outcome
from samedeal.protocol.fields import OrderRow, PlayerView, RaceView, Status

if TYPE_CHECKING:
    from samedeal_client.ghosts import Ghost, Ghosts

__all__ = ["among_ghosts", "is_ghost", "with_ghosts"]

_FIRST: Final = 101
"""Their seats are beyond those of any race."""


def is_ghost(seat: int) -> bool:
    """Whether a seat that is shown is a ghost's."""
    return seat >= _FIRST


def with_ghosts(view: RaceView, ghosts: "Ghosts", clock_ms: int) -> RaceView:
    """The room as if the ghosts sat in it, each where it stood at this time."""
    seen = [
        _player(seat, ghost) for seat, ghost in enumerate(ghosts.at(max(0, clock_ms)), start=_FIRST)
    ]
    return view.model_copy(update={"players": (*view.players, *seen)})


def _player(seat: int, ghost: "Ghost") -> PlayerView:
    status = Status.PLAYING
    if ghost.is_done:
        status = Status.WON if ghost.won else Status.BANKED
    # Not validated: no server has such a seat.
    return PlayerView.model_construct(
        seat=seat,
        name=ghost.name.removeprefix("ghost of ").removesuffix(" (bot)"),
        present=True,
        status=status,
        home=ghost.home,
        best=ghost.best,
        opened=ghost.opened,
        moves=ghost.moves,
        t_ms=ghost.t_ms,
    )


def among_ghosts(view: RaceView, ghosts: "Ghosts", name: str, own: Outcome) -> RaceView:
    """The result as if all had raced at once; nothing but the screen knows of it."""
    mine = next(iter(view.order))
    rows = []
    for seat, place in enumerate(ghosts.compared(name, own), start=_FIRST):
        outcome = place.outcome
        won = outcome.has_won
        ended = Status.WON if won else Status.BANKED
        rows.append(
            OrderRow.model_construct(
                place=place.place,
                seat=seat if place.is_ghost else mine.seat,
                name=place.name,
                bot=False,
                status=ended if place.is_ghost else mine.status,
                won=won,
                home=outcome.best,
                best=outcome.best,
                opened=outcome.opened,
                moves=outcome.moves,
                t_ms=outcome.t_ms if won else outcome.t_best_ms,
            )
        )
    return view.model_copy(update={"order": tuple(rows)})
