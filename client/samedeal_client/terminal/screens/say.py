"""What can be said to the room: a small list over the screen it was opened on."""

from collections.abc import Callable
from typing import Final

from samedeal.protocol.fields import Phrase
from samedeal_client.cli.phrases import spoken
from samedeal_client.model.keys import Action, Keys, Section
from samedeal_client.model.keytable import ITEMS
from samedeal_client.model.menu import Item
from samedeal_client.terminal.screens.menu import MenuScreen

__all__ = ["SayScreen"]

_WIDTH: Final = 54
_PHRASES: Final = dict(zip(ITEMS, Phrase, strict=False))


class SayScreen(MenuScreen):
    """The phrases by number; `said` gets the one that was chosen."""

    section = Section.SAY

    def __init__(self, keys: Keys, said: Callable[[Phrase], None]) -> None:
        items = [Item(action, spoken(phrase)) for action, phrase in _PHRASES.items()]
        super().__init__("SAY TO THE ROOM", items, keys, self._say)
        self._said = said

    def redraw(self) -> None:
        height = len(_PHRASES) + 5
        self.sheet.styles.width, self.sheet.styles.height = _WIDTH, height
        self.sheet.show(self.menu.rows(_WIDTH, height), self.terminal.palette)

    async def _say(self, action: Action) -> None:
        self.dismiss()
        self._said(_PHRASES[action])
