"""The lobby on this node: which rooms are open, and who is told when that changes."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from samedeal.protocol.codec import encode
from samedeal.protocol.fields import Phase
from samedeal.protocol.lobby_messages import Lobby, LobbyRoom
from samedeal_server.opening import known
from samedeal_server.race import RaceState
from samedeal_server.store.lobby import LobbyStore, OpenRoom

__all__ = ["PUSH_S", "Lobbies", "Onlooker", "open_room"]

PUSH_S = 0.25
"""How often those who look on may be told, at most: of many changes the latest counts."""
_IDLE_S = 2.0
"""After so long without a ring the store is asked whether one was lost."""
_UNSEEN_S = 30.0
"""So often the rooms are read where nobody looks on: only reading lets the ghosts among them go."""
MOST = 100


class Onlooker(Protocol):
    """A connection that looks on."""

    def send(self, frame: bytes) -> None:
        """Write a frame now, without waiting."""


def open_room(state: RaceState) -> LobbyRoom | None:
    """What the lobby shows of a race; None if it is not open to anybody.

    A room whose players are all away is none: nobody is there to start it.
    """
    seats, options = state.seats, state.options
    is_open = options.listed and state.phase is Phase.LOBBY and state.host in seats
    if not is_open or len(seats) >= options.seats or not any(s.present for s in seats.values()):
        return None
    host = seats[state.host]
    rating = host.rating
    return LobbyRoom(
        code=state.code,
        game=state.game,
        host=host.name,
        bot=host.bot,
        rating=None if rating is None else rating.number,
        provisional=rating is not None and rating.is_provisional,
        taken=len(seats),
        options=options,
    )


@dataclass(slots=True)
class _Look:
    """What one onlooker wants, and has been told."""

    game: str | None
    told: int


class Lobbies:
    """Notes rooms of this node as they change, and tells onlookers the rooms of all nodes."""

    def __init__(self, store: LobbyStore) -> None:
        self._store = store
        self._onlookers: dict[Onlooker, _Look] = {}
        self._number = -1
        self._rooms: list[LobbyRoom] = []
        self._has_rung = True
        self._read_at = 0.0
        self._reading = asyncio.Lock()
        """One after the other: a list must not be followed by an older one."""
        self._now = asyncio.get_running_loop().time

    async def note(self, state: RaceState) -> None:
        """Note how a race stands in the lobby: what it looks like, or that it is not open."""
        room = open_room(state)
        text = "" if room is None else room.model_dump_json()
        await self._store.note(state.id, state.ver, text)

    async def watch(self, onlooker: Onlooker, game: str | None, request: int) -> Lobby:
        """Tell a connection the rooms from now on. Return the answer. Raise Refusal."""
        if game is not None:
            known(game)
        await self._read()
        self._onlookers[onlooker] = _Look(game, self._number)
        return Lobby(id=request, rooms=self._rooms_of(game))

    def unwatch(self, onlooker: Onlooker) -> None:
        """Tell it no more; it may never have looked."""
        self._onlookers.pop(onlooker, None)

    def rang(self) -> None:
        """The rooms have changed, or may have."""
        self._has_rung = True

    async def push(self) -> None:
        """Tell onlookers what is new to them, each frame encoded once."""
        is_due = self._now() - self._read_at >= (_IDLE_S if self._onlookers else _UNSEEN_S)
        if not is_due and not (self._onlookers and self._has_rung):
            return
        await self._read()
        frames: dict[str | None, bytes] = {}
        for onlooker, look in list(self._onlookers.items()):
            if look.told == self._number:
                continue
            look.told = self._number
            if look.game not in frames:
                frames[look.game] = encode(Lobby(rooms=self._rooms_of(look.game)))
            onlooker.send(frames[look.game])

    async def _read(self) -> None:
        """Read all rooms; that also lets the ghosts among them go."""
        async with self._reading:
            self._has_rung = False
            self._read_at = self._now()
            self._number, rooms = await self._store.rooms()
            self._rooms = [_shown(room) for room in rooms]

    def _rooms_of(self, game: str | None) -> tuple[LobbyRoom, ...]:
        rooms = [room for room in self._rooms if game in (None, room.game)]
        return tuple(rooms[:MOST])


def _shown(room: OpenRoom) -> LobbyRoom:
    shown = LobbyRoom.model_validate_json(room.text)
    return shown.model_copy(update={"waited_ms": room.waited_ms})
