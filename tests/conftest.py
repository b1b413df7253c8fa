"""Real processes for the tests: a store for each program found here, and a server."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

import noon
from dailies import NOON, Service, service
from expiry import everything_expires
from racestore import Store
from rig import OwnStore
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.embedded import find_binary
from samedeal_server.store.races import RaceStore
from support import ServerProcess, eventually, second_node


def pytest_configure() -> None:
    """Have Ctrl-C mean itself in a background job too, and examples take the time they need."""
    settings.register_profile(
        "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("patient")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def new_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and accounts of a player who is new to the terminal client."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def _store_programs() -> list[str]:
    """The program the product would take, and a redis-server where there is one."""
    return list(dict.fromkeys([find_binary(), *filter(None, [shutil.which("redis-server")])]))


def _started(command: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session", params=_store_programs(), ids=lambda path: Path(path).name)
async def valkey_url(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """A store of the tests' own, without persistence; once for each program."""
    with tempfile.TemporaryDirectory(prefix="samedeal-") as folder:
        socket = f"{folder}/store.sock"
        settings = {"port": "0", "unixsocket": socket, "dir": folder, "save": ""}
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        child = _started([request.param, *words])
        try:
            url = f"unix://{socket}"
            client = StoreAddress.parse(url).client()

            async def answers() -> bool:
                try:
                    return bool(await client.ping())
                except (RedisError, OSError):
                    return False

            await eventually(answers)
            await client.aclose()
            yield url
        finally:
            child.terminate()
            child.wait(10)


@pytest.fixture
async def redis(valkey_url: str) -> AsyncIterator[Redis]:
    """A redis-py client on an empty store."""
    client = StoreAddress.parse(valkey_url).client()
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server with a store of its own, shared by the tests that need one."""
    with ServerProcess(tmp_path_factory.mktemp("server")) as server:
        yield server.url


@pytest.fixture(scope="module")
def at_noon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for which it is noon: no test of a day's play runs over midnight."""
    program = (str(Path(noon.__file__)),)
    with ServerProcess(tmp_path_factory.mktemp("noon"), program=program) as server:
        yield server.url


@pytest.fixture(scope="module")
def service_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first of two nodes has its store."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def one(service_folder: Path) -> Iterator[str]:
    """The first node of a service, with a store of its own."""
    with ServerProcess(service_folder / "data") as server:
        yield server.url


@pytest.fixture(scope="module")
def two(one: str, service_folder: Path) -> Iterator[str]:
    """The second node of the service."""
    with second_node(service_folder) as server:
        yield server.url


@pytest.fixture
async def own_store(tmp_path: Path) -> AsyncIterator[OwnStore]:
    """A store for one test alone, which may stop and start it."""
    own = OwnStore(tmp_path / "store")
    await own.start()
    yield own
    await own.stop()


@pytest.fixture
async def one_node(valkey_url: str, redis: Redis) -> AsyncIterator[Service]:
    """A node of the daily challenge, at noon by a calendar that the test holds."""
    async with service(valkey_url, redis, NOON) as alone:
        yield alone


@pytest.fixture
def store(redis: Redis) -> Store:
    """The races of an empty store."""
    return Store(redis, RaceStore(redis, "n1"))


@pytest.fixture
async def every_key_expires(redis: Redis) -> AsyncIterator[None]:
    """Whatever a test leaves in the store goes away by itself, but for what is kept for good."""
    yield
    await everything_expires(redis)
