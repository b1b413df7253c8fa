"""Operators: bans, results, days and words, each by a stable id, in a log, and reversible."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from closed import FIRST, closed_race
from node import Player, Trio, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import people_messages as wire
from samedeal.protocol import server_messages as say
from samedeal.protocol.days import DAY_MS, number_of
from samedeal.protocol.errors import ErrorCode
from samedeal_server.admin.operators import CannotDo, Operators
from samedeal_server.boards import Boards
from samedeal_server.store import keys
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.days import DayStore
from samedeal_server.store.races import RaceStore
from samedeal_server.streaks import Streaks
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

    from samedeal_server.desk import RaceDesk
    from samedeal_server.race import RaceState

pytestmark = pytest.mark.usefixtures("every_key_expires")

BOARDS: list[dict[str, Any]] = [
    {"board": "daily", "day": FIRST.isoformat()},
    {"board": "wins", "period": "all"},
    {"board": "fastest", "period": "all"},
    {"board": "fastest", "period": "week", "day": FIRST.isoformat()},
    {"board": "streak", "period": "all"},
]


@pytest.fixture
async def desks(valkey_url: str, redis: Redis) -> AsyncIterator[list[RaceDesk]]:
    """Two nodes on one store."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(node(valkey_url, f"n{n}")) for n in (1, 2)]


@pytest.fixture
async def operators(redis: Redis) -> Operators:
    return Operators(redis, "zoe")


@pytest.fixture
async def trio(desks: list[RaceDesk], redis: Redis) -> Trio:
    """Three people in a race that is closed; the first are better on every board."""
    trio = Trio(desks[0], "lanes")
    await trio.sit()
    for seat in (1, 2, 3):
        await trio.do(seat, "played", "draw")
        await trio.seats[seat].get(say.Done, ask.Bank, race=trio.race)
    await eventually(lambda: any(isinstance(m, say.Closed) for m in trio.seats[1].said()))
    boards = Boards(BoardStore(redis), RaceStore(redis, "n1"), DayStore(redis))
    streaks = Streaks(DayStore(redis), boards.store)
    for seat in (1, 2, 3):
        for win in range(4 - seat):
            await boards.book(won(trio, 10 * seat + win, seat))
        for on in range(5):
            state = won(trio, 100 * seat + on, seat, on=on)
            assert state.day is not None
            await boards.book(state)
            if seat <= on + 1:
                await streaks.book(state, state.day)
    return trio


def won(trio: Trio, number: int, seat: int, on: int | None = None) -> RaceState:
    """A race that a seat of the trio has won, faster the earlier the seat; or its run of a day."""
    names = ("ada", "ivo", "eva")
    who = [(player_of(trio, one), names[one - 1]) for one in (seat, seat % 3 + 1)]
    t_ms = 60_000 + 1000 * seat
    return closed_race(number, *(who if on is None else who[:1]), t_ms=t_ms, on=on)


def player_of(trio: Trio, seat: int) -> str:
    return trio.token[seat].partition(".")[0]


async def hello(desk: RaceDesk, **fields: Any) -> tuple[Player, say.ServerMessage]:
    player = Player(desk)
    return player, await player.ask(ask.Hello, **fields)


async def views(
    player: Player, boards: list[dict[str, Any]] = BOARDS
) -> list[tuple[str, list[tuple[int, str]], int | None]]:
    """Every board as a player sees it: places and names, and the own place."""
    pages = []
    for fields in boards:
        page = await player.get(say.Board, ask.BoardGet, game="lanes", **fields)
        rows = [(row.place, row.name) for row in page.rows]
        pages.append((fields["board"], rows, page.me.place if page.me else None))
    return pages


