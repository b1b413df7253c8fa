"""Getting a replay file from a server, part by part."""

from typing import Any

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal_client.exchange import Exchange

__all__ = ["fetch"]


async def fetch(exchange: Exchange[Any], race: str) -> str:
    """The replay file of a closed race, named by its id, or by its room's code. Raise Refused."""
    message = ask.ReplayGet(id=exchange.next_id(), race=race)
    first = await exchange.request(message, say.ReplayFile)
    texts = [first.text]
    while len(texts) < first.parts:
        message = ask.ReplayGet(id=exchange.next_id(), race=first.race, part=len(texts))
        texts.append((await exchange.request(message, say.ReplayFile)).text)
    return "".join(texts)
