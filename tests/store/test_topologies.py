"""Stores with a password, with TLS, with replicas; a cluster, whole and on the move."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
import trustme
from redis.asyncio import Redis

from boardworld import operated
from samedeal.engine.moves import DRAW
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.match_messages import MatchState
from samedeal_client.connection import Client
from samedeal_client.race import Race
from samedeal_server.boards import Boards
from samedeal_server.errors import StoreUnavailable
from samedeal_server.ratings import Ratings
from samedeal_server.results import Result, updates
from samedeal_server.rows import ORDERS, Board
from samedeal_server.store import keys
from samedeal_server.store.accounts import FOREVER, AccountStore, Ban, new_id
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.boards import BoardStore, Label
from samedeal_server.store.days import DayStore
from samedeal_server.store.discovery import pack, slot_of
from samedeal_server.store.leases import Leases
from samedeal_server.store.link import CommitLink
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import RatingStore
from support import PATIENCE_S, Proxy, ServerProcess, eventually
from topologies import Cluster, StoreProcess, ask, commit, open_race, opened, races_at


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[StoreProcess]:
    """A store that knows the user ann, and asks everybody for a password."""
    acl = ["--user", "ann", "on", ">open sesame", "~*", "&*", "+@all"]
    options = ["--requirepass", "hush", *acl]
    with StoreProcess(tmp_path / "store", *options, password="hush") as process:
        await eventually(process.answers)
        yield process
        await process.client.aclose()


@pytest.mark.parametrize("login", [":hush", "ann:open%20sesame"])
async def test_link_and_client_sign_in_and_use_the_database(
    store: StoreProcess, login: str
) -> None:
    address = StoreAddress.parse(f"redis://{login}@127.0.0.1:{store.port}/3")
    client = address.client()
    await open_race(client, "x")
    async with opened(address) as link:
        assert (await ask(link, commit("x", 1)))[0] == b"done"
    await client.aclose()
    assert "keys=3" in await store.ask("INFO", "keyspace")
    assert "db3:" in await store.ask("INFO", "keyspace")


async def test_a_wrong_password_is_a_sentence(store: StoreProcess) -> None:
    address = StoreAddress.parse(f"redis://:wrong@127.0.0.1:{store.port}")
    with pytest.raises(StoreUnavailable, match="WRONGPASS"):
        async with opened(address, give_up_s=1.5):
            raise AssertionError("it was let in")
    async with races_at(address) as races:
        with pytest.raises(StoreUnavailable, match="invalid"):
            await races.find("ABCDE")


@asynccontextmanager
async def tls_in_front_of(port: int, authority: trustme.CA) -> AsyncIterator[int]:
    """What stands before a store that speaks no TLS itself; the port it listens on."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    proxy = Proxy(("127.0.0.1", port), tls=context)
    async with proxy as outside:
        yield outside


async def test_link_and_client_speak_tls_and_check_the_certificate(
    store: StoreProcess, tmp_path: Path
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    async with tls_in_front_of(store.port, authority) as port:
        url = f"rediss://:hush@localhost:{port}"
        known = StoreAddress.parse(f"{url}?ssl_ca_certs={tmp_path / 'ca.pem'}")
        client = known.client()
        assert await client.ping()
        await client.aclose()
        async with opened(known) as link:
            assert await ask(link, pack("PING")) == b"PONG"
        with pytest.raises(StoreUnavailable, match="certificate"):
            async with opened(StoreAddress.parse(url), give_up_s=2):
                raise AssertionError("nobody vouches for that certificate")


def test_replicas_of_a_private_store_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="the private store has no replicas"),
        ServerProcess(tmp_path / "data", "--min-replicas", "1"),
    ):
        pass


async def follow(store: StoreProcess, replica: StoreProcess) -> None:
    await replica.ask("CONFIG", "SET", "primaryauth", "hush")
    await replica.ask("REPLICAOF", "127.0.0.1", store.port)

    async def is_online() -> bool:
        return "state=online" in await store.ask("INFO", "replication")

    await eventually(is_online)


