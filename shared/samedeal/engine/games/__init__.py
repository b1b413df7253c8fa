"""The games, each a value: the five of the server first, then others of the family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from samedeal.engine.errors import Unreadable
from samedeal.engine.games.family import FAMILY
from samedeal.engine.games.five import FIVE
from samedeal.engine.rules import Rules

__all__ = ["GAMES", "game"]

GAMES: Final[Mapping[str, Rules]] = MappingProxyType({rules.id: rules for rules in FIVE + FAMILY})
"""Every game by its id, in the order to list them in."""


EARLIER: Final[tuple[Rules, ...]] = ()
"""Rules as they were before a ruling changed, kept so that replays played under them still play."""

_EVERY: Final = {(rules.id, rules.version): rules for rules in (*GAMES.values(), *EARLIER)}


def game(game_id: str, version: int | None = None) -> Rules:
    """Return the rules of a game, of a version if one is named.

    Raise Unreadable, naming the games, for an unknown id, or for a version that is not known.
    """
    rules = GAMES.get(game_id)
    if rules is None:
        raise Unreadable(game_id, f"there is no game {game_id[:40]!r}; games: {', '.join(GAMES)}")
    if version is None or version == rules.version:
        return rules
    known = _EVERY.get((game_id, version))
    if known is None:
        raise Unreadable(
            str(version),
            f"it was played by version {version} of the rules of {game_id}; this program knows "
            f"version {rules.version}, another release of samedeal may know it",
        )
    return known