async def test_p45_a_banned_player_leaves_no_hole_and_comes_back_to_all_its_places(
    desks: list[RaceDesk], trio: Trio, operators: Operators
) -> None:
    ivo, (zoe, _) = trio.seats[2], await hello(desks[1], name="zoe")
    before = await views(ivo)
    for board, rows, mine in before:
        assert [name for _, name in rows][:2] == ["ada", "ivo"], board
        assert mine == 2, board
    ada = player_of(trio, 1)
    away, _ = await hello(desks[1], token=trio.token[1])
    told = await operators.ban(ada, None, "cheated")
    for player in (trio.seats[1], away):
        await eventually(lambda p=player: p.closed is not None)  # type: ignore[misc]
        assert [m.sentence for m in player.said() if isinstance(m, wire.Dismissed)] == [told]
    _, answer = await hello(desks[0], token=trio.token[1])
    assert isinstance(answer, say.Refused)
    assert (answer.code, answer.sentence) == (ErrorCode.BANNED, told)
    assert "for good: cheated" in told
    for board, rows, mine in await views(ivo):
        assert rows[0] == (1, "ivo"), board
        assert "ada" not in [name for _, name in rows], board
        assert mine == 1, board
    hidden = await zoe.get(say.Refused, ask.ReplayGet, race=trio.race)
    assert hidden.code is ErrorCode.HIDDEN
    await ivo.get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    await operators.unban(ada, "it was another")
    assert await views(ivo) == before
    await zoe.get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    _, answer = await hello(desks[1], token=trio.token[1])
    assert isinstance(answer, say.Welcome)
    assert [(d.who, d.did, d.what, d.why) for d in await operators.log(10)] == [
        ("zoe", "unban", ada, "it was another"),
        ("zoe", "ban", ada, "cheated"),
    ]


async def test_a_deleted_player_is_off_every_board_at_once_and_all_that_is_stored_was_exported(
    desks: list[RaceDesk], trio: Trio
) -> None:
    ada = trio.seats[1]
    stored = json.loads((await ada.get(wire.ExportPart, ask.Export)).text)
    # Five days, three races won and one lost, and the race of the trio itself.
    assert len(stored["results"]["lanes"]) == 10
    assert stored["days"] == {"lanes": [number_of(FIRST) + on for on in range(5)]}
    await ada.get(say.Done, ask.Delete)
    for board, rows, mine in await views(trio.seats[2]):
        assert rows[0] == (1, "ivo"), board
        assert "ada" not in [name for _, name in rows], board
        assert mine == 1, board
    assert "ada" not in str(await views((await hello(desks[1], name="ada"))[0]))


async def test_a_ban_for_a_time_lifts_itself_on_any_node(
    desks: list[RaceDesk], trio: Trio, operators: Operators, redis: Redis
) -> None:
    ivo, ada = trio.seats[2], player_of(trio, 1)
    before = await views(ivo)
    assert "until 20" in await operators.ban(ada, 7 * DAY_MS, "")
    assert await views(ivo) != before
    await desks[1].people.sweep()
    assert await redis.zcard(keys.bans()) == 1
    # A week later, by the clock of the store: its end has come.
    await redis.zadd(keys.bans(), {ada: 1})
    # Both nodes see it at once; it is written down as one deed.
    await asyncio.gather(*(desk.people.sweep() for desk in desks))
    assert await views(ivo) == before
    assert isinstance((await hello(desks[0], token=trio.token[1]))[1], say.Welcome)
    deeds = [(deed.who, deed.did) for deed in await operators.log(10)]
    assert deeds == [("the clock", "unban"), ("zoe", "ban")]


