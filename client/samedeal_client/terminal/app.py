"""The terminal client: which screen is shown, and who is connected to where."""

import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from io import BytesIO

from textual.app import App
from textual.screen import Screen

from samedeal.engine.games import game
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase
from samedeal_client.cli import arguments
from samedeal_client.cli.daytext import goes_on_first
from samedeal_client.cli.order import is_first
from samedeal_client.cli.sources import Source, load
from samedeal_client.connection import Client, Race
from samedeal_client.errors import ClientError, Refused
from samedeal_client.ghosts import open_ghost_race
from samedeal_client.model.faces import Faces
from samedeal_client.model.help import help_rows
from samedeal_client.model.ink import Ink
from samedeal_client.model.keys import Action, Keys, Section
from samedeal_client.model.result import share_card
from samedeal_client.replays import Replay
from samedeal_client.sign_in import signed_in
from samedeal_client.terminal import settings as remembered
from samedeal_client.terminal.aside import Aside
from samedeal_client.terminal.choices import Choices
from samedeal_client.terminal.companion import Companion
from samedeal_client.terminal.haunted import Haunted
from samedeal_client.terminal.home import home_items, name_question
from samedeal_client.terminal.palette import Palette
from samedeal_client.terminal.screens.base import BaseScreen
from samedeal_client.terminal.screens.daily import DailyScreen
from samedeal_client.terminal.screens.help import HelpScreen
from samedeal_client.terminal.screens.match import MatchScreen
from samedeal_client.terminal.screens.menu import HomeScreen
from samedeal_client.terminal.screens.prompt import PromptScreen, checked
from samedeal_client.terminal.screens.race import RaceScreen
from samedeal_client.terminal.screens.replay import ReplayScreen
from samedeal_client.terminal.screens.result import ResultScreen
from samedeal_client.terminal.screens.room import RoomScreen
from samedeal_client.terminal.screens.say import SayScreen
from samedeal_client.terminal.screens.watch import WatchScreen
from samedeal_client.terminal.seat import NO_LINK, Seat
from samedeal_client.terminal.settings import Settings

__all__ = ["TerminalApp"]


