"""What operators are shown of runs that look impossible: for a time, and each player its own."""

import pytest
from redis.asyncio import Redis

from samedeal_server.store.audit import FLAGS_KEPT_MS, AuditStore, Flag

pytestmark = pytest.mark.usefixtures("every_key_expires")

FIRST = Flag("race1.1", "ada", "lanes", 1_000, "20 moves in 1.0 s")
SECOND = Flag("race2.2", "ivo", "sally", 2_000, "20 moves in 2.0 s; 59 moves as even as a clock")


@pytest.fixture
async def audit(redis: Redis) -> AuditStore:
    audit = AuditStore(redis)
    for flag in (FIRST, SECOND):
        await audit.flag(flag)
    return audit


async def test_runs_are_noted_once_and_each_players_own_are_known(audit: AuditStore) -> None:
    await audit.flag(Flag(FIRST.run, FIRST.player, FIRST.game, 9_000, FIRST.why))
    assert await audit.flags() == [SECOND, FIRST]
    assert await audit.flags_of("ada") == [FIRST]
    assert await audit.flags_of("eva") == []


async def test_a_run_is_noted_no_longer_than_it_may_be(audit: AuditStore) -> None:
    later = Flag("race3.1", "ada", "lanes", FIRST.at_ms + FLAGS_KEPT_MS, "20 moves in 3.0 s")
    await audit.flag(later)
    assert await audit.flags() == [later, SECOND]
    assert await audit.flags_of("ada") == [later]


async def test_what_was_noted_of_a_player_is_forgotten_with_it(audit: AuditStore) -> None:
    await audit.forget_flags("ada")
    await audit.forget_flags("ada")
    assert await audit.flags() == [SECOND]
    assert await audit.flags_of("ada") == []
