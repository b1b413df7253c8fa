"""Screens that are menus: home, and the choice of a game."""

from collections.abc import Awaitable, Callable, Sequence

from samedeal_client.model.keys import Action, Keys, Section
from samedeal_client.model.menu import Item, Menu
from samedeal_client.terminal.screens.base import BaseScreen
from samedeal_client.terminal.widgets.sheet import Sheet

__all__ = ["GamesScreen", "HomeScreen"]


class MenuScreen(BaseScreen):
    """Items to choose from; `chosen` is called with what was taken."""

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        keys: Keys,
        chosen: Callable[[Action], Awaitable[None]],
        *,
        notes: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        super().__init__()
        self.menu = Menu(title, items, keys.on(self.section))
        self._chosen = chosen
        self._notes = notes

    def redraw(self) -> None:
        self.forget_link()
        self.menu.notes = self._notes()
        size = self.size
        rows = self.menu.rows(size.width, size.height, self.sentence)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        self.sentence = ""
        item = self.menu.press(action)
        if item is not None:
            await self._chosen(item.action)
        elif action is Action.BACK:
            self.dismiss()
            return
        self.redraw()

    async def on_sheet_clicked(self, event: Sheet.Clicked) -> None:
        item = self.menu.item_at(event.row)
        if item is not None:
            self.menu.at = self.menu.items.index(item)
            await self._chosen(item.action)
            self.redraw()


class HomeScreen(MenuScreen):
    """What can be done; there is nothing to go back to."""

    section = Section.HOME

    def on_mount(self) -> None:
        # Whether there is a connection is told as it changes.
        self.set_interval(1.0, self.redraw)
        self.redraw()


class GamesScreen(MenuScreen):
    """The games by number."""

    section = Section.GAMES
