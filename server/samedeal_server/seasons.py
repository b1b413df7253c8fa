"""How well did somebody do in a week of days? The mean share of the others beaten. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from samedeal.protocol.board_messages import BoardKind
from samedeal_server.rows import ORDERS, SEASON_UNIT, Row

__all__ = ["DAYS_AT_LEAST", "DAYS_COUNTED", "points", "shares"]

DAYS_AT_LEAST: Final = 3
DAYS_COUNTED: Final = 5


def shares(rows: Sequence[Row]) -> Iterator[tuple[Row, int]]:
    """The share of the others each beat on a day, ties half, in hundredths of a percent.

    `rows` are in order. Who was alone has beaten nobody and lost to nobody: no share.
    """
    if len(rows) < 2:
        return
    before = 0
    for _, group in groupby(rows, key=lambda row: row.order):
        equal = list(group)
        behind = len(rows) - before - len(equal)
        share = (2 * behind + len(equal) - 1) * 10_000 // (2 * (len(rows) - 1))
        for row in equal:
            yield row, share
        before += len(equal)


def points(days: Iterable[Sequence[Row]]) -> list[Row]:
    """The rows of a season: the mean of the best days, for who played enough of them.

    A row stands for the best day's run, and was achieved with the last day that counts.
    """
    of: dict[str, list[tuple[int, Row]]] = {}
    for rows in days:
        for row, share in shares(rows):
            of.setdefault(row.player, []).append((share, row))
    season = []
    for player, played in of.items():
        if len(played) < DAYS_AT_LEAST:
            continue
        best = sorted(played, key=lambda day: (-day[0], day[1].at_ms))[:DAYS_COUNTED]
        # A mean of whole numbers, in parts so small that it is a whole number too.
        total = sum(share for share, _ in best) * SEASON_UNIT // len(best)
        order = ORDERS[BoardKind.SEASON].encode(total)
        season.append(Row(order, max(row.at_ms for _, row in best), player, best[0][1].run))
    return season
