"""A finished race in a few lines of text to share, without a card of the deal in them."""

from typing import Final

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.printable import printable
from samedeal_client.replays.replay import Replay
from samedeal_client.replays.text import time_text
from samedeal_client.replays.track import Track

__all__ = ["MAX_LINES", "card_lines"]

MAX_LINES: Final = 6
BAR: Final = 10


def card_lines(replay: Replay, *, seat: int | None = None) -> list[str]:
    """At most MAX_LINES lines: the race, then the players by place, `seat` always among them."""
    file = replay.file
    rules = game(file.game, file.rules_version)
    what = f"samedeal {rules.title} {printable(file.code)}".rstrip()
    lines = [f"{what}, {file.started[:10]}"]
    tracks = list(replay.tracks)
    room = MAX_LINES - 1
    if len(tracks) > room:
        room -= 1
    shown = tracks[:room]
    own = [track for track in tracks if track.player.seat == seat]
    if own and own[0] not in shown:
        shown[-1] = own[0]
    most = rules.total - rules.dealt_to_foundations
    width = max(len(track.name) for track in shown)
    lines += [_line(track, most, width) for track in shown]
    if len(tracks) > len(shown):
        lines.append(f"and {len(tracks) - len(shown)} more")
    return lines


def _line(track: Track, most: int, width: int) -> str:
    row = track.standing
    full = BAR * max(0, row.best) // most
    how = f"won in {time_text(row.t_ms)}" if row.won else f"{row.best} of {most} home"
    bar = "#" * full + "." * (BAR - full)
    return f"{row.place}. {track.name:{width}} [{bar}] {how}, {counted(row.moves, 'move')}"
