"""What each item of home leads to: prompts, lists, games to choose, and then a race."""

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from samedeal.engine.games import GAMES, game
from samedeal.protocol.fields import RaceOptions
from samedeal_client.cli import arguments
from samedeal_client.connection import Client
from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.keytable import ITEMS
from samedeal_client.model.menu import Item
from samedeal_client.terminal.home import live_races, rooms
from samedeal_client.terminal.screens.boards import BoardsScreen
from samedeal_client.terminal.screens.daily import DailyScreen
from samedeal_client.terminal.screens.listed import ListScreen
from samedeal_client.terminal.screens.match import MatchScreen
from samedeal_client.terminal.screens.menu import GamesScreen
from samedeal_client.terminal.screens.options import OptionsScreen
from samedeal_client.terminal.screens.prompt import PromptScreen, checked
from samedeal_client.terminal.screens.watch import WatchScreen
from samedeal_client.terminal.seat import NO_LINK

if TYPE_CHECKING:
    from samedeal_client.terminal.app import TerminalApp

__all__ = ["Choices"]

_GameChosen = Callable[[str], Awaitable[None]]


class Choices:
    """Opens what was chosen on the screens of `app`."""

    def __init__(self, app: "TerminalApp") -> None:
        self._app = app

    def _home_key(self, action: Action) -> str:
        return self._app.keys.on(Section.HOME).name(action)

    async def chosen(self, action: Action) -> None:
        """An item of home was taken."""
        keys = self._app.keys.on(Section.LIST)
        if action is Action.EXIT:
            self._app.stop()
        elif action is Action.NAME:
            self._app.ask_name()
        elif action is Action.SERVER:
            self._app.ask_server()
        elif action is Action.LAST_RACE:
            self._app.come_back()
        elif action is Action.REPLAYS:
            # A file needs no server.
            self._ask("REPLAY", "A join code, a run id of a board, or a file", _named, self._replay)
        elif self._app.client is None or self._app.client.has_ended:
            self._app.connect_and(lambda: self.chosen(action))
        elif not self._app.client.is_connected:
            self._app.tell(NO_LINK)
        elif action is Action.JOIN:
            about = "The code of the room, as its host sees it"
            self._ask("JOIN", about, lambda text: checked(arguments.code, text), self._join)
        elif action is Action.PRACTICE:
            about = "Any text; the same text is the same deal for everyone"
            self._ask("PRACTICE", about, lambda text: checked(arguments.seed, text), self._practice)
        elif action is Action.DAILY:
            self._app.push_screen(DailyScreen())
        elif action is Action.BOARDS:
            self._app.push_screen(BoardsScreen())
        elif action is Action.FIND:
            self._choose_game("FIND AN OPPONENT: which game?", self._find)
        elif action is Action.OPEN_ROOMS:
            waiting = rooms(self._app.client)
            make = self._home_key(Action.MAKE)
            nothing = f"no room waits for players; make one with {make}, others find it here"
            self._app.push_screen(ListScreen("OPEN ROOMS", keys, waiting, self._join, nothing))
        elif action is Action.WATCH:
            nothing = "no race runs that may be watched"
            races = live_races(self._app.client)
            self._app.push_screen(ListScreen("LIVE RACES", keys, races, self._watch, nothing))
        elif action is Action.GHOST:
            about = "A join code, a run id of a board, or a file: you race its runs, alone"
            self._ask("RACE A GHOST", about, _named, self._ghost, self._app.settings.last_run)
        elif action is Action.QUICK:
            self._choose_game("QUICK RACE: which game?", self._quick)
        elif action is Action.MAKE:
            self._choose_game("MAKE A ROOM: which game?", self._make)

    def _ask(
        self,
        title: str,
        about: str,
        read: Callable[[str], str],
        go_on: Callable[[str | None], Awaitable[None]],
        value: str = "",
    ) -> None:
        self._app.push_screen(PromptScreen(title, about, read, self._app.keys, value=value), go_on)

    async def _attempt(self, work: Awaitable[None]) -> None:
        """Do it, or say at home why that cannot be."""
        try:
            await work
        except ClientError as error:
            self._app.tell(str(error))

    def _choose_game(self, title: str, go_on: _GameChosen) -> None:
        games = list(GAMES.values())

        async def chosen(action: Action) -> None:
            self._app.pop_screen()
            await go_on(games[ITEMS.index(action)].id)

        items = [
            Item(action, rules.title, rules.summary)
            for action, rules in zip(ITEMS, games, strict=False)
        ]
        self._app.push_screen(GamesScreen(title, items, self._app.keys, chosen))

    async def _quick(self, game_id: str) -> None:
        await self._attempt(self._open(game_id))

    async def _make(self, game_id: str) -> None:
        async def done(changes: dict[str, Any]) -> None:
            assert self._app.client is not None
            race = await self._app.client.create_race(game_id, **changes)
            self._app.call_later(self._app.sit, race)

        title = f"MAKE A ROOM: {game(game_id).title}"
        self._app.push_screen(OptionsScreen(RaceOptions(), done, title=title))

    async def _practice(self, seed: str | None) -> None:
        if seed is None:
            return

        async def go_on(game_id: str) -> None:
            await self._attempt(self._open(game_id, seed=seed))

        self._choose_game("PRACTICE: which game?", go_on)

    async def _open(self, game_id: str, *, seed: str | None = None) -> None:
        """Open a room, sit down, and have a bot in the other seat. Raise ClientError."""
        assert self._app.client is not None
        race = await self._app.client.create_race(game_id, seed=seed)
        self._app.sit(race)
        await self._app.add_bot()
        await race.ready()

    async def _replay(self, name: str | None) -> None:
        if name:
            await self._attempt(self._app.open_replay(name))

    async def _ghost(self, name: str | None) -> None:
        if name:
            await self._attempt(self._app.race_replay(name))

    async def _find(self, game_id: str) -> None:
        self._app.push_screen(MatchScreen(game_id, self._app.keys.on(Section.MATCH)))

    async def _watch(self, race: str) -> None:
        self._app.push_screen(WatchScreen(race))

    async def _join(self, code: str | None) -> None:
        if code is not None and self._app.client is not None:
            await self._attempt(self._sit_down(self._app.client, code))

    async def _sit_down(self, client: Client, code: str) -> None:
        self._app.sit(await client.join(code))


def _named(text: str) -> str:
    """Read the name of a replay; a file's as a shell would."""
    if text == "-":
        raise ValueError("no file is piped in here; name a file, a join code or a run id")
    return os.path.expanduser(text)
