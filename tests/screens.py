"""The terminal client in a test: on a real server, waited for by what it shows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from textual.pilot import Pilot
from textual.widgets import Static

from samedeal_client.connection import Client, Race
from samedeal_client.model.board import Picture
from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Keys
from samedeal_client.terminal.app import TerminalApp
from samedeal_client.terminal.screens.race import RaceScreen
from samedeal_client.terminal.seat import Seat
from samedeal_client.terminal.settings import Settings
from samedeal_client.terminal.widgets.sheet import Sheet
from support import eventually

__all__ = ["Show", "shown"]

AT_WORK_S = 2.0
"""A screen that works on a key for so long, or is gone, is not waited for."""


class Show:
    """A running terminal client, its keys, and what it shows."""

    def __init__(self, app: TerminalApp, pilot: "Pilot[int]") -> None:
        self.app = app
        self.pilot = pilot

    def lines(self, sheet: str) -> list[str]:
        """The rows of one sheet of the screen on top."""
        found = self.app.screen.query(f"#{sheet}").results(Sheet)
        return [text_of(row).rstrip() for one in found for row in one.shown]

    @property
    def seat(self) -> Seat:
        """The race on the screen."""
        assert self.app.seat is not None
        return self.app.seat

    @property
    def picture(self) -> Picture:
        """The own board as it is drawn."""
        screen = self.app.screen
        assert isinstance(screen, RaceScreen)
        return screen.picture

    def sheet(self, name: str) -> Sheet:
        return self.app.screen.query_one(f"#{name}", Sheet)

    @property
    def text(self) -> str:
        """All that the screen on top shows."""
        sheets = self.app.screen.query(Sheet)
        return "\n".join(text_of(row).rstrip() for sheet in sheets for row in sheet.shown)

    async def until(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""
        try:
            await eventually(lambda: all(text in self.text for text in texts))
        except AssertionError:
            raise AssertionError(f"{texts} not on the screen:\n{self.text}") from None

    async def until_static(self, text: str) -> None:
        """Wait until a prompt says this."""

        def says() -> bool:
            found = self.app.screen.query(Static)
            return any(text in str(one.content) for one in found)

        await eventually(says)

    async def press(self, *keys: str) -> None:
        """Press keys, each when what the one before it did to the screens is done."""
        for key in keys:
            await self.pilot.press(key)
            # The pilot takes a program that gets no processor time for an idle one.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_taken(), AT_WORK_S)

    async def _all_taken(self) -> None:
        """Wait until everything posted so far has come to the app, and from it to the screen."""
        for pump in (self.app, self.app.focused, self.app.screen):
            done = asyncio.Event()
            if pump is not None and pump.call_later(done.set):
                await done.wait()


@asynccontextmanager
async def shown(
    url: str,
    *,
    name: str = "",
    client: Client | None = None,
    race: Race | None = None,
    size: tuple[int, int] = (80, 24),
    keys: Keys | None = None,
    is_ascii: bool = False,
) -> AsyncIterator[Show]:
    """Run the client; with a race it begins in it."""
    settings = Settings(name=name, ascii=is_ascii)
    app = TerminalApp(settings=settings, keys=keys or Keys(), server=url, client=client, race=race)
    async with app.run_test(size=size) as pilot:
        yield Show(app, pilot)
