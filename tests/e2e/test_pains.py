"""What broke elsewhere, tried here over real sockets, numbered as in the list of pains."""

from __future__ import annotations

import asyncio
import random
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

from redis.asyncio import Redis

from expiry import everything_expires
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Status
from samedeal_client.connection import Client
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.leases import LEASE_S
from samedeal_server.store.races import RaceStore
from support import Proxy, ServerProcess, eventually
from wire import Wire, race_of, wired


def store_of(data: Path) -> str:
    return f"unix://{data / 'store.sock'}"


async def draw(wire: Wire, race: str, seq: int) -> say.Ack:
    return await wire.get(say.Ack, ask.PlayMove, race=race, seq=seq, move="draw")


def presence(wire: Wire) -> dict[str, bool]:
    """Who is there, by the latest the connection was told."""
    views = [m.race for m in wire.heard if isinstance(m, say.Seated | say.Room | say.Go)]
    return {player.name: player.present for player in views[-1].players}


async def test_p01_the_late_close_of_an_old_socket_harms_nobody(server_url: str) -> None:
    async with AsyncExitStack() as stack:
        old, ivo = [await stack.enter_async_context(wired(server_url, n)) for n in ("ada", "ivo")]
        race = await race_of(old, ivo)
        await draw(old, race, 1)
        new = await stack.enter_async_context(wired(server_url, token=old.token))
        await new.get(say.Seated, ask.Resume, race=race)
        await eventually(lambda: bool(old.all(say.TakenOver)))
        heard = len(ivo.heard)
        old.abort()
        await old.socket.wait_closed()
        await draw(new, race, 2)
        await eventually(
            lambda: any(view.moves == 2 for m in ivo.all(say.Progress) for view in m.players)
        )
        assert presence(ivo) == {new.name: True, ivo.name: True}
        rooms = [m.race for m in ivo.heard[heard:] if isinstance(m, say.Room)]
        assert all(player.present for view in rooms for player in view.players)


async def test_p01_an_old_socket_that_breaks_while_the_new_one_resumes_harms_nobody(
    server_url: str,
) -> None:
    async with AsyncExitStack() as stack:
        tab, ivo = [await stack.enter_async_context(wired(server_url, n)) for n in ("ada", "ivo")]
        race, token = await race_of(tab, ivo), tab.token
        for _ in range(10):
            new = await stack.enter_async_context(wired(server_url, token=token))
            request = await new.post(ask.Resume, race=race)
            tab.abort()
            await eventually(lambda n=new, r=request: bool(n.answers(r)))  # type: ignore[misc]
            tab = new
        await draw(tab, race, 1)
        # Asked last, the store has heard of every close before.
        await tab.get(say.Pong, ask.Ping)
        await eventually(lambda: presence(ivo) == {tab.name: True, ivo.name: True})


async def test_p03_a_move_lost_on_the_way_is_sent_again_and_counts_once(server_url: str) -> None:
    port = int(server_url.rpartition(":")[2])
    proxy = Proxy(("127.0.0.1", port))
    async with (
        proxy as front,
        Client(f"ws://127.0.0.1:{front}", name="ada") as a,
        Client(server_url, name="ivo") as b,
    ):
        race = await a.create_race("sally", countdown_s=0)
        rival = await b.join(race.code)
        await rival.ready()
        await race.ready()
        await race.until_go()
        for number in range(1, 6):
            moving = asyncio.create_task(race.move("draw"))
            await asyncio.sleep(0)
            proxy.cut()
            await moving
            assert race.model.acked == number
        await eventually(lambda: rival.view.players[0].moves == 5)


async def test_p05_each_of_1000_moves_of_two_racers_at_once_gets_one_answer(
    tmp_path: Path,
) -> None:
    with ServerProcess(tmp_path, "--limit-actions", "off") as server:
        async with wired(server.url, "ada") as ada, wired(server.url, "ivo") as ivo:
            race = await race_of(ada, ivo, game="sally", time_limit_s=600)
            for wire, requests in await bursts(race, ada, ivo):
                acks = wire.all(say.Ack)
                assert Counter(ack.id for ack in acks) == dict.fromkeys(requests, 1)
                assert [ack.seq for ack in acks] == list(range(1, 1001))
                assert not wire.all(say.Refused)


