"""Waiting for an opponent: accept one, play a bot instead, or wait on."""

import asyncio
from contextlib import aclosing

from samedeal.engine.games import game
from samedeal.protocol import server_messages as say
from samedeal.protocol.match_messages import MatchState
from samedeal_client.errors import ClientError
from samedeal_client.matching import QuickMatch
from samedeal_client.model.keys import Action, ScreenKeys, Section
from samedeal_client.model.menu import Item, Menu
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["MatchScreen"]

_LEAVE = Item(Action.BACK, "leave the queue")
_BACK = Item(Action.BACK, "back")


class MatchScreen(BaseScreen):
    """A search for an opponent in one game."""

    section = Section.MATCH

    def __init__(self, game_id: str, keys: ScreenKeys) -> None:
        super().__init__()
        self.menu = Menu(f"FIND AN OPPONENT: {game(game_id).title}", [_LEAVE], keys)
        self._game = game_id
        self._quick: QuickMatch | None = None
        self._since_s = 0.0
        self._is_over = False

    def on_mount(self) -> None:
        self._since_s = asyncio.get_running_loop().time()
        self.set_interval(1.0, self.redraw)
        self.redraw()
        self.run_worker(self._search(), exclusive=True)

    async def _search(self) -> None:
        client = self.terminal.client
        if client is None:
            return
        self._quick = client.match(self._game)
        try:
            async with aclosing(self._quick.events()) as events:
                async for event in events:
                    self._tell(event)
            if event.state is MatchState.READY:
                self.terminal.sit(await self._quick.race())
        except ClientError as error:
            self.say(str(error))

    def _tell(self, event: say.Match) -> None:
        seconds = (event.within_ms or 0) // 1000
        self.menu.items = {
            MatchState.FOUND: [
                Item(Action.ACCEPT, "accept", f"within {seconds} s, and the race begins"),
                Item(Action.DECLINE, "decline", "leave the queue"),
            ],
            MatchState.BOT_OFFERED: [
                Item(Action.TAKE_BOT, "play a bot", "unranked; or wait on"),
                _LEAVE,
            ],
            MatchState.OVER: [_BACK],
        }.get(event.state, [_LEAVE])
        self.menu.at = 0
        self._is_over = event.state is MatchState.OVER
        self.sentence = event.sentence or ""
        if event.state is MatchState.FOUND:
            self.sentence = "an opponent is there"
            self.app.bell()
        self.redraw()

    def redraw(self) -> None:
        waited = int(asyncio.get_running_loop().time() - self._since_s)
        waits = f"waiting for {waited} s; the race is ranked, undo goes back safely"
        self.menu.notes = [] if self._is_over else [waits]
        size = self.size
        rows = self.menu.rows(size.width, size.height, self.sentence)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        quick = self._quick
        item = self.menu.press(action)
        if quick is None or item is None:
            if action is Action.BACK:
                self.dismiss()
            self.redraw()
            return
        try:
            match item.action:
                case Action.ACCEPT:
                    await quick.accept()
                    self.say("accepted; waiting for the other one")
                case Action.TAKE_BOT:
                    await quick.bot()
                case Action.DECLINE:
                    await quick.decline()
                    self.dismiss()
                case _:
                    self.dismiss()
        except ClientError as error:
            self.say(str(error))