async def test_with_min_replicas_a_reply_waits_until_a_replica_has_the_write(
    store: StoreProcess, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "samedeal_server.store.lane")
    address = StoreAddress.parse(f"redis://:hush@127.0.0.1:{store.port}")
    with StoreProcess(tmp_path / "replica") as replica:
        await eventually(replica.answers)
        await follow(store, replica)
        await open_race(store.client, "x")
        async with opened(address, lanes=1, min_replicas=1) as link:
            # On a slow machine the replica may be late, and the commit is then repeated.
            assert (await ask(link, commit("x", 1)))[0] in (b"done", b"again")
            os.kill(replica.process.pid, signal.SIGSTOP)
            answer = asyncio.create_task(ask(link, commit("x", 2)))
            # Asked again on a new connection, the store must not take the old write for granted.
            short = "0 replicas have the last moves"
            await eventually(lambda: caplog.text.count(short) == 2)
            assert not answer.done()
            os.kill(replica.process.pid, signal.SIGCONT)
            assert (await answer)[0] == b"again"
        assert await replica.client.xlen(keys.log("x", 1)) == 2
        await replica.client.aclose()


@pytest.mark.parametrize("stale", ["yes", "no"], ids=["READONLY", "MASTERDOWN"])
async def test_clients_leave_a_store_that_became_a_replica(
    store: StoreProcess, tmp_path: Path, stale: str
) -> None:
    await store.ask("CONFIG", "SET", "replica-serve-stale-data", stale)
    with StoreProcess(tmp_path / "other", "--requirepass", "hush", password="hush") as other:
        await eventually(other.answers)
        proxy = Proxy(("127.0.0.1", store.port))
        async with proxy as port:
            address = StoreAddress.parse(f"redis://:hush@127.0.0.1:{port}")
            async with races_at(address) as races:
                assert await races.claim_code("AAAAA", "a")
                await store.ask("REPLICAOF", "127.0.0.1", 1)
                # As a name or an address does that a failover gives to another store.
                proxy.target = ("127.0.0.1", other.port)
                assert await races.claim_code("BBBBB", "b")
        assert await other.client.get(keys.code("BBBBB")) == "b"
        await other.client.aclose()


async def test_a_store_that_stays_a_replica_is_given_up_after_a_few_attempts(
    store: StoreProcess,
) -> None:
    address = StoreAddress.parse(f"redis://:hush@127.0.0.1:{store.port}")
    await store.ask("REPLICAOF", "127.0.0.1", 1)
    async with races_at(address) as races:
        with pytest.raises(StoreUnavailable, match="read only"):
            await races.claim_code("AAAAA", "a")


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    async with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Redis]:
    client = StoreAddress.parse(cluster.url).client()
    yield client
    await client.aclose()


@pytest.fixture
async def link(cluster: Cluster) -> AsyncIterator[CommitLink]:
    async with opened(StoreAddress.parse(cluster.url)) as link:
        yield link


@pytest.fixture(scope="module")
def servers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    folder = tmp_path_factory.mktemp("unused")
    with (
        ServerProcess(folder, "--redis", cluster.url) as one,
        ServerProcess(folder, "--redis", cluster.url) as two,
    ):
        yield [one.url, two.url]


async def test_races_are_played_over_a_cluster_on_two_nodes(servers: list[str]) -> None:
    game = "double-klondike"  # nobody else of this file is on its board
    async with Client(servers[0], name="ada") as a, Client(servers[1], name="ivo") as b:
        for _ in range(3):
            first = await a.create_race(game, countdown_s=0)
            second = await b.join(first.code)
            await second.ready()
            await first.ready()
            async with asyncio.timeout(PATIENCE_S):
                await first.until_go()
                await second.until_go()
                for player, rival in ((first, second), (second, first)):
                    await player.move(DRAW)
                    # Their rooms are on two nodes: the doorbell has to cross the cluster.
                    await rival.until(
                        lambda rival=rival, player=player: (  # type: ignore[misc]
                            {row.seat: row.moves for row in rival.view.players}[player.model.seat]
                            == 1
                        )
                    )
                await first.bank()
                await second.bank()
                await first.until_closed()
            assert (await first.replay()).count('"draw"') == 2
        assert {row.name for row in (await a.boards.page(game)).rows} == {a.name, b.name}


