"""The end of a race: the order and why, and what can be done next."""

from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.result import result_rows
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["ResultScreen"]


class ResultScreen(BaseScreen):
    """The final order."""

    section = Section.RESULT

    def redraw(self) -> None:
        seat, size = self.terminal.seat, self.size
        if seat is None:
            return
        self.forget_link()
        sentence = self.sentence or (
            f"somebody opened the next deal: {self.own_keys.name(Action.NEXT)} joins it"
            if seat.goes_on
            else seat.refusal or seat.play.last_said
        )
        rows = result_rows(
            seat.result,
            seat.race.model.seat,
            self.own_keys,
            size.width,
            size.height,
            sentence,
            has_home=self.terminal.has_home,
        )
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        try:
            match action:
                case Action.NEXT:
                    await self.terminal.next_race()
                case Action.SHARE:
                    self.say(self.terminal.share())
                case Action.REPLAY:
                    await self.terminal.show_replay()
                case Action.GHOST:
                    await self.terminal.race_ghosts()
                case Action.LEAVE:
                    await self.terminal.leave()
                case Action.SAY:
                    self.terminal.say_phrase()
                case Action.COLOURS:
                    self.terminal.next_palette()
                case _:
                    pass
        except ClientError as error:
            self.say(str(error))
