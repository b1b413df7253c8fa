"""Who a race waits for, and until when, once the own run is over."""

from typing import Final

from samedeal.protocol.fields import PlayerView, RaceView, Status
from samedeal_client.model.clock import clock

__all__ = ["only_bots", "still_playing", "waiting", "waits_for"]

_NAMED: Final = 3


def still_playing(view: RaceView, seat: int) -> list[PlayerView]:
    """The others whose runs go on."""
    return [one for one in view.players if one.seat != seat and one.status is Status.PLAYING]


def only_bots(view: RaceView, seat: int) -> bool:
    """Whether nobody but bots plays on: then a person who is done may end the race."""
    on = still_playing(view, seat)
    return bool(on) and all(one.bot for one in on)


def waits_for(view: RaceView, seat: int) -> str:
    """The names of those who play on, with what they are; empty if there are none."""
    on = still_playing(view, seat)
    names = [
        f"{one.name}{' (bot)' if one.bot else '' if one.present else ' (link lost)'}"
        for one in on[:_NAMED]
    ]
    more = [f"{len(on) - _NAMED} more"] if len(on) > _NAMED else []
    return ", ".join([*names, *more])


def waiting(view: RaceView, seat: int, clock_ms: int) -> str:
    """Say what the race waits for, and how long that can take."""
    names = waits_for(view, seat)
    if not names:
        return "all runs are over, the race closes"
    is_last_call = any(one.status is Status.WON for one in view.players)
    until = "last call" if is_last_call else "time limit"
    has_won = any(one.seat == seat and one.status is Status.WON for one in view.players)
    won = "you won; " if has_won else ""
    return f"{won}waiting for {names}: {clock(view.deadline_ms - clock_ms)} to the {until}"
