"""A race that its player has left with a result: it is followed to its close while others go on."""

from dataclasses import dataclass

from samedeal.protocol.fields import Phase
from samedeal_client.model.result import headline
from samedeal_client.model.waiting import waits_for
from samedeal_client.terminal.companion import Companion
from samedeal_client.terminal.seat import Seat

__all__ = ["Aside"]


@dataclass(frozen=True, slots=True)
class Aside:
    """The seat, and the bots that were brought along: they play on."""

    seat: Seat
    companions: list[Companion]

    def about(self) -> str:
        """How it stands, in a few words."""
        view, seat = self.seat.race.view, self.seat.race.model.seat
        if view.phase is Phase.CLOSED:
            return f"{view.code} is over. {headline(self.seat.result, seat)}"
        if self.seat.play.is_playing:
            return f"{view.code}: your run is still on"
        return f"{view.code} waits for {waits_for(view, seat) or 'its close'}"

    async def close(self) -> None:
        """Follow it no more."""
        self.seat.close()
        for companion in self.companions:
            await companion.close()
