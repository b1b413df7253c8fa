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


def game(game_id: str) -> Rules:
    """Return the rules of a game. Raise Unreadable, naming the games, for an unknown id."""
    rules = GAMES.get(game_id)
    if rules is None:
        raise Unreadable(game_id, f"there is no game {game_id[:40]!r}; games: {', '.join(GAMES)}")
    return rules
