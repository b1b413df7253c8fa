"""Accounts over connections: names, tokens, devices, and an end that leaves no name behind."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from node import Player, Trio, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import people_messages as wire
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase
from samedeal.protocol.limits import DELETED_PLAYER
from samedeal_server.errors import Refusal
from samedeal_server.people import MAX_DEVICES, MAX_LINKS
from samedeal_server.store import keys
from support import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

    from samedeal_server.desk import RaceDesk

pytestmark = pytest.mark.usefixtures("every_key_expires")


@pytest.fixture
async def desks(valkey_url: str, redis: Redis) -> AsyncIterator[list[RaceDesk]]:
    """Two nodes on one store."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(node(valkey_url, f"n{n}")) for n in (1, 2)]


async def hello(desk: RaceDesk, **fields: Any) -> tuple[Player, say.Welcome]:
    player = Player(desk)
    return player, await player.get(say.Welcome, ask.Hello, **fields)


async def refused(player: Player, kind: type[Any], **fields: Any) -> say.Refused:
    return await player.get(say.Refused, kind, **fields)


async def test_a_renamed_player_has_its_new_name_everywhere_from_now_on(
    desks: list[RaceDesk],
) -> None:
    ada, welcome = await hello(desks[0], name="ada")
    away, _ = await hello(desks[1], token=welcome.token)
    before = await ada.get(say.Seated, ask.Create, game="lanes")
    view = await ada.get(wire.AccountView, ask.Rename, name="\uff25va")
    assert view.name == "Eva"
    await eventually(
        lambda: away.session.account is not None and away.session.account.name == "Eva"
    )
    for player in (ada, away):
        seated = await player.get(say.Seated, ask.Create, game="lanes")
        assert [seat.name for seat in seated.race.players] == ["Eva"]
    assert [seat.name for seat in before.race.players] == ["ada"]
    await hello(desks[1], name="ada")
    assert (await refused(Player(desks[0]), ask.Hello, name="EVA")).code is ErrorCode.NAME_TAKEN


async def test_a_rename_to_a_taken_name_changes_nothing(desks: list[RaceDesk]) -> None:
    ada, _ = await hello(desks[0], name="ada")
    await hello(desks[0], name="eva")
    answer = await refused(ada, ask.Rename, name="ev\u0430")
    assert answer.code is ErrorCode.NAME_TAKEN
    assert "is free" in answer.sentence
    assert (await ada.get(wire.AccountView, ask.AccountGet)).name == "ada"
    assert (await ada.get(wire.AccountView, ask.Rename, name="ADA")).name == "ADA"


async def test_a_rotated_token_is_dead_at_once_and_its_connections_are_closed_on_every_node(
    desks: list[RaceDesk],
) -> None:
    ada, welcome = await hello(desks[0], name="ada")
    away, _ = await hello(desks[1], token=welcome.token)
    secret = "5" * 64
    await ada.get(say.Done, ask.Rotate, secret=secret)
    assert (await refused(Player(desks[1]), ask.Hello, token=welcome.token)).code is (
        ErrorCode.BAD_TOKEN
    )
    await eventually(lambda: away.closed is not None)
    assert [type(m) for m in away.said()][-1] is say.Dismissed
    assert ada.closed is None
    await hello(desks[1], token=f"{welcome.player}.{secret}")


async def test_a_link_code_works_once_and_ends_with_the_token(desks: list[RaceDesk]) -> None:
    ada, welcome = await hello(desks[0], name="ada")
    made = await ada.get(wire.LinkMade, ask.LinkMake)
    assert 0 < made.lasts_ms <= 600_000
    _, there = await hello(desks[1], link=made.code)
    assert there.player == welcome.player
    assert there.token not in (None, welcome.token)
    await hello(desks[0], token=there.token)
    assert (await refused(Player(desks[0]), ask.Hello, link=made.code)).code is ErrorCode.NOT_FOUND
    unused = await ada.get(wire.LinkMade, ask.LinkMake)
    await ada.get(say.Done, ask.Rotate, secret="5" * 64)
    assert (await refused(Player(desks[0]), ask.Hello, link=unused.code)).code is (
        ErrorCode.NOT_FOUND
    )
    assert (await refused(Player(desks[1]), ask.Hello, token=there.token)).code is (
        ErrorCode.BAD_TOKEN
    )


async def test_the_answer_to_a_link_code_that_was_lost_is_had_again_by_who_asked(
    desks: list[RaceDesk],
) -> None:
    ada, _ = await hello(desks[0], name="ada")
    made = await ada.get(wire.LinkMade, ask.LinkMake)
    secret = "7" * 64
    _, first = await hello(desks[0], link=made.code, secret=secret)
    _, again = await hello(desks[1], link=made.code, secret=secret)
    assert again.token == first.token == f"{first.player}.{secret}"
    assert (await ada.get(wire.AccountView, ask.AccountGet)).devices == 2
    other = await refused(Player(desks[0]), ask.Hello, link=made.code, secret="8" * 64)
    assert other.code is ErrorCode.NOT_FOUND


