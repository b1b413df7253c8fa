"""What the shell says of ghosts."""

from dataclasses import asdict

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.engine.scoring import Outcome
from samedeal.protocol.fields import RaceView
from samedeal_client.cli.output import Voice
from samedeal_client.ghosts import Ghost, Ghosts
from samedeal_client.replays.text import time_text

__all__ = ["greeting", "tell_comparison", "tell_ended", "words"]


def greeting(view: RaceView, name: str, ghosts: Ghosts) -> list[str]:
    """Say what is raced against what."""
    return [
        f"* practice, alone: {game(view.game).title}, you are {name}; nothing of it is ranked",
        f"* against recorded runs: {', '.join(ghosts.names)}",
        "* say ready, or play a move, to begin",
    ]


def words(ghost: Ghost) -> str:
    """How a ghost stands, in a few words."""
    how = "won" if ghost.won else "done" if ghost.is_done else "on its way"
    return (
        f"{ghost.name}: home {ghost.home}, best {ghost.best}, {counted(ghost.moves, 'move')}, {how}"
    )


def tell_ended(voice: Voice, ghost: Ghost, t_ms: int) -> None:
    """Say that a ghost has made its last move."""
    how = "won" if ghost.won else f"made its last move, best {ghost.best}"
    text = f"* {ghost.name} {how} at {time_text(t_ms)}"
    voice.say("ghost", text, ghost=asdict(ghost), t_ms=t_ms)


def tell_comparison(voice: Voice, ghosts: Ghosts, name: str, own: Outcome) -> bool:
    """Say how the run compares with the ghosts. Return whether it is first, shared or not."""
    rows = ghosts.compared(name, own)
    lines = ["* against the ghosts"]
    for row in rows:
        result = row.outcome
        how = f"won at {time_text(result.t_ms)}" if result.has_won else f"best {result.best}"
        lines.append(f"{row.place}. {row.name}: {how}, {counted(result.moves, 'move')}")
    order = [
        {
            "place": row.place,
            "name": row.name,
            "ghost": row.is_ghost,
            "won": row.outcome.has_won,
            "best": row.outcome.best,
            "moves": row.outcome.moves,
        }
        for row in rows
    ]
    voice.say("compared", "\n".join(lines), order=order)
    return any(row.place == 1 and not row.is_ghost for row in rows)
