"""The lobby for a client: the open rooms, now and whenever they change."""

from collections.abc import AsyncGenerator

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.lobby_messages import LobbyRoom
from samedeal_client.exchange import Exchange
from samedeal_client.inbox import Inbox
from samedeal_client.race import Race

__all__ = ["lobby"]


async def lobby(
    exchange: Exchange[Race], game: str | None
) -> AsyncGenerator[tuple[LobbyRoom, ...]]:
    """Give the open rooms, and again when they change; after a lost connection they are asked anew.

    Who reads slowly gets the latest, and skips some. Raise Refused for an unknown game.
    """
    inbox: Inbox[say.Lobby] = Inbox(lambda _old, news: news)
    exchange.inboxes[say.Lobby] = inbox
    try:
        while True:
            message = ask.LobbyWatch(id=exchange.next_id(), game=game)
            yield (await exchange.request(message, say.Lobby)).rooms
            while (news := await inbox.next()) is not None:
                yield news.rooms
    finally:
        if exchange.inboxes.get(say.Lobby) is inbox:
            del exchange.inboxes[say.Lobby]
            exchange.send(ask.LobbyWatch(id=exchange.next_id(), on=False))
