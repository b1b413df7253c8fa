"""Quick match for a client: wait for an opponent, accept, and sit in the race."""

from collections.abc import AsyncGenerator

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.match_messages import MatchState
from samedeal_client.errors import Refused
from samedeal_client.exchange import Exchange
from samedeal_client.inbox import Inbox
from samedeal_client.race import Race

__all__ = ["QuickMatch"]


class QuickMatch:
    """A search for an opponent. It begins with the first event asked for, and ends with them.

    ```
    match = client.match("lanes")
    async for event in match.events():
        if event.state is MatchState.FOUND:
            await match.accept()
    race = await match.race()
    ```
    """

    def __init__(self, exchange: Exchange[Race], game: str) -> None:
        self._exchange = exchange
        self._game = game
        self._race: str | None = None
        """The race that was found, to be accepted, and in the end the one to sit in."""
        self._is_ready = False

    async def events(self) -> AsyncGenerator[say.Match]:
        """How the search stands, until there is a race or it is over. Raise Refused.

        A lost connection costs neither the place in the queue nor the opponent, if another one is
        made in time.
        """
        exchange = self._exchange
        inbox: Inbox[say.Match] = Inbox()
        exchange.inboxes[say.Match] = inbox
        is_over = False
        try:
            while not is_over:
                if self._race is not None and await self._sits():
                    # Made while the connection was away.
                    is_over = self._is_ready = True
                    yield say.Match(game=self._game, state=MatchState.READY, race=self._race)
                    return
                queue = ask.MatchQueue(id=exchange.next_id(), game=self._game)
                event: say.Match | None = await exchange.request(queue, say.Match)
                while event is not None:
                    self._take(event)
                    is_over = event.state in (MatchState.READY, MatchState.OVER)
                    yield event
                    if is_over:
                        return
                    event = await inbox.next()
        finally:
            if exchange.inboxes.get(say.Match) is inbox:
                del exchange.inboxes[say.Match]
            if not is_over:
                exchange.send(ask.MatchLeave(id=exchange.next_id()))

    async def accept(self) -> None:
        """Accept the opponent. Raise Refused if it is gone; then the search goes on."""
        await self._answer(accept=True)

    async def decline(self) -> None:
        """Leave the queue instead."""
        await self._answer(accept=False)

    async def bot(self) -> None:
        """Play the bot that was offered. Raise Refused if an opponent came first."""
        message = ask.MatchBot(id=self._exchange.next_id())
        ready = await self._exchange.request(message, say.Match)
        if (inbox := self._exchange.inboxes.get(say.Match)) is not None:
            inbox.put(ready)

    async def race(self) -> Race:
        """Sit in the race that came of it. Raise Refused."""
        if self._race is None or not self._is_ready:
            raise ValueError("no race has come of this search")
        return await self._sit()

    async def _sits(self) -> bool:
        """Whether the race that was found has been made, with a seat in it."""
        try:
            await self._sit()
        except Refused:
            return False
        return True

    async def _sit(self) -> Race:
        assert self._race is not None
        exchange = self._exchange
        seated = await exchange.request(
            ask.Resume(id=exchange.next_id(), race=self._race), say.Seated
        )
        return exchange.seats[seated.race.id]

    async def _answer(self, *, accept: bool) -> None:
        if self._race is None:
            raise ValueError("no opponent was found yet")
        message = ask.MatchAnswer(id=self._exchange.next_id(), race=self._race, accept=accept)
        await self._exchange.request(message, say.Done)

    def _take(self, event: say.Match) -> None:
        self._race = event.race
        self._is_ready = event.state is MatchState.READY
