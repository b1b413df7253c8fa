"""A widget that shows rows of the view model, and draws again only those that changed."""

from collections.abc import Mapping, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from samedeal_client.model.ink import Ink, Row, cells
from samedeal_client.model.window import Window
from samedeal_client.terminal.palette import Palette, styles

__all__ = ["Sheet"]


class Sheet(Widget):
    """Rows of text."""

    class Clicked(Message):
        """A cell was clicked."""

        def __init__(self, sheet: "Sheet", row: int, cell: int, chain: int) -> None:
            super().__init__()
            self.sheet = sheet
            self.row = row
            self.cell = cell
            self.chain = chain
            """2 for a double click."""

    class Wheeled(Message):
        """The wheel was turned over it: up is positive."""

        def __init__(self, sheet: "Sheet", by: int) -> None:
            super().__init__()
            self.sheet = sheet
            self.by = by

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._rows: list[Row] = []
        self._styles: Mapping[Ink, Style] = styles(Palette.TWO)
        self.drawn = 0
        """Rows drawn so far."""

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its screen, not a part among others."""
        return self.id == "sheet"

    @property
    def shown(self) -> Sequence[Row]:
        """What it shows."""
        return self._rows

    def show(self, rows: Sequence[Row], palette: Palette) -> None:
        """Show these rows; what is the same already is left alone."""
        window = Window(*self.screen.size)
        if self.is_whole and window.is_too_small:
            rows = window.missing()
        looks = styles(palette)
        if looks is not self._styles:
            self._styles = looks
            self._rows = list(rows)
            self.refresh()
            return
        old, self._rows = self._rows, list(rows)
        for at in range(max(len(old), len(rows))):
            before = old[at] if at < len(old) else ()
            after = rows[at] if at < len(rows) else ()
            if before != after:
                self.refresh(Region(0, at, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        row = self._rows[y] if y < len(self._rows) else ()
        base = self.rich_style
        segments = [Segment(span.text, base + self._styles[span.ink]) for span in row]
        width = sum(cells(span.text) for span in row)
        return Strip(segments, width).adjust_cell_length(self.size.width, base)

    def on_click(self, event: events.Click) -> None:
        if Window(*self.screen.size).is_too_small:
            return
        self.post_message(self.Clicked(self, event.y, event.x, event.chain))

    def on_mouse_scroll_up(self) -> None:
        self.post_message(self.Wheeled(self, 1))

    def on_mouse_scroll_down(self) -> None:
        self.post_message(self.Wheeled(self, -1))
