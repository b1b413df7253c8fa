"""Lists that change while one looks at them: the open rooms, the races that run."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, ScreenKeys, Section
from samedeal_client.model.menu import Item, Menu
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["ListScreen"]


class ListScreen(BaseScreen):
    """Items as they come; `chosen` gets the name of the one that was taken."""

    section = Section.LIST

    def __init__(
        self,
        title: str,
        keys: ScreenKeys,
        items: AsyncGenerator[Sequence[Item]],
        chosen: Callable[[str], Awaitable[None]],
        nothing: str,
    ) -> None:
        super().__init__()
        self.menu = Menu(title, (), keys)
        self._items = items
        self._chosen = chosen
        self._nothing = nothing

    def on_mount(self) -> None:
        self.redraw()
        self.run_worker(self._follow(), exclusive=True)

    async def _follow(self) -> None:
        try:
            async with aclosing(self._items) as lists:
                async for items in lists:
                    self.menu.items = items
                    self.menu.at = min(self.menu.at, max(0, len(items) - 1))
                    self.redraw()
        except ClientError as error:
            self.say(str(error))

    def redraw(self) -> None:
        self.menu.notes = () if self.menu.items else (self._nothing,)
        size = self.size
        rows = self.menu.rows(size.width, size.height, self.sentence)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        item = self.menu.press(action)
        if item is not None:
            try:
                await self._chosen(item.name.partition(" ")[0])
            except ClientError as error:
                self.say(str(error))
        elif action is Action.BACK:
            self.dismiss()
        else:
            self.redraw()
