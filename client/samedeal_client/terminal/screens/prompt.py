"""A screen that asks for one line."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input, Static

__all__ = ["PromptScreen"]


class PromptScreen(Screen[str | None]):
    """Asks until `check` finds nothing wrong; the answer is what the screen is dismissed with."""

    def __init__(
        self, title: str, about: str, check: Callable[[str], str], *, value: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._check = check
        self._value = value

    def compose(self) -> ComposeResult:
        yield Static(self._title, id="title", markup=False)
        yield Static(self._about, id="about", markup=False)
        yield Input(self._value, id="line", compact=True)
        yield Static("", id="wrong", markup=False)
        yield Static("Enter takes it  ESC goes back", id="hint", markup=False)

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
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            self.dismiss(None)
