"""A seat on the screen: sends what the player wants, and tells the screen when something came."""

import asyncio
import shlex
from collections.abc import Callable
from typing import Final

from samedeal.engine.errors import EngineError
from samedeal.engine.run import UNDO, Action
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase, Phrase, RaceView
from samedeal_client.connection import Client, Dropped, Link, Race, Rewound, Store
from samedeal_client.errors import ClientError, Unanswered
from samedeal_client.model.clock import shown_clock
from samedeal_client.model.ghost_tracks import among_ghosts
from samedeal_client.model.ink import Ink
from samedeal_client.model.keys import Keys
from samedeal_client.model.play import PlayModel
from samedeal_client.terminal.haunted import Haunted

__all__ = ["NO_LINK", "Seat"]

PING_EVERY_S: Final = 2.0
LOST: Final = "connection lost, trying again; the clock runs on"
LOST_IN_LOBBY: Final = "connection lost, trying again; your seat is kept"
NO_LINK: Final = "no connection to the server now; it is being made again"
STORE_AWAY: Final = "the server's store is away, trying again"


class Seat:
    """One race of one player while it is on the screen."""

    def __init__(
        self,
        client: Client,
        race: Race,
        keys: Keys,
        changed: Callable[[], None],
        daily: say.Daily | None = None,
        haunted: Haunted | None = None,
    ) -> None:
        self.client = client
        self.race = race
        self.play = PlayModel(race.model, keys)
        self.play.daily = daily
        self.haunted = haunted
        """The recorded runs that it is played against, if it is."""
        self.play.ghosts = None if haunted is None else haunted.ghosts
        self.goes_on = False
        """Whether somebody has opened the room's next race."""
        self.refusal = ""
        """Why the last phrase was not told; empty if it was."""
        self._changed = changed
        self._tasks: set[asyncio.Task[None]] = set()
        self._view: RaceView = race.view
        self._view_at = self._now()
        for work in (self._listen(), self._measure()):
            self._own(asyncio.create_task(work))

    def close(self) -> None:
        """Stop listening; the seat itself is kept."""
        for task in self._tasks:
            task.cancel()

    @property
    def daily(self) -> say.Daily | None:
        """What is told of the day, if the race is a day's run."""
        return self.play.daily

    @property
    def result(self) -> RaceView:
        """The closed race as it is shown, the ghosts among those who raced."""
        view, model = self.race.view, self.race.model
        if self.haunted is None or not (view.order and model.has_begun):
            return view
        outcome = model.run.outcome(model.seat)
        return among_ghosts(view, self.haunted.ghosts, self.client.name, outcome)

    @property
    def run_to_race(self) -> str | None:
        """The own run by its id, once it can be raced again as a ghost."""
        view, model = self.race.view, self.race.model
        if view.phase is not Phase.CLOSED or view.day is not None or not self.play.me.moves:
            return None
        return f"{view.id}.{model.seat}"

    @property
    def is_cut_off(self) -> bool:
        """Whether nothing that is asked now is answered."""
        return self.play.banner in (LOST, LOST_IN_LOBBY, STORE_AWAY)

    @property
    def has_result(self) -> bool:
        """Whether the own run is over while others play on."""
        return self.race.view.phase is Phase.RUNNING and not self.play.is_playing

    def way_back(self, *, has_left: bool) -> str | None:
        """What leads back here from a shell; None where there is nothing to come back to."""
        view, play = self.race.view, self.play
        is_given_up = has_left and view.phase is not Phase.RUNNING
        if is_given_up or view.phase is Phase.CLOSED or view.day is not None:
            return None
        command = shlex.join(
            ["samedeal", "join", view.code, "--name", self.client.name, "--server", self.client.url]
        )
        is_over = has_left or (play.race.has_begun and not play.is_playing)
        return f"{'how it ends' if is_over else 'your seat is kept'}: {command}"

    @property
    def clock_ms(self) -> int:
        """The clock of the race now."""
        return shown_clock(self._view, self._now() - self._view_at)

    async def do(self, action: Action) -> None:
        """Send a move or undo: it is shown when this returns, and answered later."""
        self._own(asyncio.create_task(self._act(action)))
        # The task runs up to where it waits for the answer: the move is on the table.
        await asyncio.sleep(0)

    async def _act(self, action: Action) -> None:
        play = self.play
        try:
            ack = await (self.race.undo() if action is UNDO else self.race.move(action))
            play.acknowledged(action, ack.reveals)
        except Unanswered:
            play.say("no answer yet; the move is kept here and goes on being sent", Ink.BAD)
        except (EngineError, ClientError) as error:
            play.refused(action, str(error))
        for wish in play.go_on():
            if wish.action is not None:
                await self.do(wish.action)
        self._changed()

    def bank(self) -> None:
        """End the run and keep its result; that it is done shows with the room."""
        self._own(asyncio.create_task(self._bank()))

    async def _bank(self) -> None:
        try:
            await self.race.bank()
            self.play.say(
                f"banked: {self.race.model.run.best} home stand; the others play on", Ink.GOOD
            )
        except ClientError as error:
            self.play.say(str(error), Ink.BAD)
        self._changed()

    def tell(self, phrase: Phrase) -> None:
        """Say a phrase to the room; that it was said shows when the server passes it on."""
        self._own(asyncio.create_task(self._tell(phrase)))

    async def _tell(self, phrase: Phrase) -> None:
        self.refusal = ""
        try:
            await self.race.tell(phrase)
        except ClientError as error:
            self.refusal = str(error)
            self.play.say(self.refusal, Ink.BAD)
        self._changed()

    async def _listen(self) -> None:
        play = self.play
        async for event in self.race.events():
            if isinstance(event, say.Room | say.Go | say.Closed):
                self._view, self._view_at = event.race, self._now()
            match event:
                case Link():
                    is_running = self.race.view.phase is Phase.RUNNING
                    lost = LOST if is_running else LOST_IN_LOBBY
                    play.banner = "" if event.is_up else lost
                    play.say("the connection is back" if event.is_up else "", Ink.GOOD)
                case Store():
                    play.banner = "" if event.is_up else STORE_AWAY
                case Rewound():
                    play.say(
                        f"the server lost {event.actions} of your moves; they are sent again",
                        Ink.BAD,
                    )
                case Dropped():
                    lost = " ".join(event.actions)
                    play.say(f"TAKEN BACK {lost}: {event.sentence}", Ink.BAD)
                case say.TakenOver():
                    play.banner = event.sentence
                case say.Moved():
                    self.goes_on = True
                    play.say("the room goes on with a new deal", Ink.TITLE)
                case _:
                    play.heard(event)
            self._changed()
        if self.race.is_alive:
            return
        try:
            self.race.check()
        except ClientError as error:
            play.banner = str(error)
        self._changed()

    async def _measure(self) -> None:
        while True:
            try:
                self.play.link_ms = await self.client.ping() * 1000
            except Unanswered:
                self.play.link_ms = None
            except ClientError:
                return
            await asyncio.sleep(PING_EVERY_S)

    def _own(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
