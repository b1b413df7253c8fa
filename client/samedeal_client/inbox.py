"""What the server tells of one matter, for as long as somebody follows it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from samedeal_client.errors import ClientError

__all__ = ["Inbox"]

_Message = TypeVar("_Message")


class Inbox(Generic[_Message]):
    """Messages in order; a lost connection is told among them.

    `merged` makes one of the last unread message and a new one, so that who reads slowly is not
    owed ever more; None keeps both.
    """

    def __init__(
        self, merged: Callable[[_Message, _Message], _Message | None] = lambda _last, _new: None
    ) -> None:
        self._merged = merged
        self._messages: deque[_Message] = deque()
        self._is_lost = False
        self._error: ClientError | None = None
        self._news = asyncio.Event()

    def put(self, message: _Message) -> None:
        """Something was told."""
        both = self._merged(self._messages[-1], message) if self._messages else None
        if both is None:
            self._messages.append(message)
        else:
            self._messages[-1] = both
        self._news.set()

    def lost(self) -> None:
        """The connection is gone, and with it what was still to come: it has to be asked anew."""
        self._messages.clear()
        self._is_lost = True
        self._news.set()

    def end(self, error: ClientError) -> None:
        """Nothing will come any more."""
        self._error = error
        self._news.set()

    async def next(self) -> _Message | None:
        """Wait for the next message. Return None after a lost connection, once. Raise the end."""
        while not self._messages:
            if self._error is not None:
                raise self._error
            if self._is_lost:
                self._is_lost = False
                return None
            self._news.clear()
            await self._news.wait()
        return self._messages.popleft()