async def test_p47_who_floods_is_told_to_slow_down_and_the_rival_is_not(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, "--limit-actions", "50:1") as server:
        async with wired(server.url, "ada") as ada, wired(server.url, "ivo") as ivo:
            race = await race_of(ada, ivo, game="sally", time_limit_s=600)
            ((_, requests),) = await bursts(race, ada)
            answers = Counter(m.id for m in ada.all(say.Ack)) + Counter(
                m.id for m in ada.all(say.Refused)
            )
            assert answers == dict.fromkeys(requests, 1)
            # Refused for the pace, or for the gap that such a refusal leaves.
            codes = {refused.code for refused in ada.all(say.Refused)}
            assert ErrorCode.SLOW_DOWN in codes
            assert codes <= {ErrorCode.SLOW_DOWN, ErrorCode.SEQ_GAP}
            acked = len(ada.all(say.Ack))
            assert [ack.seq for ack in ada.all(say.Ack)] == list(range(1, acked + 1))
            assert acked >= 50
            for seq in range(1, 21):
                await draw(ivo, race, seq)
            back = await ada.get(say.Seated, ask.Resume, race=race)
            assert back.seq == acked


async def bursts(race: str, *wires: Wire) -> list[tuple[Wire, list[int]]]:
    """Send 1,000 draws on each connection as fast as it goes, and wait for every last answer."""

    async def burst(wire: Wire) -> list[int]:
        # Sally's stock never ends: every draw is legal.
        fields = {"race": race, "move": "draw"}
        return [await wire.post(ask.PlayMove, seq=seq, **fields) for seq in range(1, 1001)]

    sent = await asyncio.gather(*(burst(wire) for wire in wires))
    for wire, requests in zip(wires, sent, strict=True):
        await eventually(lambda w=wire, r=requests: bool(w.answers(r[-1])), 60)  # type: ignore[misc]
    return list(zip(wires, sent, strict=True))


async def test_p09_200_joins_at_once_over_two_nodes_seat_each_player_once(tmp_path: Path) -> None:
    with (
        ServerProcess(tmp_path / "data") as one,
        ServerProcess(tmp_path / "unused", "--redis", store_of(tmp_path / "data")) as two,
    ):
        async with AsyncExitStack() as stack:
            host = await stack.enter_async_context(wired(one.url, "host"))
            room = await host.get(say.Seated, ask.Create, game="lanes", options={"seats": 8})
            users = [await stack.enter_async_context(wired(one.url, f"user{n}")) for n in range(20)]
            urls = [one.url, two.url] * 5
            tabs = [
                (user, await stack.enter_async_context(wired(url, token=user.token)))
                for user in users
                for url in urls
            ]
            numbers = [await tab.post(ask.Join, code=room.race.code) for _, tab in tabs]
            answers = [await tab.answer(n) for (_, tab), n in zip(tabs, numbers, strict=True)]
            seats: dict[Wire, set[int | ErrorCode]] = {}
            for (user, _), answer in zip(tabs, answers, strict=True):
                if isinstance(answer, say.Seated):
                    assert answer.race.id == room.race.id
                    seats.setdefault(user, set()).add(answer.seat)
                else:
                    assert isinstance(answer, say.Refused)
                    seats.setdefault(user, set()).add(answer.code)
            assert all(len(own) == 1 for own in seats.values())
            got = sorted(seat for own in seats.values() for seat in own if isinstance(seat, int))
            assert got == [2, 3, 4, 5, 6, 7, 8]
            view = (await host.get(say.Seated, ask.Resume, race=room.race.id)).race
            assert len({player.name for player in view.players}) == 8


async def test_p11_who_drops_and_who_returns_is_named_right(server_url: str) -> None:
    async with AsyncExitStack() as stack:
        eva = await stack.enter_async_context(wired(server_url, "eva"))
        ada, ivo = [await stack.enter_async_context(wired(server_url, n)) for n in ("ada", "ivo")]
        await race_of(eva, ada, ivo)
        race = eva.all(say.Go)[0].race.id
        deadline_ms = eva.all(say.Go)[0].race.deadline_ms
        there = {eva.name: True, ada.name: True, ivo.name: True}
        tabs = {ada.name: ada, ivo.name: ivo}
        for names in ([ada], [ivo], [ada], [ada, ivo], [ivo]):
            for who in [wire.name for wire in names]:
                tabs[who].abort()
                there[who] = False
                await eventually(lambda: presence(eva) == there)
            for who in [wire.name for wire in reversed(names)]:
                token = tabs[who].token
                tabs[who] = await stack.enter_async_context(wired(server_url, token=token))
                seated = await tabs[who].get(say.Seated, ask.Resume, race=race)
                assert seated.race.deadline_ms == deadline_ms
                there[who] = True
                await eventually(lambda: presence(eva) == there)