async def test_a_race_is_watched_over_a_cluster_from_another_node(servers: list[str]) -> None:
    names = [f"{name}-{new_id()[:8]}" for name in ("ada", "ivo", "eva")]
    async with (
        Client(servers[0], name=names[0]) as a,
        Client(servers[0], name=names[1]) as b,
        Client(servers[1], name=names[2]) as c,
        asyncio.timeout(PATIENCE_S),
    ):
        first = await a.create_race("lanes", countdown_s=0)
        second = await b.join(first.code)
        for race in (second, first):
            await race.ready()
        await first.until_go()
        async with aclosing(c.watch(first.code)) as sights:
            while (sight := await anext(sights)).race.crowd == 0:
                pass
            await first.move(DRAW)
            while (sight := await anext(sights)).boards[1].seq == 0:
                pass
            table = sight.table(1)
            assert table is not None
            assert table.hash == first.table.hash

            async def is_listed() -> bool:
                return first.id in [race.race for race in await c.live()]

            await eventually(is_listed)
        for race in (first, second):
            await race.bank()


async def test_an_outage_makes_every_race_due_in_a_cluster_too(client: Redis) -> None:
    races, leases = RaceStore(client, "n"), Leases(client, "n")
    await leases.beat()
    await client.hincrby(keys.leases()[1], "beat", -20_000)
    await leases.beat()
    assert leases.outages.all[-1].to_ms - leases.outages.all[-1].from_ms >= 20_000
    ids = [new_id() for _ in range(5)]

    async def are_due() -> bool:
        # Servers that are on this cluster sweep what is due: then it is scheduled once more.
        await races.schedule(dict.fromkeys(ids, 2**52))
        assert not {*ids} & {*await races.overdue(1000)}
        await races.all_due()
        return {*ids} <= {*await races.overdue(1000)}

    await eventually(are_due)
    for race_id in ids:
        await races.unschedule(race_id)


async def test_the_daily_is_played_over_a_cluster_on_two_nodes(servers: list[str]) -> None:
    names = (f"ada-{new_id()[:8]}", f"ivo-{new_id()[:8]}")
    async with Client(servers[0], name=names[0]) as a, Client(servers[1], name=names[1]) as b:
        dailies = [await client.daily("sally") for client in (a, b)]
        assert dailies[0].games[0].commitment == dailies[1].games[0].commitment
        assert dailies[0].coming == dailies[1].coming
        for client in (a, b):
            race = await client.play_daily("sally")
            for _ in range(10):
                await race.move(DRAW)
            await race.bank()
            async with asyncio.timeout(PATIENCE_S):
                await race.until_closed()

        async def is_booked() -> bool:
            (sally,) = (await a.daily("sally", day=dailies[0].day)).games
            place = 0 if sally.own is None else sally.own.place
            return (sally.played, place, sally.streak.days) == (2, 1, 1)

        await eventually(is_booked)


async def test_a_match_is_made_rated_and_voided_over_a_cluster_on_two_nodes(
    servers: list[str], client: Redis
) -> None:
    names = (f"ada-{new_id()[:8]}", f"ivo-{new_id()[:8]}")
    async with (
        Client(servers[0], name=names[0]) as a,
        Client(servers[1], name=names[1]) as b,
        asyncio.timeout(PATIENCE_S),
    ):

        async def matched(client: Client) -> Race:
            match = client.match("single-left")
            async with aclosing(match.events()) as events:
                async for event in events:
                    if event.state is MatchState.FOUND:
                        await match.accept()
            return await match.race()

        first, second = await asyncio.gather(matched(a), matched(b))
        assert first.id == second.id
        for race in (first, second):
            await race.until_go()
        await first.move(DRAW)
        await first.bank()
        await second.bank()
        await first.until_closed()
        ratings = Ratings(RatingStore(client), RaceStore(client, "n"), BoardStore(client))

        async def shown() -> list[str]:
            return [str(await ratings.of("single-left", one.player)) for one in (a, b)]

        await eventually(lambda: {row.rating for row in first.view.order} == {1605, 1395})
        for out, numbers in ((True, ["1500?", "1500?"]), (False, ["1605?", "1395?"])):
            assert await ratings.leave_out(first.id, out=out)
            assert await shown() == numbers


