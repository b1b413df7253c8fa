"""What does a player of the bench play? Actions planned beforehand, that never end."""

import itertools
import random
import time
from collections.abc import Iterator, Sequence

from samedeal.engine.deals import parse_seed
from samedeal.engine.rules import Rules
from samedeal.engine.run import UNDO, Action, Run, UndoPolicy
from samedeal.engine.table import Table
from samedeal.protocol.codec import pack

__all__ = ["SEED", "engine_us_per_move", "frames", "plan"]

SEED = "samedeal bench"
"""Practice seed of every race: the plans are made for its deal."""
FORWARD = 120
"""Moves after which a plan goes back, if it got so far."""


def plan(rules: Rules, number: int) -> tuple[Action, ...]:
    """Return actions that lead from the deal through legal moves and, by undos, back to it.

    The same `number` gives the same plan. It never wins, so it can be played again and again.
    """
    rng = random.Random(number)
    run = _dealt(rules)
    actions: list[Action] = []
    while len(actions) < FORWARD and (moves := list(run.table.legal_moves)):
        move = rng.choice(moves)
        run.play(move, 0)
        if run.is_won:
            break
        actions.append(move)
    return (*actions, *[UNDO] * len(actions))


def frames(race_id: str, actions: Sequence[Action]) -> Iterator[bytes]:
    """Yield the requests for `actions`, over and over, numbered from 1."""
    for seq, action in enumerate(itertools.cycle(actions), start=1):
        fields: dict[str, object] = {"id": seq, "race": race_id, "seq": seq}
        if action is UNDO:
            yield pack(fields | {"type": "undo"})
        else:
            yield pack(fields | {"type": "move", "move": str(action)})


def engine_us_per_move(rules: Rules, plans: Sequence[Sequence[Action]]) -> float:
    """Time the engine's part of an action (checked, played, hashed) here, without a server."""
    spent_s, count = 0.0, 0
    for actions in plans:
        run = _dealt(rules)
        start_s = time.perf_counter()
        for action in actions:
            if action is UNDO:
                run.undo(0)
            else:
                run.play(action, 0)
            _ = run.table.hash
        spent_s += time.perf_counter() - start_s
        count += len(actions)
    return spent_s / count * 1e6


def _dealt(rules: Rules) -> Run:
    return Run(Table.deal(rules, parse_seed(SEED).value), UndoPolicy.FREE)
