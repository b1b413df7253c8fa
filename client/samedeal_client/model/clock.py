"""Times of a race as a player reads them, and what its clock shows now."""

from samedeal.protocol.fields import Phase, RaceView

__all__ = ["clock", "shown_clock"]


def clock(ms: int) -> str:
    """A time of a race, to the second."""
    seconds = max(0, ms) // 1000
    if seconds >= 3600:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{seconds // 60:02}:{seconds % 60:02}"


def shown_clock(view: RaceView, since_s: float) -> int:
    """Milliseconds since GO now, `since_s` after the view came."""
    running = view.phase in (Phase.COUNTDOWN, Phase.RUNNING)
    return view.clock_ms + (round(since_s * 1000) if running else 0)
