"""One player's run of a replay, every position of it at hand."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from samedeal.engine.cards import HIDDEN
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.replay import LogEntry, Player, Standing, Verified
from samedeal.engine.run import Action, Run, UndoPolicy
from samedeal.engine.table import Table
from samedeal.printable import printable

__all__ = ["Frame", "Track"]


@dataclass(frozen=True, slots=True)
class Frame:
    """How a run stands after `seq` actions, as its player saw it."""

    seq: int
    t_ms: int
    action: Action | None
    """What led here; None for the deal."""
    reveals: tuple[int, ...]
    """Cards that the action turned up; none for an undo."""
    automatic: tuple[Move, ...]
    piles: tuple[bytes, ...]
    """In the game's order, bottom to top; HIDDEN stands for a card that lay face down."""
    passes: int | None
    home: int
    best: int
    opened: int
    hash: int
    """State hash, as the server acknowledged it."""


@dataclass(frozen=True, slots=True)
class Track:
    """A run as frames: `frames[n]` is the position after n actions, the first the deal."""

    player: Player
    standing: Standing
    deal: tuple[str, int, str]
    """Game, version of its rules, seed: runs of one deal have it in common."""
    base: int | None
    """Base rank of the deal, 0 to 12; None in games without."""
    frames: tuple[Frame, ...]
    name: str = ""
    """The player's name as it is shown, with what tells it from others."""
    _times: tuple[int, ...] = field(default=(), repr=False)

    @property
    def last(self) -> int:
        """Number of its last action."""
        return len(self.frames) - 1

    @property
    def end_ms(self) -> int:
        """Time of its last action."""
        return self._times[-1]

    def table(self, seq: int) -> Table:
        """The table after so many actions, as the player saw it: what lay face down is hidden."""
        frame = self.frames[seq]
        piles = [
            (pile.count(HIDDEN), [card for card in pile if card != HIDDEN]) for pile in frame.piles
        ]
        rules = game(*self.deal[:2])
        return Table.from_piles(rules, piles, base=self.base, passes=frame.passes)

    def seq_at(self, t_ms: int) -> int:
        """Number of the last action at `t_ms` or before; 0 before the first."""
        return max(0, bisect_right(self._times, t_ms) - 1)

    @classmethod
    def play(cls, file: Verified, standing: Standing) -> "Track":
        """Play the run of one seat of a verified file."""
        run = fresh_run(file)
        names = [name for name, _ in run.table.rules.piles]
        frames = [_frame(run, names, None)]
        for entry in actions_of(file, standing.seat):
            frames.append(_frame(run, names, entry, frames[-1].piles))
        player = next(player for player in file.players if player.seat == standing.seat)
        name = printable(player.name)
        return cls(
            player=player,
            standing=standing,
            deal=(file.game, file.rules_version, file.seed),
            base=run.table.base,
            frames=tuple(frames),
            name=f"{name} (bot)" if player.is_bot else name,
            _times=tuple(frame.t_ms for frame in frames),
        )


def fresh_run(file: Verified) -> Run:
    """The run of any seat of a file, before its first action."""
    table = Table.deal(game(file.game, file.rules_version), bytes.fromhex(file.seed))
    return Run(table, UndoPolicy(str(file.options["undo"])))


def actions_of(file: Verified, seat: int) -> Iterable[LogEntry]:
    """The actions of one seat, in order."""
    return (entry for entry in file.actions if entry.seat == seat)


def _frame(
    run: Run, names: list[str], entry: LogEntry | None, before: tuple[bytes, ...] = ()
) -> Frame:
    """Act, and note how the run stands; piles that did not change are shared with `before`."""
    reveals: tuple[int, ...] = ()
    automatic: tuple[Move, ...] = ()
    if entry is not None:
        step = run.act(entry.action, entry.t_ms)
        if isinstance(entry.action, Move):
            reveals, automatic = step.reveals, step.automatic
    table = run.table
    piles = tuple(bytes(table.pile(name)) for name in names)
    if before:
        piles = tuple(old if old == new else new for old, new in zip(before, piles, strict=True))
    return Frame(
        seq=run.seq,
        t_ms=run.t_last_ms,
        action=None if entry is None else entry.action,
        reveals=reveals,
        automatic=automatic,
        piles=piles,
        passes=table.passes,
        home=run.home,
        best=run.best,
        opened=run.opened,
        hash=table.hash,
    )
