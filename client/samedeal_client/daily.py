"""The daily challenge for a client: ask about a day, and play its deal."""

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal_client.exchange import Exchange
from samedeal_client.race import Race

__all__ = ["play_day", "show_day"]


async def show_day(exchange: Exchange[Race], game: str | None, day: int | None) -> say.Daily:
    """The deals of a day, the own runs at them, and what is promised. Raise Refused."""
    message = ask.DailyGet(id=exchange.next_id(), game=game, day=day)
    return await exchange.request(message, say.Daily)


async def play_day(exchange: Exchange[Race], game: str, day: int | None, *, practice: bool) -> Race:
    """Begin the own run at a day's deal, or come back to it. Raise Refused."""
    message = ask.DailyPlay(id=exchange.next_id(), game=game, day=day, practice=practice)
    seated = await exchange.request(message, say.Seated)
    return exchange.seats[seated.race.id]
