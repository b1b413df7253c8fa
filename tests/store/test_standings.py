"""Leaderboards: most wins first, then fewer races, each race counted once."""

import random

import pytest
from redis.asyncio import Redis

from samedeal_server.store.standings import Row, StandingsStore

pytestmark = pytest.mark.usefixtures("every_key_expires")


def players(*won: str, lost: str = "") -> list[tuple[str, str, bool, bool]]:
    """Rows of a closed race; who is called in capitals is a bot."""
    return [(f"id-{name}", name, name.isupper(), name in won) for name in (*won, *lost.split())]


async def test_a_race_is_counted_once_however_often_it_is_closed(redis: Redis) -> None:
    standings = StandingsStore(redis)
    for _ in range(3):
        await standings.record("lanes", "race1", players("ada", lost="ivo"))
    assert await standings.best("lanes", 10) == [
        Row(1, "ada", False, 1, 1),
        Row(2, "ivo", False, 0, 1),
    ]


async def test_more_wins_come_first_then_fewer_races(redis: Redis) -> None:
    standings = StandingsStore(redis)
    await standings.record("lanes", "race1", players("ada", lost="ivo"))
    await standings.record("lanes", "race2", players("ada", lost="eva"))
    await standings.record("lanes", "race3", players("ivo", lost="EVA"))
    await standings.record("lanes", "race4", players("eva", lost="ada"))
    assert await standings.best("lanes", 10) == [
        Row(1, "ada", False, 2, 3),
        Row(2, "eva", False, 1, 2),
        Row(2, "ivo", False, 1, 2),
        Row(4, "EVA", True, 0, 1),
    ]


async def test_all_who_share_the_first_place_have_won(redis: Redis) -> None:
    standings = StandingsStore(redis)
    await standings.record("lanes", "race1", players("ada", "ivo", lost="eva"))
    assert [(row.place, row.wins) for row in await standings.best("lanes", 10)] == [
        (1, 1), (1, 1), (3, 0)
    ]  # fmt: skip


async def test_each_game_has_a_board_of_its_own(redis: Redis) -> None:
    standings = StandingsStore(redis)
    await standings.record("lanes", "race1", players("ada", lost="ivo"))
    assert await standings.best("sally", 10) == []


async def test_only_as_many_rows_as_are_asked_for(redis: Redis) -> None:
    standings = StandingsStore(redis)
    await standings.record("lanes", "race1", players("ada", "ivo", "eva"))
    assert len(await standings.best("lanes", 2)) == 2


async def test_a_board_shows_the_name_a_player_had_last(redis: Redis) -> None:
    standings = StandingsStore(redis)
    await standings.record("lanes", "race1", [("id-ada", "ada", False, True)])
    await standings.record("lanes", "race2", [("id-ada", "countess", False, False)])
    assert await standings.best("lanes", 1) == [Row(1, "countess", False, 1, 2)]


async def test_p37_a_board_equals_a_count_of_its_races(redis: Redis) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    standings = StandingsStore(redis)
    names = [f"player{number}" for number in range(12)]
    wins, races = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    played = []
    for number in range(150):
        seated = rng.sample(names, rng.randint(2, 8))
        rows = [(name, name, False, at == 0) for at, name in enumerate(seated)]
        played.append((f"race{number}", rows))
        wins[seated[0]] += 1
        for name in seated:
            races[name] += 1
    for race_id, rows in played + rng.sample(played, 50):
        await standings.record("lanes", race_id, rows)
    found = await standings.best("lanes", 100)
    assert {row.name: (row.wins, row.races) for row in found} == {
        name: (wins[name], races[name]) for name in names
    }
    for row in found:
        better = sum((-o.wins, o.races) < (-row.wins, row.races) for o in found)
        assert row.place == better + 1
    assert found == sorted(found, key=lambda row: row.place)
