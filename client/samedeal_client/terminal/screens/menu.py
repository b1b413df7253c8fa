"""A screen that is a menu."""

from collections.abc import Awaitable, Callable, Sequence

from samedeal_client.model.keys import Action
from samedeal_client.model.menu import Item, Menu
from samedeal_client.terminal.screens.base import BaseScreen
from samedeal_client.terminal.widgets.sheet import Sheet

__all__ = ["MenuScreen"]


class MenuScreen(BaseScreen):
    """Items to choose from; `chosen` is called with the letter of the one that was taken."""

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        chosen: Callable[[str], Awaitable[None]],
        *,
        notes: Callable[[], Sequence[str]] = tuple,
        is_base: bool = False,
    ) -> None:
        super().__init__()
        self.menu = Menu(title, items, is_base=is_base)
        self._chosen = chosen
        self._notes = notes
        self._is_base = is_base

    def redraw(self) -> None:
        self.menu.notes = self._notes()
        size = self.size
        rows = self.menu.rows(size.width, size.height, self.sentence)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        self.sentence = ""
        item = self.menu.press(key)
        if item is not None:
            await self._chosen(item.key)
        elif action in (Action.QUIT, Action.CLEAR) and not self._is_base:
            self.dismiss()
            return
        self.redraw()

    async def on_sheet_clicked(self, event: Sheet.Clicked) -> None:
        item = self.menu.item_at(event.row)
        if item is not None:
            self.menu.at = self.menu.items.index(item)
            await self._chosen(item.key)
            self.redraw()
