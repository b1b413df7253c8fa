"""The server's side of a seat, made of the engine: what a player's model is tested against."""

import itertools
import re
from typing import TypeVar

from samedeal.engine.deals import commitment, parse_seed
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.run import UNDO, Action, Run, UndoPolicy
from samedeal.engine.table import Table
from samedeal.protocol import server_messages as say
from samedeal.protocol.client_messages import PlayMove, PlayUndo
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.fields import BoardView, Phase, PlayerView, RaceOptions, RaceView
from samedeal_client.model import RaceModel

__all__ = ["RACE", "Seat", "table"]

RACE = "r" * 16
Answer = TypeVar("Answer", say.Seated, say.Ack)


def table(game_id: str, position: str) -> Table:
    """A table from a position whose commas may be left away: `T1=9H8S`."""
    commas = re.sub(r"([CDHS]-?)(?=[A2-9TJQK])", r"\1,", position)
    return Table.parse(game(game_id), commas)


class Seat:
    """The server's side of seat 1, made of the engine; every word goes over the codec."""

    def __init__(
        self,
        game_id: str = "lanes",
        undo: UndoPolicy = UndoPolicy.SAFE,
        *,
        position: str | None = None,
        ranked: bool = False,
    ) -> None:
        self.rules, self.seed = game(game_id), parse_seed("model").value
        self._position, self._ranked = position, ranked
        self.undo = undo
        self.ver = 1
        self.log: list[say.LogEntry] = []
        self.run = Run(self._table(), undo)

    def _table(self) -> Table:
        """The deal, or the position to begin from instead."""
        if self._position is not None:
            return table(self.rules.id, self._position)
        return Table.deal(self.rules, self.seed)

    def view(self, phase: Phase = Phase.RUNNING) -> RaceView:
        """The room, newer with each call."""
        self.ver += 1
        return RaceView(
            id=RACE,
            code="K7QX9",
            game=self.rules.id,
            rules_version=self.rules.version,
            commitment=commitment(self.rules, self.seed),
            practice=True,
            options=RaceOptions(undo=self.undo, ranked=self._ranked),
            phase=phase,
            ver=self.ver,
            round=1,
            host=1,
            players=(PlayerView(seat=1, name="ada"), PlayerView(seat=2, name="ivo")),
            clock_ms=0,
            deadline_ms=900_000,
        )

    def board(self) -> BoardView:
        """The deal as the player sees it."""
        table = self._table()
        return BoardView(piles=tuple(table.piles()), base=table.base, passes=table.passes)

    def seated(self, have: int = 0) -> say.Seated:
        """The answer to a resume; with more than there is, everything."""
        have = 0 if have > len(self.log) else have
        return _sent(
            say.Seated(
                id=0,
                race=self.view(),
                seat=1,
                seq=self.run.seq,
                hash=self.run.table.hash,
                board=self.board(),
                log=tuple(self.log[have:]),
            )
        )

    def ack(self, request: PlayMove | PlayUndo) -> say.Ack:
        """Do what a request asks for, and answer it."""
        assert request.seq == self.run.seq + 1
        reveals = self.act(Move.parse(request.move) if isinstance(request, PlayMove) else UNDO)
        return _sent(
            say.Ack(
                id=request.id,
                race=RACE,
                seq=self.run.seq,
                t_ms=self.run.t_last_ms,
                hash=self.run.table.hash,
                reveals=reveals,
            )
        )

    def act(self, action: Action) -> tuple[int, ...]:
        """Accept an action, whoever asked for it."""
        t_ms = 1000 * (self.run.seq + 1)
        reveals: tuple[int, ...] = ()
        if isinstance(action, Move):
            reveals = self.run.play(action, t_ms).reveals
        else:
            self.run.undo(t_ms)
        move = str(action) if isinstance(action, Move) else None
        self.log.append(say.LogEntry(seq=self.run.seq, t_ms=t_ms, move=move, reveals=reveals))
        return reveals

    def forget(self, after: int = 0) -> None:
        """Lose what came after an action, as a store that failed over to an old copy may."""
        while len(self.log) > after:
            self.run.take_back()
            self.log.pop()

    def model(self) -> RaceModel:
        """A player's model that has just taken the seat."""
        return RaceModel(self.seated(), itertools.count(1).__next__)


def _sent(message: Answer) -> Answer:
    """Send a message over the wire."""
    decoded = decode_server(encode(message))
    assert isinstance(decoded, type(message))
    return decoded
