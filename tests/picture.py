"""The picture of the README: `python tests/picture.py` draws it anew."""

import asyncio
from pathlib import Path

from textual.app import App, ComposeResult

from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import Ink, Row, Span
from samedeal_client.model.keys import Keys, Section
from samedeal_client.model.window import Window, header, key_bar, message
from samedeal_client.terminal.palette import Palette
from samedeal_client.terminal.widgets.sheet import Sheet
from scenes import playing

__all__ = ["PICTURE", "drawn"]

PICTURE = Path(__file__).parent.parent / "client" / "screen.svg"
WIDTH, HEIGHT = 100, 30
CLOCK_MS = 161_000


def rows() -> list[Row]:
    """A race of eight at Sally, a column picked up."""
    play, window, faces = playing("sally", 8), Window(WIDTH, HEIGHT), Faces()
    play.chronicle.last = {1: "banked at 9", 2: "+1 home", 5: "opened 2"}
    play.press("5", Keys().on(Section.RACE).action("5"), window.board(play, faces), 1.0)
    board, beside = window.board(play, faces).rows, window.players(play, CLOCK_MS)
    line = Span("│", Ink.DIM)
    return [
        header(play, CLOCK_MS, WIDTH),
        *((*own, line, *other) for own, other in zip(board, beside, strict=True)),
        (Span("─" * WIDTH, Ink.DIM),),
        message(play, faces, WIDTH)[-1],
        key_bar(play.table.rules, Keys().on(Section.RACE), WIDTH),
    ]


class _Screen(App[None]):
    CSS = "Screen { background: #101418; color: #d8dee9; } Sheet { width: 1fr; height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Sheet(id="sheet")

    def on_mount(self) -> None:
        self.query_one(Sheet).show(rows(), Palette.FOUR)


async def drawn() -> str:
    """The picture as it is now."""
    app = _Screen()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        return app.export_screenshot(title="samedeal") + "\n"


if __name__ == "__main__":
    PICTURE.write_text(asyncio.run(drawn()), "utf-8")
