"""Watching for a client: the races that run, and one of them from now to its close."""

from collections.abc import AsyncGenerator

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase
from samedeal.protocol.watch_messages import LiveRace
from samedeal_client.exchange import Exchange
from samedeal_client.race import Race
from samedeal_client.sight import Sight

__all__ = ["list_live", "watch"]

_ID_LETTERS = 16
"""The length of a race's id; codes are shorter."""


async def list_live(exchange: Exchange[Race], limit: int) -> tuple[LiveRace, ...]:
    """The races that run and may be watched, the latest first. Raise Refused."""
    message = ask.LiveGet(id=exchange.next_id(), limit=limit)
    return (await exchange.request(message, say.LiveRaces)).races


async def watch(exchange: Exchange[Race], race: str) -> AsyncGenerator[Sight]:
    """See a race, by its code or id, until it is closed; the last sight has the seed and the order.

    A lost connection is made again and told by a sight. Raise Refused if it may not be watched, or
    not any longer.
    """
    where = {"race" if len(race) == _ID_LETTERS else "code": race}
    race_id = None
    try:
        while True:
            message = ask.Watch(id=exchange.next_id(), **where)
            answer = await exchange.request(message, say.Watching)
            race_id = answer.race.id
            # From now on by its id: the code may lead to the next race of the room.
            where = {"race": race_id}
            feed = exchange.watched[race_id]
            is_up = True
            while is_up:
                sight = await feed.next()
                is_up = sight.is_up
                yield sight
                if sight.race.phase is Phase.CLOSED:
                    return
    finally:
        if race_id is not None and exchange.watched.pop(race_id, None) is not None:
            exchange.send(ask.Unwatch(id=exchange.next_id(), race=race_id))
