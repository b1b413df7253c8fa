"""Watching over real sockets, on two nodes of one store: what is shown to whom, and when."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from raw import binary, raw
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import OptionsPatch, Phase, Spectating
from samedeal_server.app import running
from samedeal_server.settings import Settings
from samedeal_server.store import keys
from support import eventually
from wire import Wire, race_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from redis.asyncio import Redis

    from samedeal.protocol.watch_messages import WatchedBoard

pytestmark = pytest.mark.usefixtures("every_key_expires")


@pytest.fixture
async def nodes(valkey_url: str, redis: Redis, tmp_path: Path) -> AsyncIterator[tuple[str, str]]:
    """Two nodes; players sit on the first."""
    async with (
        running(Settings("127.0.0.1", 0, valkey_url, tmp_path)) as near,
        running(Settings("127.0.0.1", 0, valkey_url, tmp_path)) as far,
    ):
        yield f"ws://127.0.0.1:{near}", f"ws://127.0.0.1:{far}"


class Seen:
    """What a watcher makes of everything it was told about a race."""

    def __init__(self, wire: Wire, race: str) -> None:
        self.ver = 0
        self.whole: say.Watching | None = None
        self.boards: dict[int, WatchedBoard] = {}
        self.moves: dict[int, int] = {}
        self.is_in_order = True
        for message in wire.heard:
            if isinstance(message, say.Watching) and message.race.id == race:
                self.whole = message
                players, boards, ver = message.race.players, message.boards, message.race.ver
            elif isinstance(message, say.Watched) and message.race == race:
                players, boards, ver = message.players, message.boards, message.ver
            else:
                continue
            is_older = [ver < self.ver]
            is_older += [player.moves < self.moves.get(player.seat, 0) for player in players]
            is_older += [b.seq < self.boards[b.seat].seq for b in boards if b.seat in self.boards]
            self.is_in_order = self.is_in_order and not any(is_older)
            self.ver = ver
            self.moves |= {player.seat: player.moves for player in players}
            self.boards |= {board.seat: board for board in boards}


def sees(wire: Wire, race: str, seat: int, seq: int) -> bool:
    board = Seen(wire, race).boards.get(seat)
    return board is not None and board.seq == seq


def is_over(wire: Wire, race: str) -> bool:
    whole = Seen(wire, race).whole
    return whole is not None and whole.race.phase is Phase.CLOSED


@asynccontextmanager
async def pair(url: str, **options: Any) -> AsyncIterator[tuple[Wire, Wire, str]]:
    """Ada and ivo in a race that runs."""
    async with wired(url, "ada") as ada, wired(url, "ivo") as ivo:
        yield ada, ivo, await race_of(ada, ivo, **options)


async def draw(wire: Wire, race: str, *seqs: int) -> say.Ack:
    for seq in seqs:
        ack = await wire.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")
    return ack


async def refused(wire: Wire, kind: Any, **fields: Any) -> say.Refused:
    return await wire.get(say.Refused, kind, **fields)


@pytest.mark.parametrize("node", [0, 1], ids=["the players' node", "another node"])
async def test_a_watcher_sees_the_visible_boards_then_what_changes_and_all_at_the_close(
    nodes: tuple[str, str], node: int
) -> None:
    async with pair(nodes[0]) as (ada, ivo, race), wired(nodes[node], "eva") as eva:
        await draw(ada, race, 1, 2)
        code = ada.all(say.Go)[0].race.code
        watching = await eva.get(say.Watching, ask.Watch, code=code)
        assert (watching.shows, watching.reason) == (Spectating.BOARDS, None)
        assert [(board.seat, board.seq) for board in watching.boards] == [(1, 2), (2, 0)]
        assert watching.race.seed is None
        go = ivo.all(say.Go)[0]
        assert watching.boards[1].piles == go.board.piles
        # Cards that lie hidden are counts: 52 are there, fewer are seen.
        hidden = sum(dark for dark, _ in watching.boards[0].piles)
        assert sum(len(cards) for _, cards in watching.boards[0].piles) == 52 - hidden < 52
        await draw(ivo, race, 1)
        await draw(ada, race, 3)
        await eventually(partial(sees, eva, race, 1, 3))
        await eventually(partial(sees, eva, race, 2, 1))
        assert Seen(eva, race).boards[2].marks == ("draw",)
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(partial(is_over, eva, race))
        seen = Seen(eva, race)
        closed = ada.all(say.Closed)[0].race
        assert seen.is_in_order
        assert seen.whole is not None
        assert (seen.whole.race.seed, seen.whole.race.order) == (closed.seed, closed.order)


async def test_the_shape_is_heights_and_marks_without_a_card_until_the_close(
    nodes: tuple[str, str],
) -> None:
    async with pair(nodes[0], ranked=True) as (ada, ivo, race), wired(nodes[1], "eva") as eva:
        await draw(ada, race, 1)
        watching = await eva.get(say.Watching, ask.Watch, race=race)
        assert watching.shows is Spectating.SHAPE
        assert watching.reason == (
            "the shapes of the boards are shown; the boards open when all have finished"
        )
        await draw(ada, race, 2)
        await eventually(partial(sees, eva, race, 1, 2))
        board = Seen(eva, race).boards[1]
        assert (board.piles, board.base, board.marks) == ((), None, ("draw",))
        dealt = ada.all(say.Go)[0].board.piles
        stock, waste = board.heights[:2]
        assert (stock, waste) == ((dealt[0][0] - 2, 0), (0, 2))
        assert board.heights[2:] == tuple((dark, len(cards)) for dark, cards in dealt[2:])
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(partial(is_over, eva, race))
        seen = Seen(eva, race)
        assert seen.whole is not None
        assert (seen.whole.shows, seen.whole.reason) == (Spectating.BOARDS, None)
        assert seen.boards[1].piles[1] == (
            0,
            tuple(card for ack in ada.all(say.Ack) for card in ack.reveals),
        )


async def test_counts_show_no_board(nodes: tuple[str, str]) -> None:
    async with (
        pair(nodes[0], spectating="counts") as (ada, ivo, race),
        wired(nodes[1], "eva") as eva,
    ):
        watching = await eva.get(say.Watching, ask.Watch, race=race)
        assert (watching.shows, watching.boards) == (Spectating.COUNTS, ())
        await draw(ada, race, 1, 2)
        await eventually(lambda: Seen(eva, race).moves[1] == 2)
        assert Seen(eva, race).boards == {}
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(partial(sees, eva, race, 1, 2))
        assert is_over(eva, race)


async def test_a_race_that_nobody_may_watch_opens_at_its_close(nodes: tuple[str, str]) -> None:
    async with (
        pair(nodes[0], spectating="off") as (ada, ivo, race),
        wired(nodes[1], "eva") as eva,
    ):
        no = await refused(eva, ask.Watch, race=race)
        assert (no.code, no.sentence) == (
            ErrorCode.NOT_SHOWN, "nobody may watch this race; it opens when all have finished",
        )  # fmt: skip
        assert (await eva.get(say.LiveRaces, ask.LiveGet)).races == ()
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(lambda: bool(ada.all(say.Closed)))
        watching = await eva.get(say.Watching, ask.Watch, race=race)
        assert (watching.race.phase, len(watching.boards)) == (Phase.CLOSED, 2)
        assert watching.race.seed == ada.all(say.Closed)[0].race.seed


async def test_a_ranked_race_shows_the_shape_at_most(nodes: tuple[str, str]) -> None:
    async with wired(nodes[0], "ada") as ada:
        options = {"ranked": True, "spectating": "boards"}
        no = await refused(ada, ask.Create, game="lanes", options=options)
        assert (no.code, "ranked" in no.sentence) == (ErrorCode.BAD_OPTION, True)


async def test_who_holds_a_seat_sees_no_board_until_the_close_not_even_when_finished(
    nodes: tuple[str, str],
) -> None:
    async with pair(nodes[0]) as (ada, ivo, race), wired(nodes[1], token=ada.token) as again:
        # Another connection of the account, on another node, after the end of the own run.
        for how in (None, ask.Bank, ask.Leave):
            if how is not None:
                await ada.get(say.Done, how, race=race)
            for wire in (ada, again):
                no = await refused(wire, ask.Watch, race=race)
                assert (no.code, no.sentence) == (
                    ErrorCode.NOT_SHOWN,
                    "you hold a seat in this race; its boards open when all have finished",
                )
        await ivo.get(say.Done, ask.Leave, race=race)
        await eventually(lambda: bool(ivo.all(say.Closed)))
        watching = await again.get(say.Watching, ask.Watch, race=race)
        assert (watching.shows, len(watching.boards)) == (Spectating.BOARDS, 2)


async def test_who_has_watched_an_open_deal_gets_no_seat_in_it_on_any_node(
    nodes: tuple[str, str], redis: Redis
) -> None:
    async with (
        wired(nodes[0], "ada") as ada,
        wired(nodes[0], "ivo") as ivo,
        wired(nodes[1], "eva") as eva,
        wired(nodes[0], "zoe") as zoe,
    ):
        options = {"seats": 4, "countdown_s": 0, "auto_start": False}
        seated = await ada.get(say.Seated, ask.Create, game="lanes", options=options)
        race, code = seated.race.id, seated.race.code
        await ivo.get(say.Seated, ask.Join, code=code)
        await ivo.get(say.Done, ask.Ready, race=race)
        await ada.get(say.Done, ask.Start, race=race)
        await eva.get(say.Watching, ask.Watch, code=code)
        await eva.get(say.Done, ask.Unwatch, race=race)
        async with wired(nodes[0], token=eva.token) as again:
            no = await refused(again, ask.Join, code=code)
            assert (no.code, no.sentence) == (
                ErrorCode.HAS_WATCHED, "you have watched this deal, so you cannot play it",
            )  # fmt: skip
            assert (await refused(zoe, ask.Join, code=code)).code is ErrorCode.WRONG_PHASE
            # Nor would it if the race let others in late.
            await redis.hset(keys.race(race), "phase", "lobby")
            assert (await refused(again, ask.Join, code=code)).code is ErrorCode.HAS_WATCHED
            await zoe.get(say.Seated, ask.Join, code=code)


async def test_who_plays_a_chosen_deal_sees_no_board_of_it_in_another_race(
    nodes: tuple[str, str],
) -> None:
    """A seed that somebody names may be dealt in many races at once."""
    async with (
        pair(nodes[0], seed="summer") as (ada, ivo, first),
        pair(nodes[1], seed="summer") as (_, _, second),
        pair(nodes[1], seed="winter") as (_, _, other),
        wired(nodes[1], token=ivo.token) as again,
    ):
        for wire in (ivo, again):
            no = await refused(wire, ask.Watch, race=second)
            assert (no.code, no.sentence) == (
                ErrorCode.NOT_SHOWN,
                "you play this deal in another race; its boards open when that is over",
            )
        assert (await again.get(say.Watching, ask.Watch, race=other)).boards
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=first)
        await eventually(lambda: bool(ivo.all(say.Closed)))
        assert (await again.get(say.Watching, ask.Watch, race=second)).boards


async def test_who_has_watched_a_chosen_deal_gets_no_seat_in_another_race_of_it(
    nodes: tuple[str, str],
) -> None:
    async with (
        pair(nodes[0], seed="summer") as (_, _, race),
        wired(nodes[1], "eva") as eva,
        wired(nodes[1], "zoe") as zoe,
    ):
        await eva.get(say.Watching, ask.Watch, race=race)
        async with wired(nodes[1], "kim") as kim:
            for seed, is_open in (("summer", False), ("winter", True)):
                seated = await kim.get(say.Seated, ask.Create, game="lanes", seed=seed)
                code = seated.race.code
                if is_open:
                    await eva.get(say.Seated, ask.Join, code=code)
                else:
                    assert (await refused(eva, ask.Join, code=code)).code is ErrorCode.HAS_WATCHED
                    await zoe.get(say.Seated, ask.Join, code=code)
            # Who names the seed knows the deal: practice on it is not kept from anybody.
            mine = await eva.get(say.Seated, ask.Create, game="lanes", seed="summer")
            await eva.get(say.Seated, ask.Join, code=mine.race.code)


async def test_who_takes_a_seat_in_the_lobby_watches_no_more(nodes: tuple[str, str]) -> None:
    async with wired(nodes[0], "ada") as ada, wired(nodes[1], "eva") as eva:
        seated = await ada.get(say.Seated, ask.Create, game="lanes", options={"countdown_s": 0})
        race, code = seated.race.id, seated.race.code
        watching = await eva.get(say.Watching, ask.Watch, code=code)
        assert watching.boards == ()
        # On the other node, as another connection of the same account.
        async with wired(nodes[0], token=eva.token) as again:
            await again.get(say.Seated, ask.Join, code=code)
            await eventually(lambda: bool(eva.all(say.WatchOver)))
            for wire in (ada, again):
                await wire.get(say.Done, ask.Ready, race=race)
            await eventually(lambda: bool(again.all(say.Go)))
            await draw(ada, race, 1)
            await eventually(
                lambda: any(p.moves for m in again.all(say.Progress) for p in m.players)
            )
        assert not any(message.boards for message in eva.all(say.Watching))
        assert eva.all(say.Watched) == []


async def test_who_hosts_a_room_may_end_the_watching_of_its_lobby(nodes: tuple[str, str]) -> None:
    async with wired(nodes[0], "ada") as ada, wired(nodes[1], "eva") as eva:
        seated = await ada.get(say.Seated, ask.Create, game="lanes")
        race = seated.race.id
        await eva.get(say.Watching, ask.Watch, race=race)
        await ada.get(say.Done, ask.SetOptions, race=race, options={"spectating": "off"})
        await eventually(lambda: bool(eva.all(say.WatchOver)))
        assert "nobody may watch" in eva.all(say.WatchOver)[0].sentence


async def test_with_a_delay_boards_are_shown_later_than_they_were_played(
    nodes: tuple[str, str], redis: Redis
) -> None:
    """A minute passes at once: GO and what was played are put back."""
    async with (
        pair(nodes[0], watch_delay_s=60, time_limit_s=600) as (ada, ivo, race),
        wired(nodes[1], "eva") as eva,
    ):
        await draw(ada, race, 1, 2)
        watching = await eva.get(say.Watching, ask.Watch, race=race)
        assert watching.reason == "the boards are shown 60 s late"
        assert [board.seq for board in watching.boards] == [0, 0]
        # The counts are what the players see of each other.
        assert watching.race.players[0].moves == 2
        await redis.hincrby(keys.race(race), "go_at", -60_000)
        await draw(ada, race, 3)
        await eventually(partial(sees, eva, race, 1, 2))
        await eventually(lambda: Seen(eva, race).moves[1] == 3)
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(partial(is_over, eva, race))
        assert sees(eva, race, 1, 3)


async def test_what_waits_for_its_time_is_shown_without_any_further_move(
    nodes: tuple[str, str],
) -> None:
    async with (
        pair(nodes[0], watch_delay_s=1) as (ada, _, race),
        wired(nodes[1], "eva") as eva,
    ):
        await eva.get(say.Watching, ask.Watch, race=race)
        ack = await draw(ada, race, 1)
        await eventually(partial(sees, eva, race, 1, 1))
        late = await eva.get(say.Watching, ask.Watch, race=race)
        assert late.race.clock_ms >= ack.t_ms + 1000


async def test_the_list_has_the_races_that_run_and_may_be_watched(nodes: tuple[str, str]) -> None:
    async with (
        pair(nodes[0]) as (ada, ivo, first),
        pair(nodes[0], ranked=True) as (_, _, second),
        pair(nodes[0], spectating="off"),
        wired(nodes[1], "eva") as eva,
    ):
        await ada.get(say.Seated, ask.Create, game="lanes")
        races = (await eva.get(say.LiveRaces, ask.LiveGet)).races
        assert [(race.race, race.shows.value, race.ranked) for race in races] == [
            (second, "shape", True), (first, "boards", False),
        ]  # fmt: skip
        assert (races[1].players, races[1].game) == (("ada", "ivo"), "lanes")
        assert len((await eva.get(say.LiveRaces, ask.LiveGet, limit=1)).races) == 1
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=first)

        async def is_off_the_list() -> bool:
            found = (await eva.get(say.LiveRaces, ask.LiveGet)).races
            return [race.race for race in found] == [second]

        await eventually(is_off_the_list)


async def test_players_and_watchers_are_told_about_how_many_watch(nodes: tuple[str, str]) -> None:
    async with pair(nodes[0]) as (ada, _, race), wired(nodes[1], "eva") as eva:
        async with wired(nodes[0], "zoe") as zoe:
            for wire in (eva, zoe):
                await wire.get(say.Watching, ask.Watch, race=race)
            await eventually(
                lambda: bool(ada.all(say.Room)) and ada.all(say.Room)[-1].race.crowd == 2
            )

            def is_told() -> bool:
                whole = Seen(eva, race).whole
                return whole is not None and whole.race.crowd == 2

            await eventually(is_told)
        await eventually(lambda: ada.all(say.Room)[-1].race.crowd == 1)
        await eva.get(say.Done, ask.Unwatch, race=race)
        await eventually(lambda: ada.all(say.Room)[-1].race.crowd == 0)


async def test_there_is_no_race_to_watch_by_a_code_or_id_of_nobody(nodes: tuple[str, str]) -> None:
    async with wired(nodes[0], "eva") as eva:
        for fields in ({"code": "ZZZZZ"}, {"race": "0" * 16}, {}):
            no = await refused(eva, ask.Watch, **fields)
            assert no.code is (ErrorCode.NOT_FOUND if fields else ErrorCode.BAD_FRAME)
        await eva.get(say.Done, ask.Unwatch, race="0" * 16)


async def test_a_server_takes_as_many_watchers_as_it_was_told_to(
    valkey_url: str, redis: Redis, tmp_path: Path
) -> None:
    async with running(Settings("127.0.0.1", 0, valkey_url, tmp_path, max_watchers=1)) as port:
        url = f"ws://127.0.0.1:{port}"
        async with pair(url) as (_, _, race), wired(url, "eva") as eva, wired(url, "zoe") as zoe:
            await eva.get(say.Watching, ask.Watch, race=race)
            assert (await refused(zoe, ask.Watch, race=race)).code is ErrorCode.TOO_MANY
            await eva.get(say.Done, ask.Unwatch, race=race)
            await zoe.get(say.Watching, ask.Watch, race=race)
            eva.abort()
            zoe.abort()
            async with wired(url, "kim") as kim:

                async def gets_in() -> bool:
                    answer = await kim.answer(await kim.post(ask.Watch, race=race))
                    return isinstance(answer, say.Watching)

                await eventually(gets_in)


async def test_p17_a_watcher_that_does_not_read_gets_the_newest_when_it_does_and_nothing_between(
    nodes: tuple[str, str],
) -> None:
    async with (
        pair(nodes[0], game="klondike") as (ada, _, race),
        wired(nodes[1], "eva") as eva,
        raw(nodes[1], room=4096) as slow,
    ):
        await eva.get(say.Watching, ask.Watch, race=race)
        asked = [binary(ask.Watch(id=number, race=race)) for number in range(80)]
        # The last request is seen by others: then everything before it is answered.
        asked.append(binary(ask.Create(id=80, game="lanes", options=OptionsPatch(listed=True))))
        await eva.get(say.Lobby, ask.LobbyWatch)
        slow.pause()
        await slow.write(slow.frames(*asked))
        await eventually(lambda: any(lobby.rooms for lobby in eva.all(say.Lobby)))
        for seq in range(1, 11):
            await draw(ada, race, seq)
            await eventually(partial(sees, eva, race, 1, seq))
        slow.resume()
        heard = [await slow.answer()]
        while not (isinstance(last := heard[-1], say.Watching) and last.boards[0].seq == 10):
            heard.append(await slow.answer())
        assert len([m for m in heard if isinstance(m, say.Watching) and m.id is not None]) == 80
        # In the moment in which it fell behind it may have got some.
        assert len([m for m in heard if isinstance(m, say.Watched)]) < 4
        assert last.id is None
        await draw(ada, race, 11)
        assert isinstance(await slow.answer(), say.Watched)


async def test_a_run_of_a_day_is_not_shown_live_nor_listed(nodes: tuple[str, str]) -> None:
    async with wired(nodes[0], "ada") as ada, wired(nodes[1], "eva") as eva:
        seated = await ada.get(say.Seated, ask.DailyPlay, game="sally")
        race = seated.race.id
        await draw(ada, race, 1)
        for how in (None, ask.Bank):
            if how is not None:
                await ada.get(say.Done, how, race=race)
            for wire in (ada, eva):
                no = await refused(wire, ask.Watch, race=race)
                assert (no.code, "not shown live" in no.sentence) == (ErrorCode.NOT_SHOWN, True)
            assert (await eva.get(say.LiveRaces, ask.LiveGet)).races == ()