async def test_link_codes_and_devices_are_limited(desks: list[RaceDesk], redis: Redis) -> None:
    ada, welcome = await hello(desks[0], name="ada")
    codes = [(await ada.get(wire.LinkMade, ask.LinkMake)).code for _ in range(MAX_LINKS)]
    assert (await refused(ada, ask.LinkMake)).code is ErrorCode.TOO_MANY
    for code in codes[: MAX_DEVICES - 1]:
        assert 0 < await redis.pttl(keys.link(code)) <= 600_000
        await hello(desks[0], link=code)
    for _ in range(2):
        # It served nothing, so it is not used up.
        full = await refused(Player(desks[0]), ask.Hello, link=codes[-1])
        assert full.code is ErrorCode.TOO_MANY
    await redis.delete(keys.links(welcome.player))
    assert (await refused(ada, ask.LinkMake)).sentence == full.sentence
    assert (await ada.get(wire.AccountView, ask.AccountGet)).devices == MAX_DEVICES


async def test_an_export_holds_the_account_and_each_run_and_no_secret(
    desks: list[RaceDesk],
) -> None:
    trio = Trio(desks[0], "lanes")
    await trio.sit()
    await trio.do(1, "played", "draw")
    ada = trio.seats[1]
    stored = json.loads((await ada.get(wire.ExportPart, ask.Export)).text)
    assert stored["account"]["name"] == "ada"
    assert stored["races"] == [trio.race]
    assert trio.token[1].partition(".")[2] not in json.dumps(stored)
    run = json.loads((await ada.get(wire.ExportPart, ask.Export, race=trio.race)).text)
    assert [action["action"] for action in run["actions"]] == ["draw"]
    assert (await refused(ada, ask.Export, race="0" * 16)).code is ErrorCode.NOT_FOUND


async def test_a_deleted_player_leaves_no_name_and_the_others_their_race(
    desks: list[RaceDesk], redis: Redis
) -> None:
    trio = Trio(desks[0], "lanes")
    await trio.sit()
    for seat in (1, 2):
        await trio.do(seat, "played", "draw")
    ada, ivo = trio.seats[1], trio.seats[2]
    away, _ = await hello(desks[1], token=trio.token[1])
    await ada.get(say.Done, ask.Delete)
    await eventually(lambda: ada.closed is not None and away.closed is not None)
    assert (await refused(Player(desks[0]), ask.Hello, token=trio.token[1])).code is (
        ErrorCode.BAD_TOKEN
    )
    await hello(desks[0], name="ada")
    for seat in (2, 3):
        await trio.seats[seat].get(say.Done, ask.Bank, race=trio.race)
    await eventually(lambda: any(isinstance(m, say.Closed) for m in ivo.said()))
    closed = next(m for m in ivo.said() if isinstance(m, say.Closed))
    assert closed.race.phase is Phase.CLOSED
    assert sorted(row.name for row in closed.race.order) == [DELETED_PLAYER, "eva", "ivo"]
    file = await ivo.get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    assert '"ada"' not in file.text
    assert DELETED_PLAYER in file.text
    assert '"eva"' in file.text
    await trio.seats[3].get(say.Done, ask.Delete)
    again = await ivo.get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    assert again.text.count(DELETED_PLAYER) == 2
    assert '"eva"' not in again.text
    player = trio.token[1].partition(".")[0]
    assert await redis.exists(keys.account(player), keys.seated(player), keys.links(player)) == 0


async def test_who_deletes_an_account_with_a_long_past_is_told_so_before_it_is_shown_out(
    desks: list[RaceDesk], redis: Redis
) -> None:
    ada, welcome = await hello(desks[0], name="ada")
    away, _ = await hello(desks[1], token=welcome.token)
    # Races that are gone by now; to look for them takes longer than news from node to node.
    await redis.zadd(keys.seated(welcome.player), {f"{n:016}": n for n in range(3000)})
    done = asyncio.create_task(ada.get(say.Done, ask.Delete))
    await eventually(lambda: away.closed is not None)
    assert not done.done()
    await done
    await eventually(lambda: ada.closed is not None)
    assert [m.type for m in ada.said()][-2:] == ["done", "dismissed"]


async def test_a_deletion_that_was_stopped_half_way_goes_on(
    desks: list[RaceDesk], redis: Redis
) -> None:
    trio = Trio(desks[0], "lanes")
    await trio.sit()
    player = trio.token[1].partition(".")[0]
    # Begun long ago, by a node that came no further.
    await redis.zadd(keys.erasures(), {player: 1})
    await desks[1].people.sweep()
    state = await desks[1].races.load(trio.race)
    assert state is not None
    assert [seat.name for seat in state.seats.values()] == [DELETED_PLAYER, "ivo", "eva"]
    assert await redis.exists(keys.account(player), keys.erasures()) == 0
    await eventually(lambda: trio.seats[1].closed is not None)


async def test_a_hello_under_way_while_its_account_is_dismissed_is_refused(
    desks: list[RaceDesk],
) -> None:
    ada, _ = await hello(desks[0], name="ada")
    account = ada.session.account
    assert account is not None
    late, began_s = Player(desks[0]), asyncio.get_running_loop().time()
    await ada.get(say.Done, ask.Delete)
    await eventually(lambda: ada.closed is not None)
    with pytest.raises(Refusal, match="was deleted"):
        desks[0].people.crowd.enter(late.session, account, began_s)
