"""Nodes at a time that the test holds, and players of their daily challenge."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from node import Player, node
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase, RaceView
from samedeal_server.daily import Draw, drawn_at_random
from samedeal_server.deals import Deal, deal
from support import eventually
from timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

    from samedeal_server.desk import RaceDesk

__all__ = [
    "HOUR_S",
    "NOON",
    "Service",
    "bank",
    "draw",
    "play",
    "played",
    "refusal",
    "service",
    "shown",
    "tag",
]

NOON = "2026-11-30T12:00:00"
HOUR_S = 3600


class Service:
    """Nodes on one store, at a time that the test holds, and players who connect to them."""

    def __init__(self, desks: list[RaceDesk], timeline: Timeline) -> None:
        self.desks = desks
        self.timeline = timeline

    async def player(self, name: str, at: int = 0, **hello: Any) -> Player:
        """Somebody new."""
        player = Player(self.desks[at])
        welcome = await player.get(say.Welcome, ask.Hello, name=name, **hello)
        player.token, player.player = welcome.token or "", welcome.player
        return player

    async def again(self, player: Player, at: int = 0) -> Player:
        """The same account over another connection."""
        other = Player(self.desks[at])
        other.token = player.token
        await other.get(say.Welcome, ask.Hello, token=player.token)
        return other

    async def close(self, race: str, at: int = 0) -> None:
        """Look at a race as the sweep does, and see it closed."""
        await self.desks[at].rooms.advance(race)
        state = await self.desks[at].rooms.load(race)
        assert state is not None
        assert state.phase is Phase.CLOSED


@asynccontextmanager
async def service(
    url: str,
    redis: Redis,
    at: str,
    *,
    nodes: int = 1,
    draw: Draw = drawn_at_random,
    deal: Deal = deal,
) -> AsyncIterator[Service]:
    """Nodes whose calendars are held, at a time as in 2026-11-30T12:00:00."""
    timeline = Timeline(redis, at, nodes=nodes)
    await timeline.begin()
    async with AsyncExitStack() as stack:
        desks = [
            await stack.enter_async_context(
                node(url, f"n{number}", calendar=calendar, draw=draw, deal=deal)
            )
            for number, calendar in enumerate(timeline.calendars, start=1)
        ]
        yield Service(desks, timeline)


async def play(player: Player, **fields: Any) -> say.Seated:
    return await player.get(say.Seated, ask.DailyPlay, **{"game": "sally", **fields})


async def refusal(player: Player, kind: Any = ask.DailyPlay, **fields: Any) -> say.Refused:
    if kind is ask.DailyPlay:
        fields = {"game": "sally", **fields}
    return await player.get(say.Refused, kind, **fields)


async def draw(player: Player, race: str, *seqs: int) -> None:
    for seq in seqs:
        await player.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")


async def bank(player: Player, race: str) -> None:
    await player.get(say.Done, ask.Bank, race=race)


async def shown(player: Player, **fields: Any) -> say.Daily:
    return await player.get(say.Daily, ask.DailyGet, **fields)


def tag(view: RaceView) -> tuple[int, str]:
    assert view.day is not None
    return view.day.number, view.day.date


async def played(player: Player, *, moves: int = 3, **fields: Any) -> str:
    """Play a run to its end. Return the race's id."""
    race = (await play(player, **fields)).race.id
    await draw(player, race, *range(1, moves + 1))
    await bank(player, race)
    await eventually(
        lambda: any(m.race.id == race for m in player.said() if isinstance(m, say.Closed))
    )
    return race
