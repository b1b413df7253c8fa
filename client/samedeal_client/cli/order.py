"""The result of a race: the final order, the seed, and whether it fits the commitment."""

from samedeal.engine.counts import counted
from samedeal.engine.deals import commitment
from samedeal.engine.games import game
from samedeal.protocol.fields import OrderRow, RaceView, Status
from samedeal_client.cli.output import Voice
from samedeal_client.errors import ClientError
from samedeal_client.replays.text import time_text

__all__ = ["is_first", "order_lines", "rating", "seed_fits", "tell_result"]


def is_first(view: RaceView, seat: int) -> bool:
    """Whether a seat took the first place, shared or not."""
    return any(row.seat == seat and row.place == 1 for row in view.order)


def seed_fits(view: RaceView) -> bool:
    """Whether the seed is the one the server was bound to. Raise ClientError without a race."""
    if view.seed is None:
        raise ClientError("the room was closed before the race began")
    return commitment(game(view.game), bytes.fromhex(view.seed)) == view.commitment


def tell_result(voice: Voice, view: RaceView, *, replay: str | None = None) -> None:
    """Say how a closed race ended. Raise ClientError if it never began."""
    if is_sealed := view.day is not None and view.seed is None and bool(view.order):
        seed = "* the seed is public when the day is closed, an hour after its end"
    else:
        seed = f"* seed {view.seed} {'fits' if seed_fits(view) else 'DOES NOT FIT'} the commitment"
    fits = None if is_sealed else seed_fits(view)
    lines = ["* final order" if view.day is None else "* result", *order_lines(view), seed]
    if replay is not None:
        lines.append(f"* replay: {replay} (samedeal verify {replay})")
    order = [row.model_dump(mode="json") for row in view.order]
    voice.say("closed", "\n".join(lines), order=order, seed=view.seed, fits=fits, replay=replay)


def order_lines(view: RaceView) -> list[str]:
    """The final order, a line each; equal places are shared."""
    return [_order_line(row) for row in view.order]


def _order_line(row: OrderRow) -> str:
    name = f"{row.name} (bot)" if row.bot else row.name
    how = {
        Status.WON: "won",
        Status.BANKED: "banked",
        Status.LEFT: "left",
        Status.STUCK: "stuck",
        Status.CUT_OFF: "cut off by the close",
        Status.PLAYING: "playing",
    }[row.status]
    at = time_text(row.t_ms)
    moves = counted(row.moves, "move")
    line = f"{row.place}. {name}: {how}, best {row.best}, opened {row.opened}, {moves}, {at}"
    if row.rating is None or row.rating_before is None:
        return line
    return f"{line}, rating {row.rating_before} -> {rating(row.rating, row.provisional)}"


def rating(number: int, is_provisional: bool) -> str:
    """Write a rating; one with a question mark rests on few races yet."""
    return f"{number}{'?' if is_provisional else ''}"
