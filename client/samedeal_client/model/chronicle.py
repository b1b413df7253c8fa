"""What happened in a race, for the panel: what each seat did and said last, and the log."""

from typing import Final

from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import PlayerView, RaceView
from samedeal_client.cli.phrases import spoken
from samedeal_client.model.tracks import news

__all__ = ["Chronicle"]

LOG_LENGTH: Final = 200


class Chronicle:
    """What the player `seat` has been told, the latest at the end."""

    def __init__(self, view: RaceView, seat: int) -> None:
        self._seat = seat
        self.last: dict[int, str] = {}
        """What each other seat did last."""
        self.said: dict[int, str] = {}
        """The last phrase of each seat."""
        self.log: list[str] = []
        self._seen: dict[int, PlayerView] = {one.seat: one for one in view.players}

    def note(self, sentence: str) -> None:
        """Keep a sentence in the log."""
        self.log.append(sentence)
        del self.log[:-LOG_LENGTH]

    def progress(self, view: RaceView) -> None:
        """Compare the players with what was seen last."""
        for player in view.players:
            old = self._seen.get(player.seat)
            self._seen[player.seat] = player
            if old is None or player.seat == self._seat:
                continue
            what = news(old, player)
            if what:
                self.last.pop(player.seat, None)
                self.last[player.seat] = what
                self.note(f"{player.name} {what}")

    def phrase(self, event: say.Said) -> None:
        """Keep what somebody says."""
        self.said.pop(event.seat, None)
        self.said[event.seat] = spoken(event.phrase)

    def last_said(self, view: RaceView) -> str:
        """What somebody said last, with the name; nothing if nobody did."""
        if not self.said:
            return ""
        seat, words = next(reversed(self.said.items()))
        names = {player.seat: player.name for player in view.players}
        return f"{names.get(seat, '?')} says: {words}"
