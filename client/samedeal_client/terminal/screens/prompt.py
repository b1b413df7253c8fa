"""A screen that asks for one line."""

import argparse
from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input, Static

from samedeal_client.model.keys import Action, Keys, Section

__all__ = ["PromptScreen", "checked"]


class PromptScreen(Screen[str | None]):
    """Asks until `check` finds nothing wrong; the answer is what the screen is dismissed with."""

    section = Section.PROMPT

    def __init__(
        self,
        title: str,
        about: str,
        check: Callable[[str], str],
        keys: Keys,
        *,
        value: str = "",
    ) -> None:
        super().__init__()
        self._keys = keys.on(self.section)
        self._title = title
        self._about = about
        self._check = check
        self._value = value

    def compose(self) -> ComposeResult:
        yield Static(self._title, id="title", markup=False)
        yield Static(self._about, id="about", markup=False)
        yield Input(self._value, id="line", compact=True)
        yield Static("", id="wrong", markup=False)
        yield Static(
            f"Enter takes it  {self._keys.name(Action.BACK)} goes back", id="hint", markup=False
        )

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            answer = self._check(event.value.strip())
        except ValueError as error:
            self.query_one("#wrong", Static).update(str(error))
            return
        self.dismiss(answer)

    def on_key(self, event: events.Key) -> None:
        if event.key == "ctrl+c":
            event.stop()
            self.app.exit(0)
        elif self._keys.action(event.key) is Action.BACK:
            event.stop()
            self.dismiss(None)


def checked(read: Callable[[str], str], text: str) -> str:
    """Read a line the way the command line does; what is wrong with it is a ValueError."""
    try:
        return read(text)
    except argparse.ArgumentTypeError as error:
        raise ValueError(str(error)) from None
