"""A race of others, live, as far as its policy shows it."""

import asyncio
from contextlib import aclosing

from samedeal.protocol.fields import Phase
from samedeal_client.errors import ClientError
from samedeal_client.model.clock import shown_clock
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.menu import Menu
from samedeal_client.model.watching import watch_rows
from samedeal_client.sight import Sight
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["WatchScreen"]


class WatchScreen(BaseScreen):
    """One race that is watched."""

    section = Section.WATCH

    def __init__(self, race: str) -> None:
        super().__init__()
        self._race = race
        self._sight: Sight | None = None
        self._at_s = 0.0
        self._focus = 0

    def on_mount(self) -> None:
        self.redraw()
        self.set_interval(0.5, self.redraw)
        self.run_worker(self._follow(), exclusive=True)

    async def _follow(self) -> None:
        client = self.terminal.client
        if client is None:
            return
        try:
            async with aclosing(client.watch(self._race)) as sights:
                async for sight in sights:
                    if self._sight is None or sight.race.clock_ms != self._sight.race.clock_ms:
                        self._at_s = asyncio.get_running_loop().time()
                    self._sight = sight
                    self.redraw()
        except ClientError as error:
            self.say(str(error))

    def redraw(self) -> None:
        size, terminal = self.size, self.terminal
        if self._sight is None or self.sentence:
            notes = [self.sentence or "asking for the race"]
            waiting = Menu(f"WATCHING {self._race}", (), self.own_keys, notes)
            self.sheet.show(waiting.rows(size.width, size.height), terminal.palette)
            return
        since = asyncio.get_running_loop().time() - self._at_s
        clock = shown_clock(self._sight.race, since)
        rows = watch_rows(
            self._sight,
            self._focus,
            clock,
            terminal.faces,
            self.own_keys,
            size.width,
            size.height,
        )
        self.sheet.show(rows, terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        sight = self._sight
        match action:
            case Action.NEXT_BOARD:
                self._focus += 1
                self.redraw()
            case Action.REPLAY if sight is not None and sight.race.phase is Phase.CLOSED:
                try:
                    await self.terminal.open_replay(sight.race.id)
                except ClientError as error:
                    self.say(str(error))
            case Action.BACK:
                self.dismiss()
            case _:
                pass
