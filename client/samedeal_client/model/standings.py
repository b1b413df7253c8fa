"""A leaderboard on a screen: which one, its rows, the own one."""

from samedeal.engine.counts import counted
from samedeal.engine.games import GAMES, game
from samedeal.protocol.board_messages import Board, BoardKind, BoardRow
from samedeal_client.model.ink import Canvas, Ink, Row, clipped
from samedeal_client.model.keys import Action, ScreenKeys
from samedeal_client.replays.text import time_text

__all__ = ["BoardChoice", "board_rows", "result_of"]

_TITLES = {
    BoardKind.WINS: "most races won, then fewer races",
    BoardKind.FASTEST: "quickest win of a ranked race, then fewer moves",
    BoardKind.DAILY: "the deal of today",
    BoardKind.RATING: "rating by ranked races",
    BoardKind.STREAK: "days played in a row",
    BoardKind.SEASON: "share of the day's players beaten, best five days of the week",
}
_KINDS = list(BoardKind)
_GAMES = list(GAMES)


class BoardChoice:
    """Which board is wished for, which part of it, and which row is chosen."""

    def __init__(self, game_id: str = "lanes") -> None:
        self.game = game_id
        self.kind = BoardKind.WINS
        self.bots = False
        self.around = False
        self.page: str | None = None
        self.at = 0

    def wish(self, limit: int) -> dict[str, object]:
        """What to ask the server for."""
        wish: dict[str, object] = {"board": self.kind, "bots": self.bots, "limit": limit}
        if self.around:
            wish["around"] = True
        elif self.page is not None:
            wish["page"] = self.page
        return wish

    def turn_kind(self, by: int) -> None:
        """The next board or the one before."""
        self.kind = _KINDS[(_KINDS.index(self.kind) + by) % len(_KINDS)]
        self.top()

    def turn_game(self) -> None:
        """The next game."""
        self.game = _GAMES[(_GAMES.index(self.game) + 1) % len(_GAMES)]
        self.top()

    def turn_bots(self) -> None:
        """People or bots."""
        self.bots = not self.bots
        self.top()

    def top(self) -> None:
        """From the first place on."""
        self.around, self.page, self.at = False, None, 0

    def go_around(self) -> None:
        """The rows around the own one."""
        self.around, self.page, self.at = True, None, 0

    def go_to(self, cursor: str | None) -> bool:
        """Another page. Return whether there is one."""
        if cursor is None:
            return False
        self.around, self.page, self.at = False, cursor, 0
        return True


def board_rows(
    choice: BoardChoice,
    board: Board | None,
    keys: ScreenKeys,
    width: int,
    height: int,
    sentence: str,
) -> list[Row]:
    """Draw it; without a board yet, only what is asked for."""
    canvas = Canvas(width, height)
    who = ", bots" if choice.bots else ""
    canvas.put(1, 2, f"BOARDS  {game(choice.game).title}{who}", Ink.TITLE)
    left = 2
    for kind in _KINDS:
        text = f"[{kind}]" if kind is choice.kind else f" {kind} "
        left = canvas.put(2, left, text, Ink.PICK if kind is choice.kind else Ink.DIM) + 1
    canvas.put(3, 2, _TITLES[choice.kind], Ink.DIM)
    if board is not None:
        own = board.me.player if board.me is not None else ""
        for at, line in enumerate(board.rows[: height - 9]):
            is_own = line.player == own
            mark = ">" if at == choice.at else " "
            text = (
                f"{mark}{line.place:>5}. {clipped(line.name + '*' * is_own, 26)} {result_of(line)}"
            )
            canvas.put(5 + at, 1, text, Ink.OWN if is_own else Ink.PLAIN)
        if not board.rows:
            canvas.put(5, 2, "nobody is on this board yet", Ink.DIM)
        if board.me is not None:
            beaten = "" if board.beaten is None else f", ahead of {board.beaten / 100:.1f} %"
            canvas.put(height - 3, 2, f"you: place {board.me.place} of {board.total}{beaten}")
        elif board.rows:
            canvas.put(height - 3, 2, f"{board.total} in all; you are not on it yet", Ink.DIM)
    canvas.put(height - 2, 2, sentence, Ink.BAD)
    foot = keys.foot(
        width - 1,
        ((Action.LEFT, Action.RIGHT), "board"),
        (Action.NEXT_GAME, "game"),
        (Action.BOTS, "people" if choice.bots else "bots"),
        *_offers(choice, board),
        (Action.BACK, "back"),
    )
    canvas.put(height - 1, 1, foot, Ink.DIM)
    return canvas.rows()


def _offers(choice: BoardChoice, board: Board | None) -> list[tuple[Action, str]]:
    """What can be done with the rows that are there."""
    offers: list[tuple[Action, str]] = []
    if board is None:
        return offers
    has_run = choice.at < len(board.rows) and board.rows[choice.at].run is not None
    offers += [(Action.TAKE, "replay")] if has_run else []
    if board.next is not None:
        offers.append((Action.SCROLL_DOWN, "on"))
    if choice.around or choice.page is not None:
        offers.append((Action.TOP, "top"))
    elif board.me is not None:
        offers.append((Action.AROUND, "around"))
    offers += [(Action.GHOST, "race")] if has_run else []
    return offers


def result_of(row: BoardRow) -> str:
    """The numbers of a row, whichever it has."""
    parts = []
    if row.wins is not None:
        parts.append(f"{row.wins} won of {row.races}")
    if row.won is not None:
        parts.append("won" if row.won else f"best {row.best}, opened {row.opened}")
    if row.t_ms is not None:
        moves = counted(row.moves or 0, "move")
        if row.won is False:
            # Not all of the run, but those until that was reached.
            parts[-1] += f" after {moves}"
        else:
            parts.append(moves)
        parts.append(time_text(row.t_ms))
    if row.rating is not None:
        parts.append(f"rated {row.rating}")
    if row.days is not None:
        parts.append(counted(row.days, "day"))
    if row.percent is not None:
        parts.append(f"{row.percent / 100:.2f} %")
    return ", ".join(parts)
