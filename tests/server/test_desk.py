"""The desk on a real store: seeds, commitments, what fails closed, what a replay needs."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, NoReturn

import pytest
from redis.asyncio import Redis

from node import Player, Trio, node
from samedeal.engine.deals import commitment
from samedeal.engine.games import GAMES
from samedeal.engine.replay import verify
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import OptionsPatch, Phase, Status
from samedeal_server.desk import RaceDesk
from samedeal_server.errors import Refusal
from samedeal_server.opening import MAX_OPEN
from samedeal_server.race import RaceState
from samedeal_server.session import MAX_RACES
from samedeal_server.store import keys
from samedeal_server.store.accounts import Account
from samedeal_server.store.races import LIFETIME_MS
from support import eventually

pytestmark = pytest.mark.usefixtures("every_key_expires")

ADA = Account("ada0000000000000", "ada", bot=False)


@pytest.fixture
async def desk(valkey_url: str, redis: Redis) -> AsyncIterator[RaceDesk]:
    async with node(valkey_url, "n1") as desk:
        yield desk


@pytest.fixture
async def ada(desk: RaceDesk) -> Player:
    player = Player(desk)
    await player.get(say.Welcome, ask.Hello, name="ada")
    return player


async def closed_race(desk: RaceDesk, game: str = "lanes", **options: Any) -> Trio:
    """A race of three with a move or two in it, closed."""
    trio = Trio(desk, game, **options)
    await trio.sit()
    await trio.do(1, "played", "draw")
    await trio.do(2, "played", "draw")
    await trio.do(1, "played", "draw")
    for seat in (1, 2, 3):
        await trio.seats[seat].get(say.Done, ask.Bank, race=trio.race)
    return trio


async def test_p51_10000_races_have_10000_seeds(desk: RaceDesk, redis: Redis) -> None:
    message = ask.Create(id=1, game="lanes")
    ids: list[str] = []
    for batch in range(500):
        host = dataclasses.replace(ADA, player=f"host{batch:012}")
        ids += await asyncio.gather(*(desk.create(host, message) for _ in range(20)))
    pipe = redis.pipeline(transaction=False)
    for race_id in ids:
        pipe.hget(keys.race(race_id), "seed")
    seeds = await pipe.execute()
    assert len(set(ids)) == len(set(seeds)) == 10_000
    assert {len(seed) for seed in seeds} == {64}
    await redis.delete(keys.due())


def no_randomness(_count: int | None = None) -> NoReturn:
    raise OSError("the system has no randomness")


async def test_p51_without_randomness_no_race_opens(
    desk: RaceDesk, ada: Player, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await redis.dbsize()
    with monkeypatch.context() as broken:
        broken.setattr(secrets, "token_bytes", no_randomness)
        refused = await ada.get(say.Refused, ask.Create, game="lanes")
    assert refused.code is ErrorCode.INTERNAL
    assert await redis.dbsize() == before
    await ada.get(say.Seated, ask.Create, game="lanes")


async def test_a_game_there_is_not_leaves_nothing_in_the_store(ada: Player, redis: Redis) -> None:
    before = await redis.dbsize()
    refused = await ada.get(say.Refused, ask.Create, game="whist")
    assert refused.code is ErrorCode.NOT_FOUND
    assert await redis.dbsize() == before


async def test_p51_without_randomness_no_next_race_opens(
    desk: RaceDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    trio = await closed_race(desk)
    with monkeypatch.context() as broken:
        broken.setattr(secrets, "token_bytes", no_randomness)
        refused = await trio.seats[1].get(say.Refused, ask.Next, race=trio.race)
    assert refused.code is ErrorCode.INTERNAL
    state = await desk.races.load(trio.race)
    assert state is not None
    # Nobody is led to a race that is not there.
    assert state.next_race == ""
    moved = await trio.seats[2].get(say.Moved, ask.Next, race=trio.race)
    following = await desk.races.load(moved.to)
    assert following is not None
    assert following.seed != state.seed


@pytest.mark.parametrize("game", GAMES)
async def test_the_commitment_shown_in_the_lobby_is_that_of_the_deal(
    desk: RaceDesk, ada: Player, game: str
) -> None:
    seated = await ada.get(say.Seated, ask.Create, game=game)
    state = await desk.races.load(seated.race.id)
    assert state is not None
    assert seated.race.commitment == commitment(GAMES[game], state.seed)
    assert seated.race.seed is None


async def test_a_replay_is_to_be_had_after_the_close_only_and_verifies(desk: RaceDesk) -> None:
    trio = Trio(desk, "lanes")
    await trio.sit()
    await trio.do(1, "played", "draw")
    refused = await trio.seats[1].get(say.Refused, ask.ReplayGet, race=trio.race)
    assert refused.code is ErrorCode.WRONG_PHASE
    for seat in (1, 2, 3):
        await trio.seats[seat].get(say.Done, ask.Bank, race=trio.race)
    replay = await trio.seats[2].get(say.ReplayFile, ask.ReplayGet, race=trio.race)
    checked = verify(replay.text.splitlines(keepends=True))
    assert [(row.seat, row.place) for row in checked.order] == [(1, 1), (2, 2), (3, 2)]


async def test_a_room_everyone_left_has_no_replay(desk: RaceDesk, ada: Player) -> None:
    seated = await ada.get(say.Seated, ask.Create, game="lanes")
    await ada.get(say.Done, ask.Leave, race=seated.race.id)
    refused = await ada.get(say.Refused, ask.ReplayGet, race=seated.race.id)
    assert refused.code is ErrorCode.WRONG_PHASE


async def test_the_next_race_is_opened_once_by_two_who_ask_at_once(desk: RaceDesk) -> None:
    trio = await closed_race(desk, best_of=3)
    answers = await asyncio.gather(
        *(trio.seats[seat].get(say.Moved, ask.Next, race=trio.race) for seat in (1, 2, 3))
    )
    assert len({moved.to for moved in answers}) == 1
    state = await desk.races.load(answers[0].to)
    assert state is not None
    # Nothing came home and nothing was opened: those who moved share the first place.
    series = {seat.name: seat.series for seat in state.seats.values()}
    assert series == {"ada": 1, "ivo": 1, "eva": 0}


async def test_a_win_counts_in_a_series_also_when_the_next_race_is_asked_for_at_the_close(
    desk: RaceDesk,
) -> None:
    trio = Trio(desk, "lanes", best_of=3)
    await trio.sit()
    await trio.do(1, "played", "draw")
    for player in [seat.player for seat in (await state_of(desk, trio.race)).seats.values()]:
        await desk.races.leave(trio.race, player, Status.BANKED)
    ada = Account((await state_of(desk, trio.race)).seats[1].player, "ada", bot=False)
    # All are done, and the close is on its way.
    moved, _ = await asyncio.gather(
        desk.next_race(ada, ask.Next(id=1, race=trio.race)), desk.rooms.advance(trio.race)
    )
    following = await state_of(desk, moved.to)
    assert {seat.name: seat.series for seat in following.seats.values()} == {
        "ada": 1, "ivo": 0, "eva": 0
    }  # fmt: skip


async def state_of(desk: RaceDesk, race_id: str) -> RaceState:
    state = await desk.races.load(race_id)
    assert state is not None
    return state


async def test_the_store_keeps_when_the_best_was_reached(valkey_url: str, redis: Redis) -> None:
    def dealt(game: str, _seed: bytes) -> Table:
        return Table.parse(GAMES[game], "T1=AH; T2=9D; S=5D,4D")

    async with node(valkey_url, "n1", deal=dealt) as desk:
        trio = Trio(desk, "klondike")
        await trio.sit()
        home = await trio.act(1, "T1>F1", 1)
        assert isinstance(home, say.Ack)
        for seq in (2, 3):
            assert isinstance(await trio.act(1, "draw", seq), say.Ack)
        state = await desk.races.load(trio.race)
        assert state is not None
        seat = state.seats[1]
        assert (seat.seq, seat.best, seat.m_best, seat.t_best_ms) == (3, 1, 1, home.t_ms)


async def test_who_left_and_asks_for_the_next_race_is_in_it(desk: RaceDesk) -> None:
    trio = Trio(desk, "lanes")
    await trio.sit()
    for seat in (1, 2, 3):
        await trio.seats[seat].get(say.Done, ask.Leave, race=trio.race)
    moved = await trio.seats[2].get(say.Moved, ask.Next, race=trio.race)
    state = await desk.races.load(moved.to)
    assert state is not None
    assert [(seat.name, state.host) for seat in state.seats.values()] == [("ivo", 2)]


async def test_the_next_race_of_a_practice_race_is_no_practice(desk: RaceDesk, ada: Player) -> None:
    message = ask.Create(id=1, game="lanes", seed="mine", options=OptionsPatch(countdown_s=0))
    race_id = await desk.create(ADA, message)
    state = await desk.races.load(race_id)
    assert state is not None
    assert state.practice
    ivo = Account("ivo0000000000000", "ivo", bot=False)
    await desk.join(ivo, state.code)
    for account in (ADA, ivo):
        await desk.ready(account, ask.Ready(id=1, race=race_id))
    for account in (ADA, ivo):
        await desk.end(account, race_id, Status.BANKED)
    await desk.rooms.advance(race_id)
    moved = await desk.next_race(ADA, ask.Next(id=1, race=race_id))
    following = await desk.races.load(moved.to)
    assert following is not None
    assert not following.practice


async def test_a_race_goes_by_the_timer_of_its_node_alone(desk: RaceDesk) -> None:
    """Nothing sweeps here."""
    trio = Trio(desk, "lanes", countdown_s=1)
    await trio.sit()
    state = await desk.races.load(trio.race)
    assert state is not None
    assert state.phase is Phase.RUNNING


async def test_a_damaged_race_keeps_no_other_from_its_end(desk: RaceDesk, redis: Redis) -> None:
    damaged, due = Trio(desk, "lanes"), Trio(desk, "sally", tag="-due")
    for trio in (damaged, due):
        await trio.sit()
        await redis.hset(keys.race(trio.race), "deadline", "1")
        await redis.zadd(keys.due(), {trio.race: 0 if trio is damaged else 1})
    await redis.hset(keys.race(damaged.race), "options", "{")
    await desk.rooms.sweep()
    assert await redis.hget(keys.race(due.race), "phase") == "closed"
    left: Any = await redis.zrange(keys.due(), 0, -1, withscores=True)
    # It is looked at again a while later, not all the time.
    assert [(race, score > 1) for race, score in left] == [(damaged.race, True)]


async def test_a_room_too_many_is_refused_before_it_is_opened(ada: Player, redis: Redis) -> None:
    for _ in range(MAX_RACES):
        await ada.get(say.Seated, ask.Create, game="lanes")
    before = await redis.dbsize()
    refused = await ada.get(say.Refused, ask.Create, game="lanes")
    assert refused.code is ErrorCode.TOO_MANY
    assert await redis.dbsize() == before


async def test_who_moved_to_another_node_is_told_so_by_the_fence_at_the_latest(
    valkey_url: str, desk: RaceDesk
) -> None:
    """No doorbell rings here: the first node hears of the takeover when the store says no."""
    trio = Trio(desk, "lanes")
    await trio.sit()
    old = trio.seats[1]
    async with node(valkey_url, "n2") as elsewhere:
        new = Player(elsewhere)
        await new.get(say.Welcome, ask.Hello, token=trio.token[1])
        await new.get(say.Seated, ask.Resume, race=trio.race)
        move = {"race": trio.race, "seq": 1, "move": "draw"}
        first = await old.get(say.Refused, ask.PlayMove, **move)
        assert first.code is ErrorCode.TAKEN_OVER
        assert [m.race for m in old.said() if isinstance(m, say.TakenOver)] == [trio.race]
        again = await old.get(say.Refused, ask.PlayMove, **move)
        assert again.code is ErrorCode.NOT_SEATED
        ack = await new.get(say.Ack, ask.PlayMove, **move)
        assert ack.seq == 1


async def test_a_node_forgets_a_race_when_the_last_of_its_players_goes(desk: RaceDesk) -> None:
    trio = Trio(desk, "lanes")
    await trio.sit()
    for seat in (1, 2, 3):
        assert desk.rooms.get(trio.race) is not None
        await trio.seats[seat].session.leave()
    assert desk.rooms.get(trio.race) is None


async def test_a_race_with_its_logs_is_kept_for_its_lifetime(desk: RaceDesk, redis: Redis) -> None:
    trio = await closed_race(desk)
    held = [key async for key in redis.scan_iter(match=f"*{trio.race}*")]
    assert {key.rpartition("}")[2] for key in held} == {
        "", ":s:1", ":s:2", ":s:3", ":l:1", ":l:2",
    }  # fmt: skip
    for key in held:
        assert LIFETIME_MS - 60_000 < await redis.pttl(key) <= LIFETIME_MS


async def test_an_account_may_have_so_many_races_open_and_no_more(desk: RaceDesk) -> None:
    message = ask.Create(id=1, game="lanes")
    ids = [await desk.create(ADA, message) for _ in range(MAX_OPEN)]
    with pytest.raises(Refusal, match="finish or leave one first") as refused:
        await desk.create(ADA, message)
    assert refused.value.code is ErrorCode.TOO_MANY
    await desk.create(dataclasses.replace(ADA, player="another000000000"), message)
    await desk.end(ADA, ids[0], Status.LEFT)
    await desk.create(ADA, message)


async def test_a_race_that_is_over_makes_room_for_another(desk: RaceDesk, redis: Redis) -> None:
    trio = await closed_race(desk)
    for seat in trio.seats.values():
        assert seat.session.account is not None
        opened = keys.opened(seat.session.account.player)
        await eventually(partial(_is_empty, redis, opened))


async def _is_empty(redis: Redis, key: str) -> bool:
    return not await redis.exists(key)


async def test_who_gives_a_seat_up_while_taking_it_over_holds_none(desk: RaceDesk) -> None:
    ivo = Account("ivo0000000000000", "ivo", bot=False)
    race_id = await desk.create(ADA, ask.Create(id=1, game="lanes"))
    code = (await desk.attach(ADA, race_id))[1].code
    refused = 0
    for _ in range(20):
        await desk.join(ivo, code)
        attached, _ = await asyncio.gather(
            desk.attach(ivo, race_id),
            desk.end(ivo, race_id, Status.LEFT),
            return_exceptions=True,
        )
        if isinstance(attached, BaseException):
            assert isinstance(attached, Refusal)
            assert attached.code is ErrorCode.NOT_SEATED
            refused += 1
    assert refused > 0
