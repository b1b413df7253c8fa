"""Real stores in every shape: alone with settings, a cluster, a primary watched by sentinels."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from ports import own_port
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.discovery import SLOTS, pack, slot_of
from samedeal_server.store.embedded import find_binary
from samedeal_server.store.link import CommitLink
from samedeal_server.store.races import RaceStore
from samedeal_server.store.scripts import Script
from support import eventually

__all__ = ["Cluster", "StoreProcess", "Watched", "ask", "commit", "open_race", "opened", "races_at"]

SERVICE = "races"
COMMIT = Script("commit")


class StoreProcess:
    """A store on a TCP port, with an append-only file in `folder`; `kill` and start it again."""

    def __init__(self, folder: Path, *options: str, port: int = 0, password: str = "") -> None:
        self.port = port or own_port()
        folder.mkdir(exist_ok=True)
        self._folder = folder
        settings = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "no",
            "repl-diskless-sync-delay": "0",
        }
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        self._command = [find_binary(), *words, *options]
        self.client = Redis(
            port=self.port,
            password=password,
            protocol=2,
            decode_responses=True,
            retry=Retry(NoBackoff(), 0),
        )

    def __enter__(self) -> Self:
        with (self._folder / "store.log").open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.process.kill()
        self.process.wait()

    async def ask(self, *words: str | int) -> Any:
        """Send a command as it is, and return the reply as it is."""
        pool = self.client.connection_pool
        connection = await pool.get_connection()  # type: ignore[no-untyped-call] # as it says
        try:
            await connection.send_command(*words)
            return await connection.read_response()
        finally:
            await pool.release(connection)

    async def answers(self) -> bool:
        try:
            return bool(await self.client.ping())
        except (RedisError, OSError):
            return False


class Cluster:
    """Three primaries that share the slots out; `async with Cluster(folder) as cluster`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.nodes: list[StoreProcess] = []

    @property
    def url(self) -> str:
        """One node that is there and, first of all, one that is not."""
        return f"redis+cluster://127.0.0.1:1,127.0.0.1:{self.nodes[0].port}"

    async def __aenter__(self) -> Self:
        with ExitStack() as unless_up:
            unless_up.callback(self._stack.close)
            await self._up()
            unless_up.pop_all()
        return self

    async def _up(self) -> None:
        for number in range(3):
            self.nodes.append(await self.start(f"node{number}"))
        share = -(-SLOTS // 3)
        for number, node in enumerate(self.nodes):
            first, last = number * share, min((number + 1) * share, SLOTS) - 1
            await node.ask("CLUSTER", "ADDSLOTSRANGE", first, last)
            await node.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for node in self.nodes[1:]:
            await self.introduce(node)
        await self.until_whole()

    async def __aexit__(self, *_: object) -> None:
        for node in self.nodes:
            await node.client.aclose()
        self._stack.close()

    async def start(self, name: str) -> StoreProcess:
        """One more node, that knows nobody yet."""
        port, bus = own_port(), own_port()
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"]
        options += ["--cluster-port", str(bus), "--cluster-replica-validity-factor", "0"]
        node = self._stack.enter_context(StoreProcess(self._folder / name, *options, port=port))
        await eventually(node.answers)
        return node

    async def introduce(self, node: StoreProcess) -> None:
        """Have the first node meet another one."""
        _, bus = await node.ask("CONFIG", "GET", "cluster-port")
        await self.nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", node.port, bus)

    async def until_whole(self) -> None:
        """Wait until every node knows all of them, and that each slot is served."""

        async def is_whole() -> bool:
            infos = [await node.ask("CLUSTER", "INFO") for node in self.nodes]
            known = f"cluster_known_nodes:{len(infos)}"
            return all("cluster_state:ok" in info and known in info for info in infos)

        await eventually(is_whole)

    async def follower(self, primary: StoreProcess) -> StoreProcess:
        """Give a primary a replica."""
        self.nodes.append(await self.start(f"node{len(self.nodes)}"))
        node = self.nodes[-1]
        await self.introduce(node)
        await self.until_whole()
        await node.ask("CLUSTER", "REPLICATE", await primary.ask("CLUSTER", "MYID"))

        async def follows() -> bool:
            return "state=online" in await primary.ask("INFO", "replication")

        await eventually(follows)
        return node

    async def owner(self, slot: int) -> StoreProcess:
        """Who serves a slot."""
        for first, last, (_, port, *_), *_ in await self.nodes[0].ask("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == port)
        raise AssertionError(f"nobody serves slot {slot}")


class Watched:
    """A primary with two replicas, and three sentinels; nobody is declared down by itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.stores: list[StoreProcess] = []
        self.sentinels: list[StoreProcess] = []

    @property
    def url(self) -> str:
        """The sentinels, and before them one that is not there."""
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://127.0.0.1:1,{hosts}/{SERVICE}"

    async def __aenter__(self) -> Self:
        with ExitStack() as unless_up:
            unless_up.callback(self._stack.close)
            await self._up()
            unless_up.pop_all()
        return self

    async def _up(self) -> None:
        start = self._stack.enter_context
        first = start(StoreProcess(self._folder / "store0"))
        await eventually(first.answers)
        self.stores.append(first)
        for number in (1, 2):
            follow = ["--replicaof", f"127.0.0.1 {first.port}"]
            self.stores.append(start(StoreProcess(self._folder / f"store{number}", *follow)))

        async def is_followed() -> bool:
            return bool((await first.ask("INFO", "replication")).count("state=online") == 2)

        # Sentinels look for replicas at once, and then only every ten seconds.
        await eventually(is_followed)
        for number in range(3):
            folder = self._folder / f"sentinel{number}"
            folder.mkdir()
            config = folder / "sentinel.conf"
            config.write_text(
                f"sentinel monitor {SERVICE} 127.0.0.1 {first.port} 2\n"
                f"sentinel down-after-milliseconds {SERVICE} 600000\n"
                f"sentinel failover-timeout {SERVICE} 1000\n"
            )
            self.sentinels.append(start(_Sentinel(folder, config)))
        for process in (*self.stores, *self.sentinels):
            await eventually(process.answers)
        await self.until_known(replicas=2)

    async def __aexit__(self, *_: object) -> None:
        for process in (*self.stores, *self.sentinels):
            await process.client.aclose()
        self._stack.close()

    async def until_known(self, replicas: int) -> None:
        """Wait until every sentinel knows the others, and replicas in good health."""

        async def are_known() -> bool:
            for sentinel in self.sentinels:
                (state,) = await _list(sentinel, "MASTERS")
                found = await _list(sentinel, "REPLICAS", SERVICE)
                good = [one for one in found if one["master-link-status"] == "ok"]
                if state["num-other-sentinels"] != "2" or len(good) < replicas:
                    return False
            return True

        await eventually(are_known)

    async def primary(self) -> StoreProcess:
        """The store that the sentinels agree on, and that agrees itself."""
        found: list[StoreProcess] = []

        async def is_agreed() -> bool:
            ports = {
                int((await sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE))[1])
                for sentinel in self.sentinels
            }
            found[:] = [store for store in self.stores if {store.port} == ports]
            return bool(found) and "master" in await found[0].ask("ROLE")

        await eventually(is_agreed)
        return found[0]

    async def is_left(self, store: StoreProcess) -> bool:
        """Whether nobody who commits is connected to a store any more."""
        return "cmd=wait" not in await store.ask("CLIENT", "LIST")

    async def declare_down_after(self, milliseconds: int) -> None:
        """Have the sentinels replace a primary that is silent for so long.

        They pass over replicas that lost it more than ten times as long ago.
        """
        for sentinel in self.sentinels:
            words = ("SENTINEL", "SET", SERVICE, "down-after-milliseconds", milliseconds)
            await sentinel.ask(*words)


class _Sentinel(StoreProcess):
    """A sentinel: the same program, with a file that it may write."""

    def __init__(self, folder: Path, config: Path) -> None:
        super().__init__(folder)
        self._command = [find_binary(), str(config), "--sentinel", "--port", str(self.port)]


async def _list(sentinel: StoreProcess, *words: str) -> list[dict[str, str]]:
    """Ask a sentinel for a list of records."""
    raw = await sentinel.ask("SENTINEL", *words)
    return [dict(zip(flat[::2], flat[1::2], strict=True)) for flat in raw]


async def open_race(client: Redis, race: str) -> None:
    """A race that runs, with seat 1 taken."""
    fields = {"phase": "running", "go_at": "0", "deadline": "9e15", "last_call_s": "60"}
    for field, value in fields.items():
        await client.hset(keys.race(race), field, value)
    await client.hset(keys.seat(race, 1), "epoch", "1")


def commit(race: str, seq: int) -> bytes:
    """Action `seq` of seat 1."""
    where = (keys.race(race), keys.seat(race, 1), keys.log(race, 1))
    return pack("EVALSHA", COMMIT.sha, 3, *where, "n", 1, 60_000, seq, "draw", 0, 0, 0, 0, 0)


async def ask(link: CommitLink, command: bytes, race: str = "x") -> Any:
    """Send a command about a race and wait for its reply."""
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    link.submit(command, answer.set_result, slot=slot_of(keys.race(race)))
    return await answer


@asynccontextmanager
async def opened(address: StoreAddress, **settings: Any) -> AsyncIterator[CommitLink]:
    """A link that is open, and closed in the end."""
    link = CommitLink(address, [COMMIT], **settings)
    await link.open()
    try:
        yield link
    finally:
        await link.close()


@asynccontextmanager
async def races_at(address: StoreAddress) -> AsyncIterator[RaceStore]:
    """The races of a store, through redis-py."""
    client = address.client()
    try:
        yield RaceStore(client, "n")
    finally:
        await client.aclose()
