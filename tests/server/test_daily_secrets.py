"""What nobody may know of a day before its time: the seed, and the results of others."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING

import pytest

from dailies import NOON, Service, bank, play, played, refusal, service, shown
from samedeal.engine.games import GAMES
from samedeal.engine.replay import verify
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import DealLabel, Status
from samedeal_server.daily import Drawn
from samedeal_server.store import keys
from support import eventually

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from node import Player

pytestmark = pytest.mark.usefixtures("every_key_expires")


async def replayed(player: Player, race: str) -> str:
    return (await player.get(say.ReplayFile, ask.ReplayGet, race=race)).text


async def test_no_frame_and_no_log_holds_a_seed_before_the_day_is_closed(
    one_node: Service, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await one_node.desks[0].days.prepare()
    deals = await redis.hgetall("{days}:deals")
    seeds = [bytes.fromhex(str(text).split()[1]) for text in deals.values()]
    assert len(seeds) == 40
    ada, ivo = await one_node.player("ada"), await one_node.player("ivo")
    race = await played(ada)
    await played(ada, practice=True)
    tab = await one_node.again(ada)
    await tab.get(say.Seated, ask.Resume, race=race)
    await refusal(ivo, ask.ReplayGet, race=race)
    await played(ivo)
    assert '"seed":null' in await replayed(ivo, race)
    assert '"seed":null' in await replayed(ada, race)
    for player in (ada, tab, ivo):
        await shown(player)
        await shown(player, game="sally", day=334)
    await one_node.timeline.go_on(seconds=13 * 3600 - 60)
    await shown(ada, day=334)
    await replayed(ada, race)

    frames = b"".join(frame for player in (ada, tab, ivo) for frame in player.frames)
    assert len(frames) > 10_000
    for seed in seeds:
        assert seed not in frames
        assert seed.hex().encode() not in frames
        assert seed.hex() not in caplog.text
    todays = str(deals["334:sally"]).split()[1]
    await one_node.timeline.go_on(seconds=60)
    file = await replayed(ada, race)
    assert verify(file.splitlines(keepends=True)).seed == todays
    assert todays.encode() in b"".join(ada.frames)


async def test_results_of_others_are_hidden_until_the_own_run_is_over(one_node: Service) -> None:
    ada, ivo = await one_node.player("ada"), await one_node.player("ivo")
    race = await played(ada)

    async def sees(player: Player) -> bool:
        answer = await player.ask(ask.ReplayGet, race=race)
        if isinstance(answer, say.Refused):
            assert answer.code is ErrorCode.HIDDEN
            assert answer.sentence == ("results of day 334 are hidden until your own run is over")
            return False
        return True

    assert await sees(ada)
    assert not await sees(ivo)
    assert not await sees(await one_node.again(ivo))
    # Another game of the day opens nothing, nor does a run that is still on.
    await played(ivo, game="lanes")
    assert not await sees(ivo)
    own = (await play(ivo)).race.id
    assert not await sees(ivo)
    for kind in (ask.Resume, ask.Bank, ask.Leave):
        assert (await refusal(ivo, kind, race=race)).code is ErrorCode.NOT_SEATED
    await bank(ivo, own)
    assert await sees(ivo)

    late = await one_node.player("eva")
    assert not await sees(late)
    await one_node.timeline.go_on(seconds=13 * 3600)
    assert await sees(late)


async def test_a_code_leads_nobody_but_its_player_to_a_run(one_node: Service) -> None:
    ada, ivo = await one_node.player("ada"), await one_node.player("ivo")
    seated = await play(ada)
    code = seated.race.code
    for name in ({"code": code}, {"race": seated.race.id}):
        assert (await refusal(ivo, ask.Watch, **name)).code is ErrorCode.NOT_SHOWN
    stranger = await refusal(ivo, ask.Join, code=code)
    assert stranger.code is ErrorCode.WRONG_PHASE
    back = await (await one_node.again(ada)).get(say.Seated, ask.Join, code=code)
    assert back.race.id == seated.race.id


async def test_p51_without_randomness_no_day_is_dealt(
    valkey_url: str, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_game: str) -> Drawn:
        raise OSError("no entropy")

    async with service(valkey_url, redis, NOON, draw=broken) as dry:
        ada = await dry.player("ada")
        with pytest.raises(OSError, match="no entropy"):
            await dry.desks[0].days.prepare()
        refused = await refusal(ada)
        assert refused.code is ErrorCode.INTERNAL
        assert "could not make the deal of this day" in refused.sentence
        assert "day 334 of sally has no deal" in caplog.text
        assert await redis.hlen("{days}:deals") == 0
        assert [key async for key in redis.scan_iter(match="{r:*")] == []


async def test_p51_a_seed_that_comes_again_makes_no_deal(valkey_url: str, redis: Redis) -> None:
    again = secrets.token_bytes(32)

    async def stuck(_game: str) -> Drawn:
        return Drawn(DealLabel.OPEN, again)

    async with service(valkey_url, redis, NOON, draw=stuck) as repeating:
        ada = await repeating.player("ada")
        assert (await play(ada)).race.day is not None
        refused = await refusal(ada, game="lanes")
        assert refused.code is ErrorCode.INTERNAL
        await repeating.timeline.go_on(seconds=24 * 3600)
        assert (await refusal(ada)).code is ErrorCode.INTERNAL
        assert await redis.hlen("{days}:deals") == 1


async def test_the_label_of_a_deal_is_the_one_it_was_drawn_with(
    valkey_url: str, redis: Redis
) -> None:
    async def certified(_game: str) -> Drawn:
        return Drawn(DealLabel.CERTIFIED, secrets.token_bytes(32))

    async with service(valkey_url, redis, NOON, draw=certified) as sure:
        await sure.desks[0].days.prepare()
        ada = await sure.player("ada")
        daily = await shown(ada)
        labels = [each.label for each in daily.games] + [each.label for each in daily.coming]
        assert labels == [DealLabel.CERTIFIED] * 40
        view = (await play(ada)).race
        assert view.day is not None
        assert view.day.label is DealLabel.CERTIFIED


STUCK = "T1=AC-,9H; T2=9D; T3=AH; S=4D"
"""With the ace of hearts home, nothing but draws is left, which only the server can know yet."""


async def test_a_run_that_only_the_server_knows_to_be_stuck_goes_on(
    valkey_url: str, redis: Redis
) -> None:
    def dealt(_game: str, _seed: bytes) -> Table:
        return Table.parse(GAMES["klondike"], STUCK)

    async with service(valkey_url, redis, NOON, deal=dealt) as hopeless:
        ada = await hopeless.player("ada")
        race = (await play(ada)).race.id
        for seq, move in enumerate(("T3>F1", "draw"), start=1):
            await ada.get(say.Ack, ask.PlayMove, race=race, seq=seq, move=move)

        async def is_marked() -> bool:
            return await redis.hget(keys.seat(race, 1), "stuck") == "2"

        await eventually(is_marked)
        at = len(ada.frames)
        await hopeless.desks[0].rooms.advance(race)
        await ada.get(say.Ack, ask.PlayMove, race=race, seq=3, move="draw")
        assert not any(isinstance(message, say.Closed) for message in ada.said(at))
        # When the day is closed the cards are anybody's, and so is what they meant.
        await eventually(lambda: any(isinstance(m, say.Notice) for m in ada.said(at)))
        await hopeless.timeline.go_on(seconds=13 * 3600)
        await hopeless.close(race)
        (end,) = [message for message in ada.said() if isinstance(message, say.Closed)]
        assert end.race.order[0].status is Status.STUCK
