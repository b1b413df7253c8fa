"""A replay on a screen: boards side by side, where everyone stands, keys."""

from typing import Final

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal_client.model.board import draw
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import Canvas, Ink, Row, clipped
from samedeal_client.model.keys import Action, ScreenKeys
from samedeal_client.model.tracks import bar_of, name_room
from samedeal_client.replays.model import ReplayModel
from samedeal_client.replays.text import action_text, time_text
from samedeal_client.replays.track import Frame, Track

__all__ = ["press", "review_rows"]

_NARROW: Final = 39
_WIDE: Final = 48
_PAGE: Final = 10


def press(model: ReplayModel, action: Action | None, keys: ScreenKeys) -> str | None:
    """Do what a key says. Return what there is to say about it; None if the key says nothing."""
    said = ""
    if action is Action.PLAY:
        model.pause() if model.is_playing else model.play()
    elif action in (Action.LEFT, Action.RIGHT):
        model.pause()
        said = _go(model, 1 if action is Action.RIGHT else -1, keys)
    elif action in (Action.SCROLL_UP, Action.SCROLL_DOWN):
        model.pause()
        said = _go(model, _PAGE if action is Action.SCROLL_DOWN else -_PAGE, keys)
    elif action in (Action.FASTER, Action.SLOWER):
        model.faster() if action is Action.FASTER else model.slower()
    elif action is Action.NEXT_BOARD:
        model.turn_focus()
    elif action is Action.DEAL:
        model.step(-model.end)
    elif action is Action.END:
        model.step(model.end)
    elif action is Action.DIFFERENCE:
        there_is = model.next_difference()
        said = (
            "the first two boards differ here"
            if there_is
            else "no later action takes the first two boards apart"
        )
    else:
        return None
    return said


def _go(model: ReplayModel, count: int, keys: ScreenKeys) -> str:
    """Go so many moves of the leading run on; the others show the same instant."""
    seq = model.seq(model.focus)
    if count > 0 and seq == model.focused.last:
        # Seeking its last move would go back to it, where others were still moving.
        key = keys.name(Action.NEXT_BOARD)
        return f"{model.focused.name} makes no more moves; {key} lets another run lead"
    model.seek(seq + count)
    return ""


def review_rows(
    model: ReplayModel,
    faces: Faces,
    keys: ScreenKeys,
    width: int,
    height: int,
    sentence: str = "",
) -> list[Row]:
    """Draw it: as many boards as fit, the focused run's first."""
    canvas = Canvas(width, height)
    rules = game(*model.tracks[0].deal[:2])
    state = "playing" if model.is_playing else "paused"
    canvas.put(0, 1, f"REPLAY {rules.title.upper()}", Ink.TITLE)
    canvas.put(
        0,
        12 + len(rules.title),
        f"{time_text(model.t_ms)} of {time_text(model.end_ms)}  x{model.speed:g}  {state}  "
        f"action {model.seq(model.focus)} of {model.focused.last}",
    )
    lines = len(model.tracks)
    at = height - 3 - lines
    _boards(canvas, model, faces, 1, at - 1)
    for index, (track, frame) in enumerate(zip(model.tracks, model.frames, strict=True)):
        _standing(canvas, at + index, track, frame, is_focused=index == model.focus)
    last = model.last
    told = f"{last[0].name} {last[1].seq}: {action_text(last[1])}" if last else "the deal"
    canvas.put(
        height - 2, 1, sentence or faces.sentence(told), Ink.TITLE if sentence else Ink.PLAIN
    )
    foot = keys.foot(
        width - 1,
        (Action.PLAY, "play"),
        ((Action.LEFT, Action.RIGHT), "move"),
        (Action.NEXT_BOARD, "leader"),
        ((Action.FASTER, Action.SLOWER), "pace"),
        (Action.DIFFERENCE, "diff"),
        (Action.GHOST, "race"),
        (Action.DEAL, "deal"),
        (Action.BACK, "back"),
    )
    canvas.put(height - 1, 1, foot, Ink.DIM)
    return canvas.rows()


def _boards(canvas: Canvas, model: ReplayModel, faces: Faces, top: int, bottom: int) -> None:
    rules = game(*model.tracks[0].deal[:2])
    least = _NARROW if rules.in_suit and len(rules.columns) < 8 else _WIDE
    fitting = max(1, min(len(model.tracks), (canvas.width + 1) // (least + 1)))
    size = (canvas.width + 1) // fitting - 1
    order = [(model.focus + step) % len(model.tracks) for step in range(len(model.tracks))]
    for place, index in enumerate(order[:fitting]):
        left = place * (size + 1)
        track, frame = model.tracks[index], model.frames[index]
        ink = Ink.OWN if index == model.focus else Ink.PLAIN
        canvas.put(top, left + 1, f"{track.name}, after action {frame.seq}", ink)
        picture = draw(track.table(frame.seq), min(size, 68), bottom - top - 1, faces, boxes=False)
        for offset, line in enumerate(picture.rows):
            canvas.put_row(top + 1 + offset, left, line)
        if place:
            for row in range(top, bottom):
                canvas.put(row, left - 1, "|" if faces.is_ascii else "│", Ink.DIM)


def _standing(canvas: Canvas, at: int, track: Track, frame: Frame, *, is_focused: bool) -> None:
    """One run in a row: a bar of cards home, and the numbers."""
    rules = game(*track.deal[:2])
    most = rules.total - rules.dealt_to_foundations
    name_cells = name_room(canvas.width)
    bar, _ = bar_of(frame.home, most, max(10, canvas.width - 36 - name_cells))
    text = (
        f"{'>' if is_focused else ' '} {clipped(track.name, name_cells)} [{bar}] "
        f"{frame.home:>3} home, {frame.opened:>2} opened, {counted(frame.seq, 'move', 3)}"
    )
    canvas.put(at, 0, text, Ink.OWN if is_focused else Ink.PLAIN)