async def test_p15_a_server_that_stops_says_when_to_come_back(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        async with AsyncExitStack() as stack:
            wires = [
                await stack.enter_async_context(wired(server.url, f"user{n}")) for n in range(20)
            ]
            race = await race_of(wires[0], wires[1])
            await draw(wires[0], race, 1)
            _, code = await asyncio.to_thread(server.stop, signal.SIGTERM)
            for wire in wires:
                await wire.socket.wait_closed()
            assert code == 0
            assert {wire.socket.close_code for wire in wires} == {1012}
            reasons = {wire.socket.close_reason for wire in wires}
            assert all((reason or "").startswith("retry_ms=") for reason in reasons)
            # Spread, not all at once.
            assert len(reasons) > 10
            token = wires[0].token
    with ServerProcess(tmp_path / "data") as again:
        async with wired(again.url, token=token) as wire:
            assert (await wire.get(say.Seated, ask.Resume, race=race)).seq == 1


async def test_p33_the_time_of_a_client_is_no_field_and_the_stores_counts(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        redis = StoreAddress.parse(store_of(tmp_path / "data")).client()
        async with wired(server.url, "ada") as ada, wired(server.url, "ivo") as ivo:
            race = await race_of(ada, ivo)
            for claimed in ({"t_ms": 1}, {"t_ms": -1}, {"elapsed": 0}):
                fields = {"race": race, "seq": 1, "move": "draw", **claimed}
                answer = await ada.get(say.Refused, ask.PlayMove, **fields)
                assert answer.code is ErrorCode.BAD_FRAME
            go_at_ms = int(await redis.hget(keys.race(race), "go_at") or 0)
            before, _ = await redis.time()
            ack = await draw(ada, race, 1)
            after, _ = await redis.time()
            assert before * 1000 <= go_at_ms + ack.t_ms < (after + 1) * 1000
        await redis.aclose()


async def test_p35_a_killed_server_neither_stops_nor_refills_the_clock(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        async with wired(server.url, "ada") as ada, wired(server.url, "ivo") as ivo:
            race = await race_of(ada, ivo)
            ack = await draw(ada, race, 1)
            before = ada.all(say.Go)[0].race
            tokens = ada.token, ivo.token
            server.stop(signal.SIGKILL)
    with ServerProcess(tmp_path / "data") as again:
        async with wired(again.url, token=tokens[0]) as ada, wired(again.url, token=tokens[1]) as i:
            first = await ada.get(say.Seated, ask.Resume, race=race)
            second = await i.get(say.Seated, ask.Resume, race=race)
            # Unless it took so long that it counts as an outage: then it is as much longer.
            paused_ms = first.race.paused_ms
            assert paused_ms == 0 or paused_ms > LEASE_S * 1000
            assert first.race.deadline_ms == second.race.deadline_ms
            assert first.race.deadline_ms == before.deadline_ms + paused_ms
            assert ack.t_ms <= first.race.clock_ms <= second.race.clock_ms
            assert (first.seq, first.hash, second.seq) == (1, ack.hash, 0)
            # What comes later is later, on this server too.
            assert (await draw(ada, race, 2)).t_ms >= ack.t_ms


async def test_p37_a_race_counts_once_whichever_nodes_close_it(tmp_path: Path) -> None:
    store = store_of(tmp_path / "data")
    with (
        ServerProcess(tmp_path / "data") as one,
        ServerProcess(tmp_path / "unused", "--redis", store) as two,
    ):
        async with wired(one.url, "ada") as ada, wired(two.url, "ivo") as ivo:
            race = await race_of(ada, ivo)
            for wire in (ada, ivo):
                await draw(wire, race, 1)
            await draw(ada, race, 2)
            await asyncio.gather(*(wire.get(say.Done, ask.Bank, race=race) for wire in (ada, ivo)))
            for wire in (ada, ivo):
                await eventually(lambda w=wire: bool(w.all(say.Closed)))  # type: ignore[misc]
            # Any node may close it again, and the sweep does.
            redis = StoreAddress.parse(store).client()
            await RaceStore(redis, "test").schedule({race: 0})
            await eventually(lambda: is_forgotten(redis))
            await redis.aclose()
            assert ada.all(say.Closed)[0].race.order == ivo.all(say.Closed)[0].race.order
            for wire in (ada, ivo):
                board = await wire.get(say.Board, ask.BoardGet, game="lanes")
                assert {row.name: row.races for row in board.rows} == {"ada": 1, "ivo": 1}
                assert sum(row.wins or 0 for row in board.rows) in (1, 2)


async def is_forgotten(redis: Redis) -> bool:
    return await redis.zcard(keys.due()) == 0


async def test_a_race_nobody_moved_in_or_only_one_counts_for_nothing(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        async with wired(server.url, "ada") as ada, wired(server.url, "ivo") as ivo:
            for seed in ("", "chosen"):
                race = await race_of(ada, ivo, seed=seed)
                await draw(ada, race, 1)
                if seed:
                    await draw(ivo, race, 1)
                for wire in (ada, ivo):
                    await wire.get(say.Done, ask.Bank, race=race)
            await eventually(lambda: len(ada.all(say.Closed)) == 2)
            assert (await ada.get(say.Board, ask.BoardGet, game="lanes")).rows == ()


async def test_a_race_that_everyone_went_from_is_closed_and_counted_by_the_sweep(
    tmp_path: Path,
) -> None:
    """Its end is brought near in the store; nobody is connected who could ask for it."""
    with ServerProcess(tmp_path / "data") as server:
        async with wired(server.url, "ada") as ada, wired(server.url, "ivo") as ivo:
            race = await race_of(ada, ivo)
            for wire in (ada, ivo):
                await draw(wire, race, 1)
            token = ada.token
        redis = StoreAddress.parse(store_of(tmp_path / "data")).client()
        races = RaceStore(redis, "test")

        async def nobody_is_there() -> bool:
            state = await races.load(race)
            assert state is not None
            return not any(seat.present for seat in state.seats.values())

        await eventually(nobody_is_there)
        # Its end is far off, but a node may die without a word: it is looked at now and then.
        due_ms = await redis.zscore(keys.due(), race)
        assert due_ms is not None
        state = await races.load(race)
        assert state is not None
        assert state.phase is Phase.RUNNING
        assert due_ms <= state.now_ms + 15_000 < state.deadline_at_ms
        deadline_ms = state.now_ms - state.go_at_ms - 1
        await redis.hset(keys.race(race), "deadline", str(state.go_at_ms + deadline_ms))
        await races.schedule({race: 0})
        await eventually(lambda: is_forgotten(redis))
        async with wired(server.url, token=token) as ada:
            seated = await ada.get(say.Seated, ask.Resume, race=race)
            assert seated.race.phase is Phase.CLOSED
            assert seated.race.clock_ms == deadline_ms
            assert [row.status for row in seated.race.order] == [Status.CUT_OFF] * 2
            board = await ada.get(say.Board, ask.BoardGet, game="lanes")
            assert [row.races for row in board.rows] == [1, 1]
        await everything_expires(redis)
        await redis.aclose()


async def test_p49_a_race_goes_on_from_its_log_wherever_it_was_killed(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    acked: dict[str, tuple[str, say.Ack]] = {}
    with ServerProcess(tmp_path / "data") as server:
        async with AsyncExitStack() as stack:
            for number in range(12):
                pair = [
                    await stack.enter_async_context(wired(server.url, f"p{number}-{n}"))
                    for n in (1, 2)
                ]
                race = await race_of(*pair, game=rng.choice(("lanes", "sally", "klondike")))
                for seq in range(1, rng.randint(2, 15)):
                    ack = await draw(pair[0], race, seq)
                    acked[race] = pair[0].token, ack
            server.stop(signal.SIGKILL)
    with ServerProcess(tmp_path / "data") as again:
        for race, (token, ack) in acked.items():
            async with wired(again.url, token=token) as wire:
                seated = await wire.get(say.Seated, ask.Resume, race=race)
                assert (seated.seq, seated.hash) == (ack.seq, ack.hash)
                assert seated.log[-1].t_ms == ack.t_ms
                assert (await draw(wire, race, ack.seq + 1)).t_ms >= ack.t_ms
