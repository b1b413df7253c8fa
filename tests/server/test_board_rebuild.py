"""Boards that the store has lost, and operators' deeds: every row follows from what was played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boardworld import DEEDS, World
from samedeal.protocol.board_messages import BoardKind

if TYPE_CHECKING:
    from redis.asyncio import Redis

pytestmark = pytest.mark.usefixtures("every_key_expires")


@pytest.fixture
async def world(redis: Redis) -> World:
    world = World(redis)
    await world.played()
    return world


@pytest.mark.parametrize("kind", BoardKind)
async def test_a_lost_board_of_any_kind_is_made_anew_to_the_last_row(
    world: World, kind: BoardKind
) -> None:
    before = await world.rows()
    # Of people and of bots, whom nobody rates.
    assert await world.lose(kind) >= (2 if kind is BoardKind.RATING else 4)
    assert await world.rows() != before
    await world.operators.rebuild(["lanes"], "lost")
    assert await world.rows() == before


@pytest.mark.parametrize("deed", DEEDS)
async def test_p45_a_deed_changes_every_board_that_follows_and_undone_changes_nothing(
    world: World, deed: str
) -> None:
    changed, do, undo = DEEDS[deed]
    everything, before = await world.rows(), await world.shown()
    await do(world)
    after = await world.shown()
    assert {kind for kind in BoardKind if after[kind] != before[kind]} == changed
    if deed == "ban":
        assert world.people[0][0] not in str(after)
    await undo(world)
    assert await world.rows() == everything