class TerminalApp(App[int], inherit_bindings=False):
    """The program. With a `client` it begins in a race, or watches one; else it begins at home."""

    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "terminal.tcss"
    TITLE = "samedeal"

    def __init__(
        self,
        *,
        settings: Settings,
        keys: Keys,
        server: str,
        client: Client | None = None,
        race: Race | None = None,
        daily: say.Daily | None = None,
        watched: str | None = None,
        sought: str | None = None,
        is_local: bool = False,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.keys = keys
        self.server = server
        self.client = client
        self.seat: Seat | None = None
        self._race, self._daily = race, daily
        self._watched, self._sought = watched, sought
        self._is_local = is_local
        self._stack = AsyncExitStack()
        self.companions: list[Companion] = []
        self._aside: Aside | None = None
        """The last race that was left with a result before its close."""
        self._home: HomeScreen | None = None
        self._is_guest = client is not None
        """Whether the client was handed in; it is closed by who made it."""

    # What screens ask for

    @property
    def palette(self) -> Palette:
        """How text is coloured now."""
        return Palette.MONO if self.no_color else self.settings.palette

    @property
    def faces(self) -> Faces:
        """How cards are written now."""
        return Faces(self.settings.ascii)

    @property
    def has_home(self) -> bool:
        """Whether there is a home screen to go back to; a command of the shell has none."""
        return self._home is not None

    def next_palette(self) -> None:
        """Colour suits the next way, and remember it."""
        self._remember(self.settings.with_palette(self.settings.palette.following))
        if self.seat is not None:
            self.seat.play.say(f"colours: {self.palette}")
        self.redraw()

    def redraw(self) -> None:
        """Draw the screen on top again."""
        screen = self.screen
        if isinstance(screen, BaseScreen) and screen.is_mounted:
            screen.redraw()

    def show_help(self, section: Section) -> None:
        """Show the help for a screen, and for the game that is on."""
        rules = None if self.seat is None else game(self.seat.race.view.game)
        self.push_screen(HelpScreen(help_rows(rules, self.keys, section)))

    def say_phrase(self) -> None:
        """Have a phrase chosen, and say it to the room."""
        seat = self.seat
        if seat is None:
            return
        if seat.play.is_alone:
            seat.play.say("nobody is here to hear it")
            return
        self.push_screen(SayScreen(self.keys, seat.tell))

    # Beginning and ending

    async def on_mount(self) -> None:
        self.theme = "textual-dark"
        if self._race is not None and self.client is not None:
            self.sit(self._race, self._daily)
            return
        if self._watched is not None:
            self.push_screen(WatchScreen(self._watched), lambda _: self.stop())
            return
        if self._sought is not None:
            self.push_screen(
                MatchScreen(self._sought, self.keys.on(Section.MATCH)), lambda _: self.stop()
            )
            return
        self._home = HomeScreen(
            "SAMEDEAL  patience races: everyone gets the identical deal",
            home_items(),
            self.keys,
            Choices(self).chosen,
            notes=self._notes,
        )
        await self.push_screen(self._home)
        if self.settings.name:
            self.run_worker(self._connect(), exclusive=True, group="connect")
        else:
            self.ask_name()

    async def on_unmount(self) -> None:
        self._close_seat()
        await self._drop_aside()
        await self._send_bots_away()
        await self._stack.aclose()

    def stop(self, *, has_left: bool = False) -> None:
        """Leave the program; seats are kept, and it is told what leads back to one."""
        code, way = 0, None
        if self.seat is not None and not self._is_local:
            view, number = self.seat.race.view, self.seat.race.model.seat
            if self._is_guest:
                code = int(view.phase is Phase.CLOSED and not is_first(view, number))
            way = self.seat.way_back(has_left=has_left)
        self.exit(code, message=way)

    def _notes(self) -> list[str]:
        client = self.client
        where = "a private server" if self._is_local else f"server {self.server}"
        if self._is_local and os.environ.get("SAMEDEAL_SERVER"):
            where += "; SAMEDEAL_SERVER does not count with --local"
        if client is None or client.has_ended:
            return [f"{where}: not connected"]
        if not client.is_connected:
            return [f"{where}: connection lost, trying again"]
        return [f"you are {client.name}, on {where}"]

    def ask_name(self, wrong: str = "") -> None:
        about, likely = name_question(self.settings.name, self.server, is_local=self._is_local)
        self.push_screen(
            PromptScreen(
                "WELCOME TO SAMEDEAL",
                wrong or about,
                lambda text: checked(arguments.name, text),
                self.keys,
                value=likely,
            ),
            lambda name: self._named(name, likely),
        )

    def _named(self, name: str | None, likely: str) -> None:
        if name is None and self.settings.name:
            # Who goes back keeps name, connection and race.
            return
        self._remember(replace(self.settings, name=name or likely))
        self.run_worker(self._connect(), exclusive=True, group="connect")

    def ask_server(self) -> None:
        self.push_screen(
            PromptScreen(
                "SERVER",
                "The address of a server, ws://HOST:PORT or wss://HOST",
                lambda text: checked(arguments.server, text),
                self.keys,
                value=self.server,
            ),
            self._addressed,
        )

    async def _addressed(self, server: str | None) -> None:
        if server is None:
            return
        self.server, self._is_local = server, False
        self._remember(replace(self.settings, server=server))
        self.run_worker(self._connect(), exclusive=True, group="connect")

    def _remember(self, settings: Settings) -> None:
        self.settings = settings
        try:
            remembered.save(settings)
        except ClientError as error:
            self.tell(str(error))

    async def _connect(self) -> None:
        """Say hello to the server under the own name."""
        await self._drop_aside()
        await self._stack.aclose()
        self.client = None
        self.tell("connecting ...")
        try:
            self.client = await self._stack.enter_async_context(
                signed_in(self.server, self.settings.name, as_usual=True, is_local=self._is_local)
            )
        except Refused as refusal:
            self.tell(str(refusal))
            if refusal.code in (ErrorCode.NAME_TAKEN, ErrorCode.BAD_NAME):
                self.ask_name(f"{refusal}.")
            return
        except ClientError as error:
            self.tell(str(error))
            return
        self.tell("")

    def connect_and(self, chosen: Callable[[], Awaitable[None]]) -> None:
        """Try the server once more; if it is there, go on with what was chosen at home."""

        async def work() -> None:
            await self._connect()
            if self.client is not None and self.screen is self._home:
                await chosen()

        self.run_worker(work(), exclusive=True, group="connect")

    def need_link(self) -> None:
        """Raise ClientError if what is asked now would wait for a connection to be made again."""
        if self.client is not None and not self.client.is_connected:
            raise ClientError(NO_LINK)

    def tell(self, sentence: str) -> None:
        """Tell something at home."""
        if self._home is not None:
            self._home.sentence = sentence
        self.redraw()

    # In a race

    def sit(
        self, race: Race, daily: say.Daily | None = None, haunted: Haunted | None = None
    ) -> None:
        """Show a race of one's own, and follow it; a day's run with what is told of the day."""
        assert self.client is not None
        self._close_seat()
        self.seat = Seat(self.client, race, self.keys, self._changed, daily, haunted)
        if self._home is None:
            self.seat.play.ending = f"samedeal join {race.code} tells how it ends"
        self._route()

    def _close_seat(self) -> None:
        if self.seat is not None:
            self.seat.close()
            self.seat = None

    def _changed(self) -> None:
        """Something about the race on the screen, or the one that was left, is different."""
        for seat in (self.seat, self._aside.seat if self._aside is not None else None):
            run = None if seat is None else seat.run_to_race
            if run is not None and run != self.settings.last_run:
                self._remember(replace(self.settings, last_run=run))
        if self.seat is None:
            self._offer_last_race()
            return
        if self._is_shown():
            self.redraw()
        else:
            self.call_later(self._route)

    # The race that was left with a result

    async def _set_aside(self, seat: Seat) -> None:
        """Go home from a race that others still play; its close is told there."""
        await self._drop_aside()
        # The question whether to leave is answered.
        seat.play.say("")
        self._aside = Aside(seat, self.companions)
        self.seat, self.companions = None, []
        self._go_home()
        self._offer_last_race()

    def come_back(self) -> None:
        aside, self._aside = self._aside, None
        if aside is not None:
            self.seat, self.companions = aside.seat, aside.companions
            self._route()

    async def _drop_aside(self) -> None:
        aside, self._aside = self._aside, None
        if aside is not None:
            await aside.close()

    def _offer_last_race(self) -> None:
        """Have home show the race that was left, as it stands now."""
        if self._home is None:
            return
        menu = self._home.menu
        chosen = menu.items[menu.at].action
        menu.items = home_items(self._aside)
        menu.at = next((at for at, one in enumerate(menu.items) if one.action is chosen), 0)
        self.redraw()

    def _is_shown(self) -> bool:
        """Whether the screen of the phase is there; what was opened above it stays."""
        return any(isinstance(screen, self._wanted()) for screen in self.screen_stack)

    def _wanted(self) -> type[Screen[None]]:
        assert self.seat is not None
        match self.seat.race.view.phase:
            case Phase.LOBBY | Phase.COUNTDOWN:
                return RoomScreen
            case Phase.RUNNING:
                return RaceScreen
            case _:
                return ResultScreen

    def _route(self) -> None:
        """Show the screen of the phase that the race is in."""
        if self.seat is None:
            return
        if self._is_shown():
            self.redraw()
            return
        self._go_home()
        self.push_screen(self._wanted()())

    def _go_home(self) -> None:
        """Close every screen above the first ones."""
        base = self._home if self._home is not None else self.screen_stack[0]
        while self.screen is not base:
            # Not awaited: it may be the screen whose key asked for it, which would wait for itself.
            self.pop_screen()

    async def add_bot(self) -> None:
        """Have a bot take a free seat of the room. Raise ClientError."""
        assert self.seat is not None
        companion = Companion(self.server if not self._is_guest else self.seat.client.url)
        self.companions.append(companion)
        await companion.join(self.seat.race.code)

    async def _send_bots_away(self) -> None:
        for companion in self.companions:
            await companion.close()
        self.companions.clear()

    async def leave(self) -> None:
        """Give the seat up, or leave the result, and go home."""
        seat = self.seat
        if seat is not None and seat.race.view.day is not None:
            # The run of a day goes on by itself, and is resumed from the daily screen.
            self._leave_day()
        elif seat is None or seat.race.view.phase is Phase.CLOSED:
            await self._let_go()
        elif seat.is_cut_off:
            await self._leave_unheard(seat)
        elif (seat.has_result or await self._gave_up(seat)) and self._home is not None:
            await self._set_aside(seat)
        else:
            await self._let_go()

    async def _gave_up(self, seat: Seat) -> bool:
        """Give the seat up. Return whether there is a result that others may still beat."""
        has_begun = seat.race.view.phase is Phase.RUNNING and seat.race.model.run.moves > 0
        try:
            await seat.race.leave()
            if self.companions and not has_begun and seat.race.view.phase is Phase.RUNNING:
                # Nothing was raced: the bots that go with their player need not be waited for.
                with suppress(Refused):
                    await seat.race.end_race()
        except ClientError as error:
            self.tell(str(error))
            return False
        return has_begun

    async def _leave_unheard(self, seat: Seat) -> None:
        """Go without waiting for an answer that may never come: the seat is kept."""
        if self._home is None:
            self.stop()
            return
        await self._set_aside(seat)
        key = self._home.own_keys.name(Action.LAST_RACE)
        self.tell(f"no connection: your seat is kept, {key} leads back to it")

    async def _let_go(self) -> None:
        """Leave a race in which nothing is left to wait for."""
        await self._send_bots_away()
        if self._home is None:
            self.stop(has_left=True)
            return
        self._close_seat()
        self._go_home()
        self._offer_last_race()

    async def next_race(self) -> None:
        """Go on to the room's next race. Raise ClientError."""
        if self.seat is None:
            return
        if self.seat.race.view.day is not None:
            self._leave_day()
            return
        self.need_link()
        if self.seat.race.view.phase is not Phase.CLOSED:
            self.seat.play.say("the others still play; the next deal comes after the close")
            self.redraw()
            return
        if self.seat.haunted is not None:
            await self.haunt(self.seat.haunted)
            return
        race = await self.seat.race.next()
        self.sit(race)
        if self.companions:
            await race.ready()

    def _leave_day(self) -> None:
        """A day has no next deal: back to where its card is."""
        if self._home is None:
            self.stop()
            return
        played = None if self.seat is None else self.seat.race.view.game
        self._close_seat()
        self._go_home()
        self.push_screen(DailyScreen(played))

    def share(self) -> str:
        """Put the result card on the clipboard. Return a sentence about it."""
        if self.seat is None or self.seat.race.view.phase is not Phase.CLOSED:
            return "there is a card to share when the race is over"
        daily = self.seat.daily
        if daily is not None:
            key = self.keys.on(Section.DAILY).name(Action.SHARE)
            return f"the daily screen has the card of a day: {key} there"
        self.copy_to_clipboard(share_card(self.seat.result, self.seat.race.model.seat))
        return "the result card is on the clipboard"

    async def show_replay(self) -> None:
        """Show the race again, all boards. Raise ClientError."""
        self.push_screen(ReplayScreen(await self._source()))

    async def _source(self) -> Source:
        """The replay of the race that is over. Raise ClientError."""
        seat = self.seat
        if seat is None or seat.race.view.phase is not Phase.CLOSED:
            raise ClientError("there is a replay when the race is over")
        self.need_link()
        code = seat.race.code
        replay = Replay.read(BytesIO((await seat.race.replay()).encode()), name=code)
        return Source(code, replay, seat.race.model.seat)

    async def race_ghosts(self) -> None:
        """Race all runs of the race that is over, the own one too. Raise ClientError."""
        source = await self._source()
        await self.haunt(Haunted.of(replace(source, seat=None)))

    async def haunt(self, haunted: Haunted) -> None:
        """Race recorded runs on their deal, alone and unranked. Raise ClientError."""
        if self.client is None:
            raise ClientError("not connected")
        self.need_link()
        race = await open_ghost_race(self.client, haunted.replay.file)
        await self._send_bots_away()
        self.sit(race, haunted=haunted)
        await race.ready()

    async def open_replay(self, name: str) -> None:
        """Show a replay by code, race, run or file. Raise ClientError."""
        self.push_screen(ReplayScreen(await load(name, self.server)))

    async def race_replay(self, name: str) -> None:
        """Race the runs of a replay by code, race, run or file. Raise ClientError."""
        await self.haunt(Haunted.of(await load(name, self.server)))

    async def play_daily(self, game_id: str, *, practice: bool) -> None:
        """Begin the own run at a deal of today, or go on with it. Raise ClientError."""
        self.need_link()
        assert self.client is not None
        race = await self.client.play_daily(game_id, practice=practice)
        daily = await self.client.daily(game_id)
        tag, late = race.view.day, ""
        if tag is not None and tag.number != daily.day:
            daily = await self.client.daily(game_id, day=tag.number)
            late = goes_on_first(tag)
        self.sit(race, daily)
        if late and self.seat is not None:
            self.seat.play.say(late, Ink.TITLE)
            self.redraw()