async def test_the_lobby_is_one_over_a_cluster(servers: list[str]) -> None:
    names = (f"ada-{new_id()[:8]}", f"ivo-{new_id()[:8]}")
    async with (
        Client(servers[0], name=names[0]) as a,
        Client(servers[1], name=names[1]) as b,
        aclosing(b.lobby("klondike")) as rooms,
        asyncio.timeout(PATIENCE_S),
    ):
        assert await anext(rooms) == ()
        race = await a.create_race("klondike", listed=True)
        assert [room.code for room in await anext(rooms)] == [race.code]
        await race.leave()
        assert await anext(rooms) == ()


async def test_accounts_and_codes_and_the_sweep_need_no_common_slot(client: Redis) -> None:
    races, accounts = RaceStore(client, "n"), AccountStore(client)
    account, token = await accounts.create(f"ada-{new_id()[:8]}", bot=False)
    assert await accounts.recognise(token) == account
    assert await accounts.rename(account.player, f"eva-{new_id()[:8]}")
    assert await accounts.add_device(account.player, "1" * 64, 2) == "done"
    assert await accounts.ban(account.player, Ban(FOREVER, "a test"))
    assert await accounts.banned([account.player, new_id()]) == {account.player}
    assert await accounts.rotate(account.player, "2" * 64)
    assert await accounts.recognise(token) is None
    await accounts.remove(account.player)
    for number in range(20):
        assert await races.claim_code(f"CODE{number}", f"race{number}")

    async def are_due() -> bool:
        # Servers that are on this cluster sweep what is due: then it is scheduled once more.
        await races.schedule({f"race{number}": 1 for number in range(20)})
        return {f"race{number}" for number in range(20)} <= {*await races.overdue(1000)}

    await eventually(are_due)
    assert await races.load("race1") is None


async def test_commits_go_to_the_primary_of_their_race(
    cluster: Cluster, client: Redis, link: CommitLink
) -> None:
    races = [f"spread{number}" for number in range(30)]
    for race in races:
        await open_race(client, race)
    replies = await asyncio.gather(*(ask(link, commit(race, 1), race) for race in races))
    assert [reply[0] for reply in replies] == [b"done"] * 30
    for race in races:
        owner = await cluster.owner(slot_of(keys.race(race)))
        assert await owner.client.xlen(keys.log(race, 1)) == 1


async def test_a_race_moves_to_another_primary_while_it_is_played(
    cluster: Cluster, client: Redis, link: CommitLink
) -> None:
    await open_race(client, "x")
    slot = slot_of(keys.race("x"))
    source = await cluster.owner(slot)
    target = next(node for node in cluster.nodes if node is not source)
    ids = {node: await node.ask("CLUSTER", "MYID") for node in (source, target)}

    async def migrate(*names: str) -> None:
        words: tuple[str | int, ...] = (
            "MIGRATE",
            "127.0.0.1",
            target.port,
            "",
            0,
            5000,
            "KEYS",
            *names,
        )
        assert await source.ask(*words) == "OK"

    assert (await ask(link, commit("x", 1), "x"))[0] == b"done"
    await target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
    await source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
    assert (await ask(link, commit("x", 2), "x"))[0] == b"done"
    await migrate(keys.race("x"))
    # Half here, half there: TRYAGAIN, until the rest has come after.
    torn = asyncio.create_task(ask(link, commit("x", 3), "x"))

    async def was_put_off() -> bool:
        return "errorstat_TRYAGAIN" in await source.ask("INFO", "errorstats")

    await eventually(was_put_off)
    assert not torn.done()
    await migrate(keys.seat("x", 1), keys.log("x", 1))
    assert (await torn)[0] == b"done"
    # ASK, as long as the slot has not changed its owner; then MOVED, and from then on at once.
    assert (await ask(link, commit("x", 4), "x"))[0] == b"done"
    for node in (target, source):
        await node.ask("CLUSTER", "SETSLOT", slot, "NODE", ids[target])
    assert (await ask(link, commit("x", 5), "x"))[0] == b"done"
    assert await target.client.xlen(keys.log("x", 1)) == 5
    log = await RaceStore(client, "n").log("x", 1)
    assert [action for action, _ in log] == ["draw"] * 5


