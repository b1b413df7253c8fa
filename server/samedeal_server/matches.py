"""Quick match on this node: who waits here, what they are told, and the races that come of it."""

import asyncio
import logging
import secrets
from dataclasses import dataclass, field
from typing import Any, Protocol

from samedeal.protocol.codec import encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import RaceOptions, Spectating
from samedeal.protocol.match_messages import Match, MatchState
from samedeal_server.errors import Refusal
from samedeal_server.opening import SEED_BYTES, dealt, free_code, known
from samedeal_server.race import SeatState
from samedeal_server.ratings import Ratings
from samedeal_server.skill import Shown
from samedeal_server.store.accounts import HOUSE_BOT, Account, new_id
from samedeal_server.store.queue import Claim, MatchQueue, Standing, new_ticket
from samedeal_server.store.races import RaceStore

__all__ = ["TICK_S", "Matches", "Seeker"]

log = logging.getLogger(__name__)

TICK_S = 0.5
_COUNTDOWN_S = 5
"""Both are at their screens, but were not told yet that the other one accepted."""
_RANKED = RaceOptions(
    ranked=True, spectating=Spectating.SHAPE, bots=False, countdown_s=_COUNTDOWN_S
)
_REPLACED = "another connection of yours waits now"
_WITH_BOT = RaceOptions(countdown_s=_COUNTDOWN_S)


class Seeker(Protocol):
    """A connection that waits for an opponent."""

    def send(self, frame: bytes) -> None:
        """Write a frame now, without waiting."""


@dataclass(slots=True)
class _Waiting:
    """One who waits on this node."""

    account: Account
    seeker: Seeker
    game: str
    ticket: str
    rating: Shown
    state: str = "waiting"
    """As it was told last."""
    pair: str = ""
    must_answer_by: float = 0.0
    may_be_offered_bot: bool = True
    left: bool = field(default=False)

    def tell(self, state: MatchState, **facts: Any) -> None:
        message = Match(game=self.game, state=state, rating=self.rating.number, **facts)
        self.seeker.send(encode(message))


