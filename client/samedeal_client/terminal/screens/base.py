"""What every screen does: hand keys on under one name each, and draw again when asked to."""

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from samedeal_client.model.keys import Action, ScreenKeys, Section
from samedeal_client.terminal.seat import NO_LINK
from samedeal_client.terminal.widgets.sheet import Sheet

if TYPE_CHECKING:
    from samedeal_client.terminal.app import TerminalApp

__all__ = ["BaseScreen", "key_name"]

_AS_NAMED: Final = ("space", "tab", "enter", "escape", "backspace", "shift+tab")


def key_name(event: events.Key) -> str:
    """One name for a key on every keyboard: the character it types, or what it is called."""
    if event.key in _AS_NAMED or not event.is_printable or event.character is None:
        return event.key
    return event.character


class BaseScreen(Screen[None]):
    """A screen of one sheet; others compose more."""

    AUTO_FOCUS = None
    section: ClassVar[Section]
    """Which keys it answers to; a menu is told when it is made."""
    sentence = ""
    """What there is to say at the bottom."""

    @property
    def terminal(self) -> "TerminalApp":
        """The app, by its own type."""
        from samedeal_client.terminal.app import TerminalApp

        app = self.app
        assert isinstance(app, TerminalApp)
        return app

    @property
    def own_keys(self) -> ScreenKeys:
        """The keys of this screen."""
        return self.terminal.keys.on(self.section)

    @property
    def sheet(self) -> Sheet:
        return self.query_one("#sheet", Sheet)

    def compose(self) -> ComposeResult:
        yield Sheet(id="sheet")

    def on_mount(self) -> None:
        self.redraw()

    def on_resize(self) -> None:
        self.redraw()

    def on_screen_resume(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Show what is so now."""
        raise NotImplementedError

    def forget_link(self) -> None:
        """Say no more that there is no connection, once there is one."""
        client = self.terminal.client
        if self.sentence == NO_LINK and client is not None and client.is_connected:
            self.sentence = ""

    def say(self, sentence: str) -> None:
        """Show a sentence at the bottom."""
        self.sentence = sentence
        self.redraw()

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.app.screen is not self:
            # Typed before the screen on top was closed, and handed to it: it is not for what is
            # below.
            return
        key = key_name(event)
        if key == "ctrl+c":
            self.terminal.stop()
            return
        action = self.own_keys.action(key)
        if action is Action.HELP:
            self.terminal.show_help(self.section)
        elif action is Action.REDRAW:
            self.app.refresh(layout=True)
        else:
            await self.pressed(key, action)

    async def pressed(self, key: str, action: Action | None) -> None:
        """A key was pressed."""
        raise NotImplementedError
