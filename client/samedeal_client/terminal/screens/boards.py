"""Leaderboards: top, pages, around the own row; a row opens its replay."""

from samedeal.protocol.board_messages import Board
from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.standings import BoardChoice, board_rows
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["BoardsScreen"]


class BoardsScreen(BaseScreen):
    """One board at a time."""

    section = Section.BOARDS

    def __init__(self) -> None:
        super().__init__()
        self.choice = BoardChoice()
        self.board: Board | None = None

    def on_mount(self) -> None:
        self.redraw()
        self._fetch()

    def _fetch(self) -> None:
        self.board = None
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        client, choice = self.terminal.client, self.choice
        if client is None:
            return
        try:
            limit = max(1, min(100, self.size.height - 9))
            self.board = await client.boards.page(choice.game, **choice.wish(limit))
            self.say("")
        except ClientError as error:
            self.say(str(error))

    def redraw(self) -> None:
        size = self.size
        rows = board_rows(
            self.choice, self.board, self.own_keys, size.width, size.height, self.sentence
        )
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        choice, board = self.choice, self.board
        rows = board.rows if board is not None else ()
        match action:
            case Action.LEFT | Action.RIGHT:
                choice.turn_kind(1 if action is Action.RIGHT else -1)
            case Action.NEXT_GAME:
                choice.turn_game()
            case Action.BOTS:
                choice.turn_bots()
            case Action.AROUND:
                choice.go_around()
            case Action.TOP:
                choice.top()
            case Action.SCROLL_DOWN if board is not None and choice.go_to(board.next):
                pass
            case Action.SCROLL_UP if board is not None and choice.go_to(board.previous):
                pass
            case Action.UP | Action.DOWN if rows:
                choice.at = (choice.at + (1 if action is Action.DOWN else -1)) % len(rows)
                self.redraw()
                return
            case Action.TAKE if choice.at < len(rows):
                await self._open(rows[choice.at].run)
                return
            case Action.GHOST if choice.at < len(rows):
                await self._open(rows[choice.at].run, is_raced=True)
                return
            case Action.BACK:
                self.dismiss()
                return
            case _:
                return
        self._fetch()
        self.redraw()

    async def _open(self, run: str | None, *, is_raced: bool = False) -> None:
        if run is None:
            self.say("this row has no replay")
            return
        try:
            if is_raced:
                await self.terminal.race_replay(run)
            else:
                await self.terminal.open_replay(run)
        except ClientError as error:
            self.say(str(error))
