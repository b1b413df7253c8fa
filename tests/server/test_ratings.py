"""Ranked races move ratings: each once, from its order, whatever ends half way or comes twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from node import Trio, node
from racestore import ADA, EVA, IVO, RACE, Store
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.fields import Phase, Status
from samedeal_server.errors import StoreUnavailable
from samedeal_server.race import RaceState, SeatState
from samedeal_server.ratings import Ratings, is_rated
from samedeal_server.rows import Board
from samedeal_server.skill import Skill
from samedeal_server.store import keys
from samedeal_server.store.boards import BoardStore
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import LeftOut, Rated, RatingStore

pytestmark = pytest.mark.usefixtures("every_key_expires")
RATING = Board("lanes", BoardKind.RATING)
RANKED = {"ranked": True, "spectating": "shape", "bots": False}


class CutOff(RatingStore):
    """A store whose reply to the rating of a race is lost: the race is rated, nobody knows."""

    async def add(self, game: str, rated: Rated) -> bool:
        await super().add(game, rated)
        raise StoreUnavailable("cut off")


class Together(RatingStore):
    """A store that two ask at the same moment: each has the answer before either goes on."""

    def __init__(self, redis: Redis) -> None:
        super().__init__(redis)
        self._both = asyncio.Barrier(2)
        self._times = 0

    async def skills(self, game: str, players: Sequence[str]) -> list[Skill]:
        found = await super().skills(game, players)
        self._times += 1
        if self._times <= 2:
            await self._both.wait()
        return found


class Meanwhile(RatingStore):
    """A store in which another operator leaves out a race just after all were read."""

    def __init__(self, redis: Redis, race: str, *, out: bool) -> None:
        super().__init__(redis)
        self._race: str | None = race
        self._out = out

    async def all(self, game: str) -> tuple[list[Rated], LeftOut]:
        found = await super().all(game)
        if (race := self._race) is not None:
            self._race = None
            await self.leave_out(game, race, out=self._out)
        return found


@pytest.fixture
async def closed(store: Store) -> RaceState:
    """A ranked race of ada and ivo that ada won."""
    ada, ivo = await store.running(**RANKED)
    for attached, best in ((ada, 9), (ivo, 3)):
        await store.commit(attached, 1, best=best, rose=True)
        await store.races.leave(RACE, ADA if attached is ada else IVO, Status.BANKED)
    await store.advance()
    state = await store.state()
    assert state.phase is Phase.CLOSED
    return state


def ratings(store: Store) -> Ratings:
    return Ratings(RatingStore(store.redis), store.races, BoardStore(store.redis))


async def shown(store: Store, *players: str) -> list[str]:
    return [str(await ratings(store).of("lanes", player)) for player in players]


async def rated(store: Store, race: str, *order: str) -> None:
    """Rate a race with this order, without playing it."""
    state = await a_race(store, race, *order)
    await ratings(store).book(state)


async def a_race(store: Store, race: str, *order: str) -> RaceState:
    """The record of a closed ranked race with this order."""
    roster = tuple(
        SeatState(seat=seat, player=player, name=player[:3], bot=False)
        for seat, player in enumerate(order, start=1)
    )
    await store.open(race, roster=roster, **RANKED)
    for seat in roster:
        await store.races.note(race, seat.seat, "seq", "1")
        await store.races.note(race, seat.seat, "best", str(10 - seat.seat))
        await store.races.note(race, seat.seat, "m_best", "1")
    fields: dict[Any, Any] = {"phase": "closed", "go_at": 1, "closed_at": 2, "deadline": 2}
    await store.redis.hset(keys.race(race), mapping=fields)
    return await store.state(race)


async def test_a_ranked_race_is_rated_once_however_often_and_wherever_it_is_booked(
    store: Store, closed: RaceState
) -> None:
    other = Ratings(RatingStore(store.redis), RaceStore(store.redis, "n2"), BoardStore(store.redis))
    await asyncio.gather(*(r.book(closed) for r in (ratings(store), other) * 3))
    first, second = await shown(store, ADA, IVO)
    assert (first, second) == ("1605?", "1395?")
    record = await store.state()
    assert [(row.rating_before, row.rating, row.provisional) for row in record.order()] == [
        (1500, 1605, True),
        (1500, 1395, True),
    ]


async def test_a_node_that_ends_between_rating_and_record_leaves_it_to_the_next(
    store: Store, closed: RaceState
) -> None:
    with pytest.raises(StoreUnavailable):
        await Ratings(CutOff(store.redis), store.races, BoardStore(store.redis)).book(closed)
    # Meanwhile the two race again: the repeat must neither see nor touch that.
    await rated(store, "race000000000002", IVO, ADA)
    after = await shown(store, ADA, IVO)
    await ratings(store).book(closed)
    assert await shown(store, ADA, IVO) == after
    assert [row.rating for row in (await store.state()).order()] == [1605, 1395]


async def test_two_races_that_end_together_are_both_rated(store: Store) -> None:
    one = await a_race(store, "race000000000002", ADA, IVO)
    two = await a_race(store, "race000000000003", ADA, EVA)
    both = Together(store.redis)
    await asyncio.gather(
        *(Ratings(both, store.races, BoardStore(store.redis)).book(state) for state in (one, two))
    )
    together = (await RatingStore(store.redis).skills("lanes", [ADA]))[0]
    assert together.races == 2
    assert together.shown.number > 1605


async def test_what_is_not_ranked_moves_nothing(store: Store, closed: RaceState) -> None:
    sat_still = {number: replace(seat, seq=0) for number, seat in closed.seats.items()}
    bots = {number: replace(seat, bot=True) for number, seat in closed.seats.items()}
    alone = {1: closed.seats[1]}
    unranked = closed.options.model_copy(update={"ranked": False})
    for state in (
        replace(closed, practice=True),
        replace(closed, options=unranked),
        replace(closed, go_at_ms=0),
        *(replace(closed, seats=seats) for seats in (sat_still, bots, alone)),
    ):
        assert not is_rated(state)
        await ratings(store).book(state)
    assert await shown(store, ADA, IVO) == ["1500?", "1500?"]


async def test_who_sits_still_in_a_ranked_race_loses_it(store: Store) -> None:
    state = await a_race(store, "race000000000002", ADA, IVO)
    state.seats[2].seq = 0
    await ratings(store).book(state)
    assert await shown(store, ADA, IVO) == ["1605?", "1395?"]


async def test_a_voided_race_is_taken_out_of_all_that_follows_and_can_be_put_back(
    store: Store,
) -> None:
    rng = random.Random(7)
    orders = [rng.sample([ADA, IVO, EVA], rng.choice((2, 3))) for _ in range(12)]
    for number, order in enumerate(orders):
        await rated(store, f"race0000000001{number:02}", *order)
    whole = await RatingStore(store.redis).skills("lanes", [ADA, IVO, EVA])
    await ratings(store).leave_out("race000000000104", out=True)
    without = await RatingStore(store.redis).skills("lanes", [ADA, IVO, EVA])
    assert without != whole
    await store.redis.delete(*keys.ratings("lanes"))
    for number, order in enumerate(orders):
        if number != 4:
            await rated(store, f"race0000000002{number:02}", *order)
    assert await RatingStore(store.redis).skills("lanes", [ADA, IVO, EVA]) == without


async def test_a_race_counted_again_brings_the_same_ratings_back(store: Store) -> None:
    for number, order in enumerate(((ADA, IVO), (IVO, EVA), (EVA, ADA))):
        await rated(store, f"race0000000001{number:02}", *order)
    whole = await RatingStore(store.redis).skills("lanes", [ADA, IVO, EVA])
    for out in (True, False):
        await ratings(store).leave_out("race000000000100", out=out)
    assert await RatingStore(store.redis).skills("lanes", [ADA, IVO, EVA]) == whole


async def test_a_removed_run_and_a_ban_leave_their_races_out_until_they_are_lifted(
    store: Store,
) -> None:
    for number, order in enumerate(((ADA, IVO), (IVO, EVA), (EVA, ADA), (IVO, EVA))):
        await rated(store, f"race0000000001{number:02}", *order)
    whole = await shown(store, ADA, IVO, EVA)
    people = ratings(store)
    assert await people.leave_out("race000000000100.2", out=True)
    without_one = await shown(store, ADA, IVO, EVA)
    await people.leave_out_player(ADA, out=True)
    without_ada = await shown(store, ADA, IVO, EVA)
    assert without_ada[0] == "1500?"
    assert len({str(each) for each in (whole, without_one, without_ada)}) == 3
    # The removed run was in a race with ada: it stays left out when she is back.
    await people.leave_out_player(ADA, out=False)
    assert await shown(store, ADA, IVO, EVA) == without_one
    await people.leave_out("race000000000100.2", out=False)
    assert await shown(store, ADA, IVO, EVA) == whole
    assert not await people.leave_out("race000000000999", out=True)


@pytest.mark.parametrize("mark", ["race", "run", "player"])
async def test_what_is_left_out_before_it_is_rated_counts_only_when_it_is_put_back(
    store: Store, closed: RaceState, mark: str
) -> None:
    people = ratings(store)

    async def leave_out(*, out: bool) -> None:
        if mark == "player":
            await people.leave_out_player(IVO, out=out)
        else:
            await people.leave_out(f"{RACE}.2" if mark == "run" else RACE, out=out)

    await leave_out(out=True)
    await people.book(closed)
    assert await shown(store, ADA, IVO) == ["1500?", "1500?"]
    await leave_out(out=False)
    assert await shown(store, ADA, IVO) == ["1605?", "1395?"]


async def test_two_operators_at_once_leave_out_both_of_their_races(store: Store) -> None:
    for number, order in enumerate(((ADA, IVO), (IVO, EVA))):
        await rated(store, f"race0000000001{number:02}", *order)
    for out in (True, False):
        busy = Meanwhile(store.redis, "race000000000101", out=out)
        one = Ratings(busy, store.races, BoardStore(store.redis))
        await one.leave_out("race000000000100", out=out)
        assert (await shown(store, ADA, IVO, EVA) == ["1500?"] * 3) is out


async def test_a_store_that_lost_the_skills_has_them_made_anew(store: Store) -> None:
    await rated(store, "race000000000100", ADA, IVO)
    before = await shown(store, ADA, IVO)
    await store.redis.delete(keys.ratings("lanes")[1])
    await ratings(store).rebuild("lanes")
    assert await shown(store, ADA, IVO) == before == ["1605?", "1395?"]


async def test_a_proven_rating_is_on_the_board_and_follows_from_what_is_not_void(
    store: Store,
) -> None:
    async def board() -> list[tuple[str, int]]:
        page = await BoardStore(store.redis).top(RATING, 10)
        return [(s.row.player, RATING.order.decode(s.row.order)["rating"]) for s in page.rows]

    for number in range(15):
        assert await board() == []
        await rated(store, f"race0000000001{number:02}", ADA, IVO)
    shown_now = [int(text) for text in await shown(store, ADA, IVO)]
    assert await board() == list(zip((ADA, IVO), shown_now, strict=True))
    await ratings(store).leave_out("race000000000107", out=True)
    assert await board() == []
    await ratings(store).leave_out("race000000000107", out=False)
    assert await board() == list(zip((ADA, IVO), shown_now, strict=True))


async def test_each_game_has_ratings_of_its_own(store: Store, redis: Redis) -> None:
    await rated(store, "race000000000100", ADA, IVO)
    assert str(await ratings(store).of("sally", ADA)) == "1500?"


async def test_a_room_that_saw_the_close_is_told_what_it_did_to_the_ratings(
    valkey_url: str, redis: Redis
) -> None:
    async with node(valkey_url, "n1") as desk:
        trio = Trio(desk, "lanes")
        await trio.sit()
        for player in trio.everyone:
            await player.get(say.Done, ask.Bank, race=trio.race)
        room = desk.rooms.get(trio.race)
        assert room is not None
        assert room.state.phase is Phase.CLOSED
        await desk.races.note(trio.race, 2, "rated", "1500? 1605?")
        await desk.rooms.refresh(room)
        for player in trio.everyone:
            news = player.said()[-1]
            assert isinstance(news, say.Room)
            assert [row.rating for row in news.race.order if row.seat == 2] == [1605]
