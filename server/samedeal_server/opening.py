"""What opening a race takes, whoever opens it: a known game, its deal, a code."""

import secrets
from typing import Any

from samedeal.engine.deals import commitment
from samedeal.engine.errors import EngineError
from samedeal.engine.games import game
from samedeal.engine.rules import Rules
from samedeal.protocol import limits
from samedeal.protocol.errors import ErrorCode
from samedeal_server.errors import Refusal
from samedeal_server.store.races import NewRace, RaceStore

__all__ = ["MAX_OPEN", "SEED_BYTES", "check_open", "dealt", "free_code", "known"]

CODE_LETTERS = 5
MAX_OPEN = 32
"""Races that one account may have opened and that are not over."""
SEED_BYTES = 32


def known(game_id: str) -> Rules:
    """Return the rules of a game. Raise Refusal, naming the games, for an unknown one."""
    try:
        return game(game_id)
    except EngineError as error:
        raise Refusal(ErrorCode.NOT_FOUND, str(error)) from None


def dealt(game_id: str, seed: bytes, **room: Any) -> NewRace:
    """A race on the deal of `seed`, with what the room says of the rest."""
    rules = known(game_id)
    return NewRace(
        game=rules.id,
        rules_version=rules.version,
        seed=seed,
        commitment=commitment(rules, seed),
        **room,
    )


async def check_open(races: RaceStore, player: str, race_id: str) -> None:
    """Note a race that `player` opens. Raise Refusal if too many of its races are not over."""
    if not await races.may_open(player, race_id, MAX_OPEN):
        sentence = f"{MAX_OPEN} races that you opened are not over; finish or leave one first"
        raise Refusal(ErrorCode.TOO_MANY, sentence)


async def free_code(races: RaceStore, race_id: str) -> str:
    """Find a code that leads to no race, and lead it to this one."""
    while True:
        code = "".join(secrets.choice(limits.CODE_ALPHABET) for _ in range(CODE_LETTERS))
        if await races.claim_code(code, race_id):
            return code
