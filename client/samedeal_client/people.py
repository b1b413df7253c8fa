"""The own account from a client: its name, its tokens and devices, all that is stored, its end."""

import json
import secrets
from typing import Any

from samedeal.protocol import people_messages as wire
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal_client.errors import ConnectionLost, Refused, Unanswered
from samedeal_client.exchange import Exchange

__all__ = ["People", "Uncertain"]


class Uncertain(Unanswered):
    """The answer was lost: the account has its old token, or the one in `token`."""

    def __init__(self, token: str) -> None:
        self.token = token
        super().__init__("the connection was lost while the token was replaced")


class People:
    """`await client.people.rename("eva")`."""

    def __init__(self, exchange: Exchange[Any]) -> None:
        self._exchange = exchange

    async def account(self) -> wire.AccountView:
        """The account as the server has it. Raise Refused."""
        message = wire.AccountGet(id=self._exchange.next_id())
        return await self._exchange.request(message, wire.AccountView)

    async def rename(self, name: str) -> wire.AccountView:
        """Take another name. Raise Refused if it is taken or none at all."""
        message = wire.Rename(id=self._exchange.next_id(), name=name)
        view = await self._exchange.request(message, wire.AccountView)
        self._exchange.name = view.name
        return view

    async def rotate(self) -> str:
        """Replace every token of the account by a new one, which is returned.

        Raise Refused, or Uncertain with the new token if nobody can say whether it was done.
        """
        secret = secrets.token_hex(32)
        token = f"{self._exchange.player}.{secret}"
        message = wire.Rotate(id=self._exchange.next_id(), secret=secret)
        try:
            await self._exchange.request(message, say.Done)
        except (ConnectionLost, Unanswered):
            raise Uncertain(token) from None
        except Refused as refusal:
            if refusal.code is ErrorCode.BAD_TOKEN:
                raise Uncertain(token) from None
            raise
        self._exchange.token = token
        return token

    async def link(self) -> wire.LinkMade:
        """Get a code that lets another device in, once. Raise Refused."""
        message = wire.LinkMake(id=self._exchange.next_id())
        return await self._exchange.request(message, wire.LinkMade)

    async def export(self) -> dict[str, Any]:
        """Fetch all that is stored about the account, its runs included. Raise Refused."""
        stored = await self._part(None)
        runs = []
        for race in stored.pop("races"):
            try:
                runs.append(await self._part(race))
            except Refused as refusal:
                if refusal.code is not ErrorCode.NOT_FOUND:
                    raise
        return {**stored, "runs": runs}

    async def delete(self) -> None:
        """Delete the account, for good. Raise Refused."""
        message = wire.Delete(id=self._exchange.next_id())
        await self._exchange.request(message, say.Done)

    async def _part(self, race: str | None) -> dict[str, Any]:
        message = wire.Export(id=self._exchange.next_id(), race=race)
        part = await self._exchange.request(message, wire.ExportPart)
        stored: dict[str, Any] = json.loads(part.text)
        return stored
