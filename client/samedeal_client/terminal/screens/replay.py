"""A finished race played again, boards side by side."""

from samedeal_client.cli.sources import Source
from samedeal_client.errors import ClientError
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.review import press, review_rows
from samedeal_client.replays import ReplayModel
from samedeal_client.terminal.haunted import Haunted
from samedeal_client.terminal.screens.base import BaseScreen

__all__ = ["ReplayScreen"]

FRAME_S = 0.05


class ReplayScreen(BaseScreen):
    """Any number of runs of one deal."""

    section = Section.REPLAY

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        tracks, seat = source.replay.tracks, source.seat
        seats = [track.player.seat for track in tracks]
        self.model = ReplayModel(tracks, focus=seats.index(seat) if seat in seats else 0)

    def on_mount(self) -> None:
        self.set_interval(FRAME_S, self._advance)
        self.redraw()

    def _advance(self) -> None:
        if self.model.is_playing:
            self.model.advance(FRAME_S * 1000)
            self.redraw()

    def redraw(self) -> None:
        size, terminal = self.size, self.terminal
        rows = review_rows(
            self.model, terminal.faces, self.own_keys, size.width, size.height, self.sentence
        )
        self.sheet.show(rows, terminal.palette)

    async def pressed(self, key: str, action: Action | None) -> None:
        said = press(self.model, action, self.own_keys)
        if said is not None:
            self.say(said)
        elif action is Action.BACK:
            self.dismiss()
        elif action is Action.COLOURS:
            self.terminal.next_palette()
        elif action is Action.GHOST:
            await self._race_it()

    async def _race_it(self) -> None:
        """Race the run that leads."""
        try:
            seat = self.model.focused.player.seat
            await self.terminal.haunt(Haunted.of(self._source, [seat]))
        except ClientError as error:
            self.say(str(error))
