"""What a client does when the connection, the server or its store fails for real."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis

from relay import Fields, Relay, unchanged
from samedeal.engine.moves import DRAW
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Status
from samedeal_client.connection import Client, Dropped, Event, Link, Race, Rewound, Store
from samedeal_client.errors import ConnectionLost, Refused, Unanswered
from support import ServerProcess, eventually

SHORT_S = 2.0
"""A patience that a test can see the end of; what is answered is answered sooner."""


class Heard:
    """The events of a race, as they come."""

    def __init__(self, race: Race) -> None:
        self.events: list[Event] = []
        self._task = asyncio.create_task(self._listen(race))

    async def _listen(self, race: Race) -> None:
        async for event in race.events():
            self.events.append(event)

    def of(self, *kinds: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kinds)]

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


@asynccontextmanager
async def running(
    url: str, rival_url: str, *, patience_s: float = 30.0
) -> AsyncIterator[tuple[Client, Race, Heard]]:
    """A race that has begun, as the player at `url` has it."""
    async with (
        Client(url, name="ada", patience_s=patience_s) as client,
        Client(rival_url, name="ivo") as other,
    ):
        race = await client.create_race("sally", countdown_s=0, undo="free")
        heard = Heard(race)
        rival = await other.join(race.code)
        await rival.ready()
        await race.ready()
        await race.until_go()
        try:
            yield client, race, heard
        finally:
            await heard.stop()


def port_of(url: str) -> tuple[str, int]:
    return "127.0.0.1", int(url.rpartition(":")[2])


# What the server says


async def test_a_message_of_a_later_version_is_let_go_and_the_link_kept(server_url: str) -> None:
    relay = Relay(server_url)
    relay.said = lambda fields: [
        {"type": "applause", "id": 3, "race": "?"},
        {**fields, "mood": {"good": True}},
    ]
    async with relay as url, running(url, server_url) as (_, race, heard):
        for _ in range(3):
            await race.move(DRAW)
        assert race.acked == 3
        assert (len(relay.accepted_at), heard.of(Link)) == (1, [])


async def test_an_answer_that_cannot_be_read_fails_its_request_and_no_other(
    server_url: str,
) -> None:
    relay = Relay(server_url)
    relay.said = lambda f: [f | {"rows": 7}] if f["type"] == "board" else [f]
    async with relay as url, Client(url, name="ada") as client:
        with pytest.raises(Refused, match="cannot read"):
            await client.boards.page("lanes")
        relay.said = unchanged
        assert (await client.boards.page("lanes")).game == "lanes"
        assert len(relay.accepted_at) == 1


async def test_an_ack_that_cannot_be_read_is_found_in_the_log(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, running(url, server_url) as (_, race, _):
        relay.said = lambda f: [f | {"hash": "?"}] if f["type"] == "ack" else [f]
        ack = await race.move(DRAW)
        assert (ack.seq, ack.hash, len(ack.reveals)) == (1, race.table.hash, 3)


@pytest.mark.parametrize("frame", [b"\xc1", "text"], ids=["bytes", "text"])
async def test_what_is_no_message_at_all_ends_the_client_with_a_sentence(
    server_url: str, frame: bytes | str
) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada") as client:
        race = await client.create_race("lanes")
        await relay.say(frame)
        with pytest.raises(ConnectionLost, match="cannot read"):
            await race.until_closed()
        with pytest.raises(ConnectionLost, match="cannot read"):
            await client.boards.page("lanes")


# Gaps


async def test_a_move_that_got_lost_on_a_live_link_is_sent_again(server_url: str) -> None:
    relay = Relay(server_url)
    lost: list[Fields] = []

    def lose_one(fields: Fields) -> list[Fields]:
        if fields["type"] == "move" and not lost:
            lost.append(fields)
            return []
        return [fields]

    async with relay as url, running(url, server_url) as (_, race, heard):
        relay.asked = lose_one
        acks = await asyncio.gather(*(race.move(DRAW) for _ in range(4)))
        assert [ack.seq for ack in acks] == [1, 2, 3, 4]
        assert [fields["seq"] for fields in lost] == [1]
        assert (len(relay.accepted_at), heard.of(Link, Dropped)) == (1, [])


async def test_a_gap_that_cannot_be_filled_is_refused_and_not_tried_for_ever(
    server_url: str,
) -> None:
    relay = Relay(server_url)
    asked: list[int] = []

    def lose_the_first(fields: Fields) -> list[Fields]:
        if fields["type"] == "move":
            asked.append(fields["seq"])
        return [] if fields["type"] == "move" and fields["seq"] == 1 else [fields]

    async with relay as url, running(url, server_url) as (_, race, _):
        relay.asked = lose_the_first
        first, second = (
            asyncio.create_task(race.move(DRAW)),
            asyncio.create_task(race.move(DRAW)),
        )
        with pytest.raises(Refused) as caught:
            await second
        assert caught.value.code is ErrorCode.SEQ_GAP
        assert len(asked) < 20
        relay.asked = unchanged
        first.cancel()
        # What is left in the outbox goes out with the next resume.
        await relay.close_all(1012, "retry_ms=1")
        await eventually(lambda: race.acked == 1 and not race.model.outbox)


async def test_resuming_on_the_same_connection_is_no_takeover(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        race = await a.create_race("lanes")
        rival = await b.join(race.code)

        async def stir() -> None:
            """Have the room read again and again."""
            for number in range(40):
                await rival.ready(number % 2 == 0)

        async def resume() -> None:
            for _ in range(20):
                assert await a.resume(race.id) is race

        await asyncio.gather(stir(), resume())
        assert race.is_alive


async def test_who_is_told_to_slow_down_waits_and_loses_nothing(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", "--limit-actions", "10:40") as server:
        async with running(server.url, server.url) as (_, race, heard):
            acks = await asyncio.gather(*(race.move(DRAW) for _ in range(30)))
            assert [ack.seq for ack in acks] == list(range(1, 31))
            assert heard.of(Dropped, Link, Store) == []


# The link


async def test_nobody_comes_back_before_the_time_the_server_named(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada") as client:
        race = await client.create_race("lanes")
        heard = Heard(race)
        closed_at = asyncio.get_running_loop().time()
        await relay.close_all(1012, "retry_ms=400")
        await eventually(lambda: Link(is_up=True) in heard.events)
        # A slow machine can only come later.
        assert relay.accepted_at[-1] - closed_at >= 0.4
        assert heard.of(Link) == [Link(is_up=False), Link(is_up=True)]
        await heard.stop()


async def test_a_bank_does_not_overtake_moves_that_never_arrived(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, running(url, server_url) as (_, race, _):
        relay.asked = lambda f: [] if f["type"] == "move" else [f]
        moves = [asyncio.create_task(race.move(DRAW)) for _ in range(3)]
        await eventually(lambda: len(race.model.outbox) == 3)
        await relay.close_all(1012, "retry_ms=1")
        banking = asyncio.create_task(race.bank())
        relay.asked = unchanged
        assert [(await move).seq for move in moves] == [1, 2, 3]
        await banking
        assert race.acked == 3


async def test_a_resume_that_the_store_does_not_allow_now_is_asked_again(server_url: str) -> None:
    relay = Relay(server_url)
    away = {"code": "store_unavailable", "sentence": "not now", "retry_ms": 1}
    refused: list[Fields] = []

    def refuse_two(fields: Fields) -> list[Fields]:
        if fields["type"] == "seated" and len(refused) < 2:
            refused.append({"type": "refused", "id": fields["id"], **away})
            return refused[-1:]
        return [fields]

    async with relay as url, running(url, server_url) as (_, race, heard):
        relay.said = refuse_two
        await relay.close_all(1012, "retry_ms=1")
        assert (await race.move(DRAW)).seq == 1
        assert heard.of(Link, Store)[:2] == [Link(is_up=False), Store(is_up=False)]
        assert (len(refused), race.is_alive) == (2, True)


async def test_a_first_hello_that_the_store_does_not_allow_now_is_said_again(
    server_url: str,
) -> None:
    relay = Relay(server_url)
    away = {"code": "store_unavailable", "sentence": "not now", "retry_ms": 1}
    relay.said = lambda f: [{"type": "refused", "id": f["id"], **away}]
    async with relay as url:
        opening = asyncio.create_task(Client(url, name="ada").__aenter__())
        await eventually(lambda: len(relay.accepted_at) >= 2)
        relay.said = unchanged
        client = await opening
        assert client.name.startswith("ada")
        await client.close()
        relay.said = lambda f: [{"type": "refused", "id": f["id"], **away}]
        with pytest.raises(Refused, match="not now"):
            await Client(url, name="ada", patience_s=SHORT_S).__aenter__()


async def test_what_happened_meanwhile_is_told_after_the_comeback(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada") as a, Client(server_url, name="ivo") as b:
        race = await a.create_race("lanes", countdown_s=0)
        heard = Heard(race)
        rival = await b.join(race.code)
        await race.ready()
        relay.said = lambda _fields: []
        await rival.ready()
        await rival.until_go()
        relay.said = unchanged
        await relay.close_all(1012, "retry_ms=1")
        await eventually(lambda: len(heard.of(say.Go)) == 1)
        relay.said = lambda _fields: []
        await rival.bank()
        async with Client(server_url, token=a.token) as elsewhere:
            await (await elsewhere.resume(race.id)).bank()
            await rival.until_closed()
        relay.said = unchanged
        await relay.close_all(1012, "retry_ms=1")
        await eventually(lambda: len(heard.of(say.Closed)) == 1)
        assert race.view.phase is Phase.CLOSED
        await heard.stop()


async def test_a_server_that_is_gone_for_good_is_given_up(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as server:
        async with Client(server.url, name="ada", give_up_s=0.3) as client:
            race = await client.create_race("lanes")
            server.stop(signal.SIGKILL)
            with pytest.raises(ConnectionLost, match="given up after"):
                await race.until_closed()
    with ServerProcess(tmp_path / "data"):
        pass  # It takes over the store that the killed one left, and ends it.


# A server that is slow


async def test_a_move_that_is_not_answered_in_time_is_said_so_and_kept(server_url: str) -> None:
    relay = Relay(server_url)
    async with (
        relay as url,
        running(url, server_url, patience_s=SHORT_S) as (_, race, _),
    ):
        relay.asked = lambda f: [] if f["type"] == "move" else [f]
        with pytest.raises(Unanswered, match="the move is kept here"):
            await race.move(DRAW)
        assert len(race.model.outbox) == 1
        relay.asked = unchanged
        await race.until(lambda: race.acked == 1)
        assert race.model.outbox == []


async def test_a_connection_that_has_gone_silent_is_made_anew(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada", patience_s=SHORT_S) as client:
        relay.asked = lambda f: [] if f["type"] != "hello" else [f]
        with pytest.raises(Unanswered):
            await client.boards.page("lanes")
        await eventually(lambda: len(relay.accepted_at) == 2)


async def test_no_request_waits_for_ever(server_url: str) -> None:
    relay = Relay(server_url)
    async with relay as url, Client(url, name="ada", patience_s=SHORT_S) as client:
        race = await client.create_race("lanes")
        relay.said = lambda _fields: []
        for request in (client.boards.page("lanes"), race.ready(), client.create_race("lanes")):
            with pytest.raises(Unanswered, match=r"no answer|ask again"):
                await request


# Several nodes


async def test_when_a_node_is_lost_the_client_goes_on_at_the_next_one(tmp_path: Path) -> None:
    store = f"unix://{tmp_path / 'two' / 'store.sock'}"
    with (
        ServerProcess(tmp_path / "two") as two,
        ServerProcess(tmp_path / "one", "--redis", store) as one,
    ):
        nodes = f"ws://127.0.0.1:1, {one.url},{two.url}"
        async with running(nodes, two.url) as (_, race, heard):
            await race.move(DRAW)
            one.stop(signal.SIGKILL)
            assert (await race.move(DRAW)).seq == 2
            await eventually(lambda: Link(is_up=True) in heard.events)


# The store


@pytest.fixture
def node(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "data") as server:
        yield server


@pytest.fixture
async def store(node: ServerProcess, tmp_path: Path) -> AsyncIterator[Redis]:
    """The store of `node`; keys and values as bytes."""
    async with Redis(unix_socket_path=str(tmp_path / "data" / "store.sock")) as client:
        yield client


async def test_a_move_is_kept_while_the_store_takes_no_writes(
    node: ServerProcess, store: Redis
) -> None:
    async with running(node.url, node.url) as (_, race, heard):
        await race.move(DRAW)
        await store.config_set("min-replicas-to-write", 1)
        moves = [asyncio.create_task(race.move(DRAW)) for _ in range(2)]
        tries = heard.of(Store)
        await eventually(lambda: heard.of(Store) != [])
        assert len(race.model.outbox) == 2
        # Let it be refused some times more: the seat's resume is a write as well.
        await eventually(lambda: refused_writes(store, 4))
        await store.config_set("min-replicas-to-write", 0)
        assert [(await move).seq for move in moves] == [2, 3]
        await eventually(lambda: Store(is_up=True) in heard.events)
        assert tries == []
        assert heard.of(Store, Link) == [Store(is_up=False), Store(is_up=True)]


async def refused_writes(store: Redis, least: int) -> bool:
    """Whether the store has refused so many writes by now."""
    stats = await store.info("errorstats")
    return any(
        "NOREPLICAS" in name and int(value["count"]) >= least for name, value in stats.items()
    )


class OldCopy:
    """What a store held at one time; going back to it is what a failover with a lag does."""

    def __init__(self, store: Redis, keys: list[tuple[bytes | str, bytes]]) -> None:
        self._store = store
        self._keys = keys

    @classmethod
    async def of(cls, store: Redis) -> "OldCopy":
        return cls(store, [(key, await store.dump(key) or b"") for key in await store.keys("*")])

    async def restore(self) -> None:
        transaction = self._store.pipeline(transaction=True)
        transaction.flushdb()
        for key, value in self._keys:
            transaction.restore(key, 0, value)
        await transaction.execute()


@pytest.mark.parametrize("is_node_killed", [True, False], ids=["new node", "same node"])
@pytest.mark.parametrize("kept", [0, 3])
async def test_acked_moves_a_failover_lost_are_logged_again(
    node: ServerProcess, store: Redis, tmp_path: Path, kept: int, is_node_killed: bool
) -> None:
    with ExitStack() as servers:
        async with running(node.url, node.url) as (client, race, heard):
            for _ in range(kept):
                await race.move(DRAW)
            copy = await OldCopy.of(store)
            while race.acked < 5:
                await race.move(DRAW)
            hash_ = race.table.hash
            if is_node_killed:
                node.stop(signal.SIGKILL)
            await copy.restore()
            if is_node_killed:
                _, port = port_of(node.url)
                servers.enter_context(ServerProcess(tmp_path / "data", port=port))
            assert (await race.move(DRAW)).seq == 6
            assert heard.of(Rewound, Dropped) == [Rewound(actions=5 - kept)]
            await race.undo()
            assert race.table.hash == hash_
            async with Client(node.url, token=client.token) as fresh:
                again = await fresh.resume(race.id)
                assert (again.acked, again.table.hash) == (7, hash_)


async def test_a_bank_that_a_failover_lost_is_made_again_after_the_moves(
    node: ServerProcess, store: Redis
) -> None:
    relay = Relay(node.url)
    async with relay as url, running(url, node.url) as (_, race, heard):
        copy = await OldCopy.of(store)
        await race.move(DRAW)
        await race.bank()
        await copy.restore()
        await relay.close_all(1012, "retry_ms=1")
        await eventually(lambda: heard.of(Rewound) != [])
        await race.until(lambda: race.view.players[0].status is Status.BANKED)
        assert (race.acked, race.view.players[0].moves) == (1, 1)


async def test_what_a_failover_lost_is_dropped_and_told_if_the_run_went_on_without_it(
    node: ServerProcess, store: Redis
) -> None:
    relay = Relay(node.url)
    async with relay as url, running(url, node.url, patience_s=SHORT_S) as (client, race, heard):
        await race.move(DRAW)
        copy = await OldCopy.of(store)
        await race.move(DRAW)
        await race.move(DRAW)
        relay.asked = lambda _fields: []
        await relay.close_all(1012, "retry_ms=1")
        await copy.restore()
        async with Client(node.url, token=client.token) as elsewhere:
            other = await elsewhere.resume(race.id)
            assert other.acked == 1
            await other.undo()
        relay.asked = unchanged
        await eventually(lambda: heard.of(Dropped) != [])
        sentence = "the run went on elsewhere, with other moves"
        assert heard.of(Rewound, Dropped) == [Dropped(("draw", "draw"), sentence)]
        assert (race.acked, race.model.outbox) == (2, [])
        assert (await race.move(DRAW)).seq == 3
