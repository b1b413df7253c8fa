"""Leaderboards from a client: one page, or row after row."""

from collections.abc import AsyncIterator
from typing import Any

from samedeal.protocol.board_messages import (
    Board,
    BoardGet,
    BoardRow,
    Friend,
    FriendAdd,
    FriendRemove,
    Friends,
    FriendsGet,
)
from samedeal_client.exchange import Exchange

__all__ = ["Boards"]


class Boards:
    """`await client.boards.page("lanes")`."""

    def __init__(self, exchange: Exchange[Any]) -> None:
        self._exchange = exchange

    async def page(self, game: str, **wish: Any) -> Board:
        """A page of a board; see BoardGet for what can be wished. Raise Refused."""
        message = BoardGet(id=self._exchange.next_id(), game=game, **wish)
        return await self._exchange.request(message, Board)

    async def rows(self, game: str, **wish: Any) -> AsyncIterator[BoardRow]:
        """Every row from a page on, to the end of the board. Raise Refused."""
        while True:
            page = await self.page(game, **wish)
            for row in page.rows:
                yield row
            if page.next is None:
                return
            wish["page"] = page.next

    async def befriend(self, name: str) -> tuple[Friend, ...]:
        """Put a friend on the own list. Return the list; raise Refused."""
        return await self._friends(FriendAdd(id=self._exchange.next_id(), name=name))

    async def unfriend(self, name: str) -> tuple[Friend, ...]:
        """Take a friend off the own list. Return the list; raise Refused."""
        return await self._friends(FriendRemove(id=self._exchange.next_id(), name=name))

    async def friends(self) -> tuple[Friend, ...]:
        """The own list of friends. Raise Refused."""
        return await self._friends(FriendsGet(id=self._exchange.next_id()))

    async def _friends(self, message: FriendAdd | FriendRemove | FriendsGet) -> tuple[Friend, ...]:
        return (await self._exchange.request(message, Friends)).friends
