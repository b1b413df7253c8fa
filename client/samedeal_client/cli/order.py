"""The final order as lines for people."""

from samedeal.protocol.fields import OrderRow, RaceView, Status

__all__ = ["is_first", "order_lines"]


def is_first(view: RaceView, seat: int) -> bool:
    """Whether a seat took the first place, shared or not."""
    return any(row.seat == seat and row.place == 1 for row in view.order)


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
    at = f"{row.t_ms // 60000}:{row.t_ms / 1000 % 60:05.2f}"
    return (
        f"{row.place}. {name}: {how}, best {row.best}, opened {row.opened}, {row.moves} moves, {at}"
    )
