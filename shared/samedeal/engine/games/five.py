"""The five rule sets that races are made for: section 2 of the rules, as values."""

from __future__ import annotations

from typing import Final

from samedeal.engine.rules import DOWN, UP, Base, Rules, Space

__all__ = ["FIVE", "SALLY"]

_ACES: Final = (0, 13, 26, 39)
_KINGS: Final = (12, 25, 38, 51)

SALLY: Final = Rules(
    id="sally",
    title="Sally",
    summary="two packs, one card sets the base, columns wrap; almost always winnable",
    packs=2,
    foundations=(UP,) * 8,
    base=Base.FIRST_CARD,
    columns=(1, 2, 3, 4, 5, 6, 7, 8, 9),
    wraps=True,
    space=Space.HIGH,
    draw=3,
)

_SALLY_KINGS: Final = Rules(
    id="sally-kings",
    title="Sally with Kings",
    summary="two packs, all eight base cards dealt home, only Kings fill a space; "
    "close to unwinnable unless the base is an ace",
    packs=2,
    foundations=(UP,) * 8,
    base=Base.WHOLE_RANK,
    takes_back=True,
    columns=(1, 2, 3, 4, 5, 6, 7, 8, 9),
    draw=3,
)

_ACEY_AND_KINGSLEY: Final = Rules(
    id="acey-and-kingsley",
    title="Acey and Kingsley",
    summary="two packs, four foundations up and four down in any suit, two reserves, one pass",
    packs=2,
    foundations=(UP,) * 4 + (DOWN,) * 4,
    in_suit=False,
    dealt_home=_ACES + _KINGS,
    takes_back=True,
    columns=(1,) * 4,
    open_columns=True,
    builds=False,
    moves_runs=False,
    space=Space.ANY,
    reserves=2,
    reserve_size=13,
    passes=1,
)

_LANES: Final = Rules(
    id="lanes",
    title="Lanes",
    summary="one pack, aces dealt home, six open columns, one card at a time, one pass",
    dealt_home=_ACES,
    takes_back=True,
    columns=(3,) * 6,
    open_columns=True,
    moves_runs=False,
    space=Space.ANY,
    passes=1,
)

_SINGLE_LEFT: Final = Rules(
    id="single-left",
    title="Single Left",
    summary="one pack, seven columns, one pass, safe cards go home by themselves",
    columns=(1, 2, 3, 4, 5, 6, 7),
    passes=1,
    plays_home=True,
)

FIVE: Final = (SALLY, _SALLY_KINGS, _ACEY_AND_KINGSLEY, _LANES, _SINGLE_LEFT)
