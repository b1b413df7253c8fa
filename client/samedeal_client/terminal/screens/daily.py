"""The daily challenge: the deals of today, and the card of a result."""

import time
from datetime import datetime

from samedeal_client.errors import ClientError
from samedeal_client.model.days import DayChoice, day_rows
from samedeal_client.model.keys import Action, Section
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["DailyScreen"]


class DailyScreen(BaseScreen):
    """Today's games."""

    section = Section.DAILY

    def __init__(self, game_id: str | None = None) -> None:
        super().__init__()
        self._game = game_id
        self.choice: DayChoice | None = None
        self._came_at = 0.0

    def on_mount(self) -> None:
        # The countdown to the next day is told in seconds.
        self.set_interval(1.0, self.redraw)
        self.redraw()
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        client = self.terminal.client
        if client is None:
            return
        try:
            self.choice = DayChoice(await client.daily(), self._game)
            self._came_at = time.monotonic()
        except ClientError as error:
            self.say(str(error))
        self.redraw()

    def redraw(self) -> None:
        size, now = self.size, datetime.now().astimezone()
        rows = day_rows(
            self.choice,
            self.own_keys,
            now,
            size.width,
            size.height,
            self.sentence,
            since_ms=round((time.monotonic() - self._came_at) * 1000),
        )
        self.sheet.show(rows, self.terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        self.sentence = ""
        choice = self.choice
        if action is Action.BACK:
            self.dismiss()
            return
        if choice is None:
            return
        if action in (Action.UP, Action.DOWN):
            choice.move(1 if action is Action.DOWN else -1)
        elif action is Action.SHARE:
            self.sentence = "there is no result yet"
            if choice.is_over:
                self.app.copy_to_clipboard("\n".join(choice.card))
                self.sentence = "the card is on the clipboard"
        elif action in (Action.TAKE, Action.PRACTICE):
            await self._play(choice, practice=action is Action.PRACTICE)
            return
        self.redraw()

    async def _play(self, choice: DayChoice, *, practice: bool) -> None:
        if choice.is_over and not practice:
            again, share = (self.own_keys.name(one) for one in (Action.PRACTICE, Action.SHARE))
            self.say(
                f"you have played it: {again} plays it once more as practice, "
                f"{share} shares the card"
            )
            return
        try:
            await self.terminal.play_daily(choice.chosen.game, practice=practice)
        except ClientError as error:
            self.say(str(error))
