"""The score of a series of races as one line, the own one first."""

from samedeal.protocol.fields import RaceView

__all__ = ["series_line"]


def series_line(view: RaceView, seat: int) -> str:
    """Say how a series stands: `you 2 : 1 ada (best of 5)`. Empty where one race is all."""
    if view.options.best_of == 1 or len(view.players) < 2:
        return ""
    players = sorted(view.players, key=lambda player: player.seat != seat)
    me, *others = players
    if len(others) == 1:
        score = f"you {me.series} : {others[0].series} {others[0].name}"
    else:
        score = ", ".join(f"{p.name if p is not me else 'you'} {p.series}" for p in players)
    needed = view.options.wins_needed
    first = [player for player in players if player.series >= needed]
    over = f", decided for {' and '.join(p.name for p in first)}" if first else ""
    return f"{score} (best of {view.options.best_of}{over})"
