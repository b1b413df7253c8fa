"""The server's own bot: it plays the seats it holds in races with people of this node."""

import asyncio
import logging
import random

from samedeal.greedy import Greedy
from samedeal.protocol.fields import Phase, Status
from samedeal_server.desk import RaceDesk
from samedeal_server.errors import Refusal, ServerError, StoreUnavailable
from samedeal_server.pause import is_set_within
from samedeal_server.room import Room
from samedeal_server.runs import Committed, Fenced, LiveRun
from samedeal_server.store.accounts import HOUSE_BOT

__all__ = ["LOOK_S", "HouseBot"]

log = logging.getLogger(__name__)

LOOK_S = 1.0
PACE_S = (0.5, 1.5)
"""How long it takes for a move, at least and at most."""


class _BotSeat:
    """A seat it holds: a member of the room like a player's connection."""

    def __init__(self, seat: int, epoch: int, live: LiveRun | None) -> None:
        self.seat = seat
        self.epoch = epoch
        self.live = live
        self.is_over = asyncio.Event()

    def send(self, frame: bytes) -> None:
        """It needs nothing but its table."""

    def tell(self, _framed: bytes, _now: float) -> None:
        """It needs to know of nobody."""

    def tell_due(self, _now: float) -> None:
        """Nothing waits for it."""

    def drop(self) -> None:
        """Nothing waits for it."""

    def fenced(self) -> None:
        self.is_over.set()


class HouseBot:
    """Looks for seats of its own that nobody plays, and plays them; any node can go on with one.

    It chooses by the greedy strategy, which sees the visible cards alone, as every player does.
    """

    def __init__(self, desk: RaceDesk, *, pace_s: tuple[float, float] = PACE_S) -> None:
        self._desk = desk
        self._pace_s = pace_s
        self._plays: dict[str, asyncio.Task[None]] = {}
        self._closing = asyncio.Event()

    async def look(self) -> None:
        """Begin to play where its seat is empty: in a new race, or after its node has died."""
        for room in self._desk.rooms.all():
            if room.id not in self._plays and self._is_wanted(room):
                task = asyncio.create_task(self._play(room.id), name=f"housebot {room.id}")
                self._plays[room.id] = task
                task.add_done_callback(lambda _, race=room.id: self._plays.pop(race))  # type: ignore[misc]

    async def close(self) -> None:
        """Stop, and leave the seats to other nodes."""
        self._closing.set()
        while self._plays:
            await asyncio.wait(self._plays.values())

    @staticmethod
    def _is_wanted(room: Room) -> bool:
        seats = room.state.seats.values()
        return room.state.phase is not Phase.CLOSED and any(
            seat.player == HOUSE_BOT.player and not seat.present and seat.ended is None
            for seat in seats
        )

    async def _play(self, race_id: str) -> None:
        desk = self._desk
        try:
            attached, state = await desk.attach(HOUSE_BOT, race_id)
            live = await desk.load_run(desk.rooms.newest(state), attached.seat, attached.epoch)
            member = _BotSeat(attached.seat, attached.epoch, live)
            room = desk.rooms.place(desk.rooms.take(state), member)
            try:
                await self._moves(room, member)
            finally:
                desk.rooms.exit(room, member)
                await desk.races.detach(race_id, attached.seat, attached.epoch)
        except StoreUnavailable as error:
            log.warning("race %s: the bot has to wait: %s", race_id, error)
        except Refusal as refusal:
            log.info("race %s: the bot is out: %s", race_id, refusal)
        except Exception:
            log.exception("race %s: the bot failed", race_id)

    async def _moves(self, room: Room, member: _BotSeat) -> None:
        """Play until nothing is left to do, bank, and stay until the race is closed."""
        greedy, rng = Greedy(random.getrandbits(32)), random.Random()
        is_done = False
        while room.state.phase is not Phase.CLOSED:
            if await self._stops_within(member, rng.uniform(*self._pace_s)):
                return
            live = member.live
            if is_done or live is None or room.state.phase is not Phase.RUNNING:
                continue
            if live.run.is_won:
                is_done = True
                continue
            move = greedy.choose(live.run.table)
            if move is None:
                await self._desk.end(HOUSE_BOT, room.id, Status.BANKED)
                await self._desk.rooms.advance(room.id)
                is_done = True
            elif isinstance(result := await self._commit(room, member, live, str(move)), Fenced):
                return
            elif isinstance(result, ServerError):
                raise result

    async def _stops_within(self, member: _BotSeat, seconds: float) -> bool:
        if await is_set_within(member.is_over, seconds):
            return True
        return self._closing.is_set()

    async def _commit(
        self, room: Room, member: _BotSeat, live: LiveRun, action: str
    ) -> Committed | ServerError:
        done: asyncio.Future[Committed | ServerError] = asyncio.get_running_loop().create_future()

        def settled(result: Committed | ServerError, ver: int | None) -> None:
            if isinstance(result, Committed):
                self._desk.rooms.moved(room, member.seat, live, ver)
            done.set_result(result)

        live.submit(action, settled)
        return await done