async def test_a_removed_result_a_void_race_and_a_void_day_change_what_follows_and_come_back(
    trio: Trio, operators: Operators
) -> None:
    ivo = trio.seats[2]
    before = await views(ivo)
    fastest, wins, streak, daily = 2, 1, 4, 0
    for win in range(3):
        await operators.remove(f"race{10 + win:012}.1", "too fast")
    removed = await views(ivo)
    assert removed[fastest][1][0] == (1, "ivo")
    assert removed[wins][1][0][1] == "ivo"
    assert removed[daily] == before[daily]
    for win in range(3):
        await operators.remove(f"race{10 + win:012}.1", "it was fine", restore=True)
    assert await views(ivo) == before
    for win in range(3):
        await operators.void(f"race{10 + win:012}", "a bad deal")
    assert (await views(ivo))[wins][1][0][1] == "ivo"
    for win in range(3):
        await operators.void(f"race{10 + win:012}", "", unvoid=True)
    assert await views(ivo) == before
    await operators.void_day(number_of(FIRST), ["lanes"], "the deal leaked")
    assert (await views(ivo, BOARDS[1:]))[streak - 1] != before[streak]
    await operators.void_day(number_of(FIRST), ["lanes"], "it did not", unvoid=True)
    assert await views(ivo) == before
    deeds = [deed.did for deed in await operators.log(100)]
    assert [deeds.count(word) for word in ("remove", "restore", "void", "unvoid")] == [3] * 4
    assert deeds[:2] == ["unvoid-day", "void-day"]


async def test_boards_made_anew_are_as_they_were_with_the_banned_still_off_them(
    trio: Trio, operators: Operators, redis: Redis
) -> None:
    ivo = trio.seats[2]
    await operators.ban(player_of(trio, 1), None, "")
    before = await views(ivo)
    for lost in ("*wins*", keys.hidden("lanes")):
        async for key in redis.scan_iter(match=lost):
            await redis.delete(key)
    assert (await operators.rebuild(["lanes"], "lost"))["lanes"] > 0
    assert await views(ivo) == before


async def test_an_operator_renames_a_player_on_boards_and_connections(
    trio: Trio, operators: Operators
) -> None:
    ada = player_of(trio, 1)
    await operators.rename(ada, "somebody", "not a name for children")
    assert (await views(trio.seats[2]))[1][1][0] == (1, "somebody")
    assert (await operators.player("SOMEBODY")).account.player == ada
    assert (await operators.log(1))[0].detail == "was ada"
    with pytest.raises(CannotDo, match="is taken"):
        await operators.rename(ada, "ivo", "")
    assert [deed.did for deed in await operators.log(2)] == ["rename failed", "rename"]


async def test_what_is_announced_is_heard_by_all_and_by_who_comes_later(
    desks: list[RaceDesk], operators: Operators
) -> None:
    here = [(await hello(desk, name=f"ada-{n}"))[0] for n, desk in enumerate(desks)]
    said = await operators.announce("the server stops at noon", 60_000, "")

    def heard(player: Player) -> list[str]:
        return [m.sentence for m in player.said() if isinstance(m, wire.Announcement)]

    for player in here:
        await eventually(lambda p=player: heard(p) == ["the server stops at noon"])  # type: ignore[misc]
    later, _ = await hello(desks[1], name="eva")
    assert heard(later) == ["the server stops at noon"]
    await operators.unsay(said, "done")
    await desks[0].people.crowd.look()
    after, _ = await hello(desks[0], name="ivo")
    assert heard(after) == []
    assert [heard(player) for player in here] == [["the server stops at noon"]] * 2


async def test_what_there_is_not_is_refused_by_its_id(operators: Operators) -> None:
    nobody = "0" * 16
    with pytest.raises(CannotDo, match=f"no account {nobody}"):
        await operators.ban(nobody, None, "")
    with pytest.raises(CannotDo, match=f"no run {nobody}.1"):
        await operators.remove(f"{nobody}.1", "")
    with pytest.raises(CannotDo, match=f"no race {nobody}"):
        await operators.void(nobody, "")
    far = number_of(FIRST) + 13
    with pytest.raises(CannotDo, match=f"day {far} has no deal yet"):
        await operators.void_day(far, ["lanes"], "")
    await operators.void_day(far - 1, ["lanes"], "it leaked")
    with pytest.raises(CannotDo, match="no announcement x"):
        await operators.unsay("x", "")
