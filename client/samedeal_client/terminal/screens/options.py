"""All options of a room, each changed by left and right."""

from collections.abc import Awaitable, Callable

from samedeal.protocol.fields import RaceOptions
from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.options import OptionsForm
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["OptionsScreen"]


class OptionsScreen(BaseScreen):
    """A form; `done` gets what was changed. What it raises is shown, and the form stays."""

    section = Section.OPTIONS

    def __init__(
        self,
        options: RaceOptions,
        done: Callable[[dict[str, object]], Awaitable[None]],
        *,
        title: str = "OPTIONS",
    ) -> None:
        super().__init__()
        self.form = OptionsForm(options, title)
        self._done = done

    def redraw(self) -> None:
        size = self.size
        rows = self.form.rows(self.own_keys, size.width, size.height, self.sentence)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        self.sentence = ""
        match action:
            case Action.UP | Action.DOWN:
                self.form.move(-1 if action is Action.UP else 1)
            case Action.LEFT | Action.RIGHT | Action.CHANGE:
                self.form.change(-1 if action is Action.LEFT else 1)
            case Action.TAKE:
                try:
                    await self._done(self.form.changes)
                except ClientError as error:
                    self.say(str(error))
                    return
                self.dismiss()
                return
            case Action.BACK:
                self.dismiss()
                return
            case _:
                pass
        self.redraw()