class Matches:
    """Answers for everyone who waits on this node, and makes the races of pairs that agreed."""

    def __init__(self, queue: MatchQueue, races: RaceStore, ratings: Ratings) -> None:
        self._queue = queue
        self._races = races
        self._ratings = ratings
        self._waiting: dict[str, _Waiting] = {}
        self._ticking = asyncio.Lock()
        self._joining = asyncio.Lock()
        """Of two connections of one player the later one waits, here as in the store."""
        self._closing = False
        self._now = asyncio.get_running_loop().time

    async def join(self, account: Account, seeker: Seeker, game: str, request: int) -> Match:
        """Wait for an opponent; a bot waits for who wants one. Return the answer. Raise Refusal."""
        if self._closing:
            sentence = "this server is about to stop; ask again in a moment"
            raise Refusal(ErrorCode.STORE_UNAVAILABLE, sentence, retry_ms=1000)
        rating = await self._ratings.of(known(game).id, account.player)
        one = _Waiting(account, seeker, game, new_ticket(), rating)
        one.may_be_offered_bot = not account.bot
        async with self._joining:
            await self._queue.join(account, one.ticket, game, str(rating))
            older = self._waiting.get(account.player)
            if older is not None:
                self._forget(older)
                if older.seeker is not seeker:
                    older.tell(MatchState.OVER, sentence=_REPLACED)
            self._waiting[account.player] = one
        return Match(id=request, game=game, state=MatchState.WAITING, rating=rating.number)

    async def answer(self, account: Account, seeker: Seeker, pair: str, *, accept: bool) -> None:
        """Accept an opponent, or decline and leave. Raise Refusal if it is too late."""
        one = self._own(account, seeker)
        word = await self._queue.answer(account.player, one.ticket, pair, accept=accept)
        if word == "agreed":
            sentence = "both of you have accepted; the race begins"
            raise Refusal(ErrorCode.WRONG_PHASE, sentence)
        if word == "gone":
            raise Refusal(ErrorCode.NOT_FOUND, "that opponent is not there any more")
        if not accept:
            self._drop(one, "you declined and left the queue")

    async def bot(self, account: Account, seeker: Seeker, request: int) -> Match:
        """Leave the queue for a race with a bot that waits, else the server's. Raise Refusal."""
        one = self._own(account, seeker)
        # No tick meanwhile: until the race is there this one waits, and if it fails waits on.
        async with self._ticking:
            word, claim = await self._queue.take_bot(account.player, one.ticket)
            if word == "early":
                sentence = "wait a little longer: somebody may come; then the bot is offered"
                raise Refusal(ErrorCode.WRONG_PHASE, sentence)
            if word != "done":
                raise Refusal(ErrorCode.WRONG_PHASE, "an opponent was found just now")
            race_id = await self._with_bot(one, claim)
            self._forget(one)
        return Match(id=request, game=one.game, state=MatchState.READY, race=race_id)

    async def _with_bot(self, one: _Waiting, claim: Claim | None) -> str:
        """Make the race with the bot that was taken, else with the server's. Return its id."""
        if claim is not None:
            await self._make(claim)
            await self._queue.leave(one.account.player, one.ticket)
            return claim.pair
        race_id = new_id()
        seats = (_seat(1, one.account, one.rating), _seat(2, HOUSE_BOT, None))
        await self._open(race_id, one.game, seats, _WITH_BOT)
        return race_id

    async def leave(self, account: Account, seeker: Seeker) -> None:
        """Leave the queue; who is not in it has left already."""
        one = self._waiting.get(account.player)
        if one is not None and one.seeker is seeker:
            self._forget(one)
            await self._queue.leave(account.player, one.ticket)

    async def lost(self, account: Account, seeker: Seeker) -> None:
        """The connection is gone; who comes back in time has its place and its opponent still."""
        one = self._waiting.get(account.player)
        if one is not None and one.seeker is seeker:
            self._forget(one)
            await self._queue.away(account.player, one.ticket)

    async def tick(self) -> None:
        """Tell those who wait here what is new, and make races that are to be made."""
        async with self._ticking:
            waiting = list(self._waiting.values())
            if not waiting:
                return
            own = [(one.account.player, one.ticket) for one in waiting]
            standings, claims = await self._queue.tick(own)
            for claim in claims:
                await self._make(claim)
            for one, standing in zip(waiting, standings, strict=True):
                if not one.left:
                    await self._stands(one, standing)

    async def close(self) -> None:
        """Have nobody wait here any more: they come back to another node."""
        self._closing = True
        async with self._ticking:
            for one in list(self._waiting.values()):
                self._forget(one)
                await self._queue.away(one.account.player, one.ticket)

    async def _make(self, claim: Claim) -> None:
        """Open the race of a pair. A node that ends half way leaves it to the next: same id."""
        seats = []
        for number, (player, name) in enumerate(claim.sides, start=1):
            rating = await self._ratings.of(claim.game, player)
            is_bot = claim.with_bot and number == 2
            seats.append(_seat(number, Account(player, name, is_bot), None if is_bot else rating))
        options = _WITH_BOT if claim.with_bot else _RANKED
        await self._open(claim.pair, claim.game, tuple(seats), options)
        await self._queue.made(claim.pair)

    async def _open(
        self, race_id: str, game: str, seats: tuple[SeatState, ...], options: RaceOptions
    ) -> None:
        """Open a race of those who have all agreed to it, and start it."""
        seed = secrets.token_bytes(SEED_BYTES)
        code = await free_code(self._races, race_id)
        await self._races.create(
            dealt(
                game,
                seed,
                id=race_id,
                code=code,
                practice=False,
                options=options,
                round=1,
                host=1,
                roster=seats,
            )
        )
        # Whatever it says, the race has begun: by this call, or by one before it.
        await self._races.start(race_id, seats[0].player)

    async def _stands(self, one: _Waiting, now: Standing) -> None:
        """Tell one who waits what has changed."""
        before, one.state = one.state, now.state
        match now.state:
            case "made":
                self._forget(one)
                one.tell(MatchState.READY, race=now.pair)
                await self._queue.leave(one.account.player, one.ticket)
            case "found" if now.pair != one.pair:
                one.pair = now.pair
                one.must_answer_by = self._now() + now.left_ms / 1000
                one.tell(MatchState.FOUND, race=now.pair, within_ms=now.left_ms)
            case "waiting":
                one.pair = ""
                if before in ("found", "accepted"):
                    sentence = "the other player did not accept; you are first in line again"
                    one.tell(MatchState.WAITING, sentence=sentence)
                elif one.may_be_offered_bot and now.waited_ms >= self._queue.bot_ms:
                    one.may_be_offered_bot = False
                    sentence = "nobody is here yet; you may play a bot, or wait on"
                    one.tell(MatchState.BOT_OFFERED, sentence=sentence)
            case "replaced":
                self._drop(one, _REPLACED)
            case "gone":
                if before == "found" and self._now() >= one.must_answer_by - TICK_S:
                    self._drop(one, "you did not accept in time and left the queue")
                else:
                    # The store, or this node, was away for longer than the lease.
                    one.state = "waiting"
                    await self._queue.join(one.account, one.ticket, one.game, str(one.rating))
            case _:
                pass

    def _own(self, account: Account, seeker: Seeker) -> _Waiting:
        one = self._waiting.get(account.player)
        if one is None or one.seeker is not seeker:
            raise Refusal(ErrorCode.NOT_FOUND, "you are not in the queue")
        return one

    def _drop(self, one: _Waiting, sentence: str) -> None:
        self._forget(one)
        one.tell(MatchState.OVER, sentence=sentence)

    def _forget(self, one: _Waiting) -> None:
        one.left = True
        if self._waiting.get(one.account.player) is one:
            del self._waiting[one.account.player]


def _seat(number: int, account: Account, rating: Shown | None) -> SeatState:
    return SeatState(
        seat=number,
        player=account.player,
        name=account.name,
        bot=account.bot,
        ready=True,
        rating=rating,
    )