@pytest.mark.soak
async def test_a_replica_takes_over_from_a_primary_that_was_killed(
    cluster: Cluster, client: Redis, link: CommitLink
) -> None:
    await open_race(client, "y")
    slot = slot_of(keys.race("y"))
    doomed = await cluster.owner(slot)
    heir = await cluster.follower(doomed)
    async with opened(StoreAddress.parse(cluster.url), min_replicas=1) as careful:
        assert (await ask(careful, commit("y", 1), "y"))[0] == b"done"
    doomed.kill()
    replies = [await ask(link, commit("y", seq), "y") for seq in range(1, 4)]
    assert [reply[0] for reply in replies] == [b"again", b"done", b"done"]
    assert await heir.client.xlen(keys.log("y", 1)) == 3


async def test_boards_and_friends_need_no_common_slot(client: Redis) -> None:
    store = BoardStore(client)
    boards = Boards(store, RaceStore(client, "n"), DayStore(client))
    ada, ivo = new_id(), new_id()
    for number, player in enumerate((ada, ivo), start=1):
        for game in ("klondike-3", "gargantua"):
            order = ORDERS[BoardKind.FASTEST].encode(number, 1)
            result = Result(f"{new_id()}.1", player, 1, 1, is_first=True, order=order)
            todo = updates(game, result, bots=False)
            assert await store.book(game, result, todo, Label("x", bot=False))
        assert await store.friends.add(ivo, player)
    fastest = Board("gargantua", BoardKind.FASTEST)
    await boards.hide(ada)
    assert [one.row.player for one in (await store.top(fastest, 9)).rows] == [ivo]
    await boards.show(ada)
    assert await boards.rebuild("gargantua") == 2
    await boards.tend()
    page = await store.around(fastest, 9, me=ivo)
    assert [one.row.player for one in page.rows] == [ada, ivo]
    assert len(await store.sample(fastest, 1, 9, random.Random(1))) == 2
    assert await store.friends.of(ivo) == []


async def test_operators_work_on_a_cluster(cluster: Cluster) -> None:
    await operated(cluster.url)


async def test_a_cluster_named_as_one_store_is_a_sentence(cluster: Cluster) -> None:
    elsewhere = next(name for name in "abc" if slot_of(keys.race(name)) > 16384 // 3)
    address = StoreAddress.parse(f"redis://127.0.0.1:{cluster.nodes[0].port}")
    async with opened(address) as link:
        reply = await ask(link, commit(elsewhere, 1))
    assert isinstance(reply, StoreUnavailable)
    assert "name it by redis+cluster://" in str(reply)


async def test_one_store_named_as_a_cluster_is_a_sentence(store: StoreProcess) -> None:
    address = StoreAddress.parse(f"redis+cluster://:hush@127.0.0.1:{store.port}")
    with pytest.raises(StoreUnavailable, match="cluster support disabled"):
        async with opened(address, give_up_s=1.5):
            raise AssertionError("there is no cluster")
    async with races_at(address) as races:
        with pytest.raises(StoreUnavailable, match="Cluster mode is not enabled"):
            await races.find("ABCDE")


@pytest.mark.parametrize(
    "url", ["rediss+sentinel://127.0.0.1:1/races", "rediss+cluster://h.invalid"]
)
async def test_nobody_there_is_a_sentence_in_every_shape(url: str) -> None:
    address = StoreAddress.parse(url)
    async with races_at(address) as races:
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await races.find("ABCDE")
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        async with opened(address, give_up_s=1.5):
            raise AssertionError("somebody is there")
