"""The room before the race: seats, ready, the host's options, the code, the countdown."""

from samedeal.protocol.fields import Phase
from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.room import room_rows
from samedeal_client.terminal.screens.base import BaseScreen
from samedeal_client.terminal.screens.options import OptionsScreen

__all__ = ["RoomScreen"]


class RoomScreen(BaseScreen):
    """A room in the lobby or in the countdown."""

    section = Section.ROOM

    def on_mount(self) -> None:
        # The countdown is told in seconds.
        self.set_interval(0.2, self.redraw)
        self.redraw()

    def redraw(self) -> None:
        seat, size = self.terminal.seat, self.size
        if seat is None:
            return
        self.forget_link()
        rows = room_rows(
            seat.race.view,
            seat.race.model.seat,
            self.own_keys,
            seat.client.url,
            seat.clock_ms,
            size.width,
            size.height,
            seat.play.banner or self.sentence or seat.refusal,
            said=seat.play.chronicle.said,
        )
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        seat = self.terminal.seat
        if seat is None:
            return
        self.sentence = seat.refusal = ""
        race = seat.race
        is_host = race.view.host == race.model.seat
        try:
            if action is Action.LEAVE:
                await self.terminal.leave()
                return
            self.terminal.need_link()
            if action is Action.READY:
                if race.view.phase is Phase.LOBBY:
                    await race.ready(not seat.play.me.ready)
            elif action is Action.ADD_BOT:
                self.say("a bot is coming")
                await self.terminal.add_bot()
                self.sentence = ""
            elif action is Action.SAY:
                self.terminal.say_phrase()
                return
            elif action is Action.START and is_host:
                await race.start()
            elif action is Action.OPTIONS and is_host:
                self.app.push_screen(OptionsScreen(race.view.options, self._set_options))
                return
        except ClientError as error:
            self.sentence = str(error)
        self.redraw()

    async def _set_options(self, changes: dict[str, object]) -> None:
        seat = self.terminal.seat
        if seat is not None and changes:
            await seat.race.set_options(**changes)
