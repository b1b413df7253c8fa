"""The end of a race: the order and why, and what can be done next."""

from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action
from samedeal_client.model.result import result_rows
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["ResultScreen"]


class ResultScreen(BaseScreen):
    """The final order."""

    def redraw(self) -> None:
        seat, size = self.terminal.seat, self.size
        if seat is None:
            return
        sentence = self.sentence or (
            "somebody opened the next deal: n joins it" if seat.goes_on else ""
        )
        rows = result_rows(seat.race.view, seat.race.model.seat, size.width, size.height, sentence)
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        try:
            match action:
                case Action.NEXT | Action.DROP:
                    await self.terminal.next_race()
                case Action.SHARE:
                    self.say(self.terminal.share())
                case Action.REPLAY:
                    await self.terminal.show_replay()
                case Action.QUIT | Action.CLEAR:
                    await self.terminal.leave()
                case Action.COLOURS:
                    self.terminal.next_palette()
                case _:
                    pass
        except ClientError as error:
            self.say(str(error))
