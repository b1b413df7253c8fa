"""Other games of the family, a few lines of data each: what the table-driven core makes cheap."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from samedeal.engine.games.five import SALLY
from samedeal.engine.rules import Base, Rules, Space

__all__ = ["FAMILY"]

_KLONDIKE: Final = Rules(
    id="klondike",
    title="Klondike",
    summary="one pack, seven columns, draw one, passes without limit",
    columns=(1, 2, 3, 4, 5, 6, 7),
    takes_back=True,
)

_KLONDIKE_3: Final = replace(
    _KLONDIKE,
    id="klondike-3",
    title="Klondike by threes",
    summary="one pack, seven columns, draw three, passes without limit",
    draw=3,
)

_DOUBLE_KLONDIKE: Final = replace(
    SALLY,
    id="double-klondike",
    title="Double Klondike",
    summary="two packs, nine columns, draw three, passes without limit",
    base=Base.FIXED,
    wraps=False,
    space=Space.KING,
    takes_back=True,
)

_GARGANTUA: Final = replace(
    _DOUBLE_KLONDIKE,
    id="gargantua",
    title="Gargantua",
    summary="two packs, nine columns, draw one, two passes",
    draw=1,
    passes=2,
)

FAMILY: Final = (_KLONDIKE, _KLONDIKE_3, _DOUBLE_KLONDIKE, _GARGANTUA)
