"""Help for the game and the screen one is on."""

from collections.abc import Sequence

from samedeal_client.model.help import fitted
from samedeal_client.model.ink import Ink, Row, row
from samedeal_client.model.keys import Action, Section
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["HelpScreen"]


class HelpScreen(BaseScreen):
    """Pages of rows; any key goes back but those that turn pages."""

    section = Section.HELP

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self._rows = rows
        self._first = 0

    def redraw(self) -> None:
        height, lines = self.size.height, fitted(self._rows, self.size.width)
        self._first = max(0, min(self._first, len(lines) - height))
        rows = lines[self._first : self._first + height]
        if self._first + height < len(lines):
            down = self.own_keys.name(Action.SCROLL_DOWN)
            rows[-1] = row(f" {down} shows more, any other key goes back", Ink.DIM)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        page = self.size.height - 2
        match action:
            case Action.DOWN | Action.SCROLL_DOWN:
                self._first += 1 if action is Action.DOWN else page
            case Action.UP | Action.SCROLL_UP:
                self._first -= 1 if action is Action.UP else page
            case _:
                self.dismiss()
                return
        self.redraw()
