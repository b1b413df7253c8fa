"""Runs played again by the engine, in a process of its own: no move of a player waits for that.

`python -m samedeal_server.judge` reads a run a line and answers with a line. It ends with its
input, so it does not outlive the server.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

from samedeal.engine.errors import EngineError
from samedeal.engine.run import Run, UndoPolicy, parse_action
from samedeal_server.deals import deal
from samedeal_server.errors import ServerError

__all__ = ["CannotBePlayed", "Judge", "JudgeGone", "Played"]

_POLITE = 10
"""How much it stands back for others, as `nice` has it."""


class CannotBePlayed(ServerError):
    """The engine does not take a log; the text says why."""


class JudgeGone(ServerError):
    """The process ended before it answered."""


@dataclass(frozen=True, slots=True)
class Played:
    """What the engine makes of a log."""

    is_won: bool
    seq: int
    home: int
    best: int
    opened: int
    t_ms: int
    t_best_ms: int
    m_best: int


class Judge:
    """The process, while it is needed. One run is played at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        # In a session of its own: Ctrl-C is the server's, which has no more questions then.
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "samedeal_server.judge",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            # It holds nothing that could be lost.
            self._process.kill()
        await self._process.wait()

    async def play(
        self, game_id: str, seed: bytes, undo: UndoPolicy, log: Iterable[tuple[str, int]]
    ) -> Played:
        """Play a log from its deal on. Raise CannotBePlayed, or JudgeGone."""
        assert self._process is not None
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        question = {"game": game_id, "seed": seed.hex(), "undo": undo.value, "log": list(log)}
        try:
            asked.write(json.dumps(question).encode() + b"\n")
            await asked.drain()
            line = await told.readline()
        except (BrokenPipeError, ConnectionResetError):
            line = b""
        if not line:
            raise JudgeGone("the process that plays runs again has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise CannotBePlayed(answer["error"])
        return Played(**answer)


def _played(question: dict[str, Any]) -> dict[str, Any]:
    try:
        dealt = deal(question["game"], bytes.fromhex(question["seed"]))
        run = Run(dealt, UndoPolicy(question["undo"]))
        for text, t_ms in question["log"]:
            run.act(parse_action(text), t_ms)
    except EngineError as error:
        return {"error": str(error)}
    played = Played(
        is_won=run.is_won,
        seq=run.seq,
        home=run.home,
        best=run.best,
        opened=run.opened,
        t_ms=run.t_last_ms,
        t_best_ms=run.t_best_ms,
        m_best=run.m_best,
    )
    return asdict(played)


def main() -> None:
    """Answer until nobody asks any more."""
    os.nice(_POLITE)
    for line in sys.stdin.buffer:
        sys.stdout.write(json.dumps(_played(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
