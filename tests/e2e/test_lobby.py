"""The lobby over real sockets and two nodes: open rooms come, change and go before one's eyes."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from redis.asyncio import Redis

from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.lobby_messages import LobbyRoom
from samedeal_server.lobby import Lobbies
from samedeal_server.store.lobby import KEEP_MS, LobbyStore
from support import eventually, second_node
from wire import Wire, wired

LISTED = {"listed": True}


@pytest.fixture
async def people(one: str, two: str) -> AsyncIterator[tuple[Wire, Wire]]:
    """A host on one node, and who looks on at another."""
    async with AsyncExitStack() as stack:
        yield (
            await stack.enter_async_context(wired(one, "host")),
            await stack.enter_async_context(wired(two, "guest")),
        )


def shown(wire: Wire) -> list[LobbyRoom]:
    """The rooms as the connection was told last."""
    return list(wire.all(say.Lobby)[-1].rooms)


async def shows(wire: Wire, *rooms: tuple[str, int]) -> None:
    """Wait until it was told of exactly these rooms: code and seats taken."""
    expected = set(rooms)
    await eventually(lambda: {(room.code, room.taken) for room in shown(wire)} == expected)


async def test_rooms_come_fill_and_go_before_the_eyes_of_who_looks_on(
    people: tuple[Wire, Wire],
) -> None:
    host, guest = people
    await guest.get(say.Lobby, ask.LobbyWatch)
    assert shown(guest) == []
    await host.get(say.Seated, ask.Create, game="lanes")
    options = {**LISTED, "seats": 3, "best_of": 3}
    room = (await host.get(say.Seated, ask.Create, game="sally", options=options)).race
    await shows(guest, (room.code, 1))
    (first,) = shown(guest)
    assert (first.game, first.host[:4], first.bot, first.rating) == ("sally", "host", False, 1500)
    assert (first.options.seats, first.options.best_of) == (3, 3)
    seat = await guest.get(say.Seated, ask.Join, code=room.code)
    await shows(guest, (room.code, 2))
    # The host changes its mind, and changes it again.
    for listed in (False, True):
        await host.get(say.Done, ask.SetOptions, race=room.id, options={"listed": listed})
        await shows(guest, *([(room.code, 2)] if listed else []))
    for wire in (guest, host):
        await wire.get(say.Done, ask.Ready, race=seat.race.id)
    await host.get(say.Done, ask.Start, race=room.id)
    await shows(guest)


async def test_a_room_is_gone_when_all_have_left_or_lost_their_connection(
    people: tuple[Wire, Wire], one: str
) -> None:
    host, guest = people
    await guest.get(say.Lobby, ask.LobbyWatch)
    left = (await host.get(say.Seated, ask.Create, game="lanes", options=LISTED)).race
    async with wired(one, "gone") as gone:
        lost = (await gone.get(say.Seated, ask.Create, game="lanes", options=LISTED)).race
        await shows(guest, (left.code, 1), (lost.code, 1))
        gone.abort()
    await shows(guest, (left.code, 1))
    await host.get(say.Done, ask.Leave, race=left.id)
    await shows(guest)
    async with wired(one, token=gone.token) as back:
        await back.get(say.Seated, ask.Resume, race=lost.id)
        await shows(guest, (lost.code, 1))
        await back.get(say.Done, ask.Leave, race=lost.id)
    await shows(guest)


async def test_one_game_can_be_looked_at_alone_and_no_more_after_that(
    people: tuple[Wire, Wire],
) -> None:
    host, guest = people
    await guest.get(say.Lobby, ask.LobbyWatch, game="lanes")
    other = (await host.get(say.Seated, ask.Create, game="sally", options=LISTED)).race
    room = (await host.get(say.Seated, ask.Create, game="lanes", options=LISTED)).race
    await shows(guest, (room.code, 1))
    await guest.get(say.Done, ask.LobbyWatch, on=False)
    heard = len(guest.all(say.Lobby))
    await host.get(say.Done, ask.Leave, race=room.id)
    await host.get(say.Done, ask.Leave, race=other.id)
    await host.get(say.Lobby, ask.LobbyWatch)
    await shows(host)
    assert len(guest.all(say.Lobby)) == heard
    refused = await guest.get(say.Refused, ask.LobbyWatch, game="poker")
    assert refused.code is ErrorCode.NOT_FOUND


async def test_the_rooms_of_a_killed_node_go_when_its_lease_ends(
    people: tuple[Wire, Wire], service_folder: Path
) -> None:
    _, guest = people
    await guest.get(say.Lobby, ask.LobbyWatch)
    with second_node(service_folder) as doomed:
        async with wired(doomed.url, "ghost") as ghost:
            room = (await ghost.get(say.Seated, ask.Create, game="lanes", options=LISTED)).race
            await shows(guest, (room.code, 1))
            doomed.stop(signal.SIGKILL)
    # The sweep of another node looks at it, and finds nobody there.
    async with Redis(unix_socket_path=str(service_folder / "data" / "store.sock")) as redis:

        async def is_seen_to() -> bool:
            await redis.zadd("races:due", {room.id: 0})
            return shown(guest) == []

        await eventually(is_seen_to)


async def test_a_room_that_no_node_confirms_is_a_ghost(redis: Redis) -> None:
    store = LobbyStore(redis)
    await store.note("race000000000001", 3, "old")
    await store.note("race000000000002", 3, "new")
    number, rooms = await store.rooms()
    assert {room.text for room in rooms} == {"old", "new"}
    text = await redis.hget("{lobby}:rooms", "race000000000001")
    assert text is not None
    ver, since, confirmed, shown = str(text).split("\n")
    stale = str(int(confirmed) - KEEP_MS - 1000)
    await redis.hset("{lobby}:rooms", "race000000000001", "\n".join((ver, since, stale, shown)))
    later, rooms = await store.rooms()
    assert [room.text for room in rooms] == ["new"]
    assert later > number


async def test_rooms_that_are_closed_leave_the_store_also_where_nobody_looks_on(
    redis: Redis,
) -> None:
    store = LobbyStore(redis)
    for number in range(3):
        race = f"race{number:012}"
        await store.note(race, 3, "open")
        await store.note(race, 4, "")
        since = await redis.hget("{lobby}:rooms", race)
        ver, begun, _, shown = str(since).split("\n")
        await redis.hset("{lobby}:rooms", race, "\n".join((ver, begun, "1000", shown)))
    await Lobbies(store).push()
    assert await redis.hlen("{lobby}:rooms") == 0


async def test_what_is_older_changes_nothing_whenever_it_comes(redis: Redis) -> None:
    store = LobbyStore(redis)
    for ver, text in ((5, "five"), (4, "four"), (7, ""), (6, "six")):
        await store.note("race000000000001", ver, text)
        _, rooms = await store.rooms()
        assert [room.text for room in rooms] == (["five"] if ver < 6 else [])
    # The same once more is no news.
    await store.note("race000000000001", 8, "eight")
    number, _ = await store.rooms()
    await store.note("race000000000001", 8, "eight")
    assert (await store.rooms())[0] == number
