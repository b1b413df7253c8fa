"""What a watcher sees of a race, without I/O: messages go in, the newest sight comes out."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from samedeal.engine.games import game
from samedeal.engine.table import Table
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import PlayerView, RaceView, Spectating
from samedeal.protocol.watch_messages import Watched, WatchedBoard, Watching, WatchOver
from samedeal_client.errors import ClientError, Refused

__all__ = ["Feed", "Sight"]


@dataclass(frozen=True, slots=True)
class Sight:
    """A race as watchers may see it at one time."""

    race: RaceView
    shows: Spectating
    reason: str | None
    """Why not more is shown."""
    boards: Mapping[int, WatchedBoard]
    """By seat; with cards, with heights only, or none at all, as `shows` says."""
    moved: frozenset[int]
    """The seats that have moved on since the sight before."""
    is_up: bool
    """Whether the server is there; while it is not this is how the race stood at last."""

    def table(self, seat: int) -> Table | None:
        """The visible table of a seat, where boards are shown."""
        board = self.boards.get(seat)
        if board is None or not board.piles:
            return None
        rules = game(self.race.game)
        return Table.from_piles(rules, board.piles, base=board.base, passes=board.passes)


class Feed:
    """Takes what the server says of a race that is watched. Who reads slowly skips, never lags."""

    def __init__(self) -> None:
        self._whole: Watching | None = None
        self._players: dict[int, PlayerView] = {}
        self._boards: dict[int, WatchedBoard] = {}
        self._ver = 0
        self._moved: set[int] = set()
        self._is_up = True
        self._error: ClientError | None = None
        self._changed = asyncio.Event()

    def take(self, message: Watching | Watched | WatchOver) -> None:
        """Take a message; one that is older than what is known changes nothing."""
        match message:
            case Watching():
                self._take_whole(message)
            case Watched() if message.ver >= self._ver:
                self._ver = message.ver
                self._take_parts(message.players, message.boards)
            case WatchOver():
                self._error = Refused(ErrorCode.NOT_SHOWN, message.sentence)
        self._changed.set()

    def lost_link(self) -> None:
        """The connection is gone; it is being made again."""
        self._is_up = False
        self._changed.set()

    def end(self, error: ClientError) -> None:
        """Nothing will come any more."""
        self._error = self._error or error
        self._changed.set()

    async def next(self) -> Sight:
        """Wait for something new, and return all of it. Raise what ended the watching."""
        await self._changed.wait()
        self._changed.clear()
        if self._error is not None:
            self._changed.set()
            raise self._error
        assert self._whole is not None
        players = tuple(self._players[seat] for seat in sorted(self._players))
        moved, self._moved = frozenset(self._moved), set()
        return Sight(
            race=self._whole.race.model_copy(update={"players": players, "ver": self._ver}),
            shows=self._whole.shows,
            reason=self._whole.reason,
            boards=dict(self._boards),
            moved=moved,
            is_up=self._is_up,
        )

    def _take_whole(self, whole: Watching) -> None:
        self._whole, self._ver, self._is_up = whole, whole.race.ver, True
        known = {seat: player.moves for seat, player in self._players.items()}
        self._players = {player.seat: player for player in whole.race.players}
        self._boards = {board.seat: board for board in whole.boards}
        self._moved |= {
            seat for seat, player in self._players.items() if player.moves != known.get(seat, 0)
        }

    def _take_parts(
        self, players: tuple[PlayerView, ...], boards: tuple[WatchedBoard, ...]
    ) -> None:
        news = {player.seat: player for player in players}
        boards_now = {board.seat: board for board in boards}
        self._players |= news
        self._boards |= boards_now
        self._moved |= news.keys() | boards_now.keys()
