"""Real processes for the tests: a store for each program found here, and a server."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from samedeal_server.store.address import StoreAddress
from samedeal_server.store.embedded import find_binary
from support import eventually


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
    folder = tmp_path_factory.mktemp("server")
    out, err = folder / "stdout", folder / "stderr"
    command = [sys.executable, "-m", "samedeal_server", "serve", "--port", "0"]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        server = subprocess.Popen(
            [*command, "--data", str(folder / "data")], stdout=stdout, stderr=stderr
        )
    try:
        yield _announced(server, out, err)
    finally:
        server.terminate()
        server.wait(15)


def _announced(server: "subprocess.Popen[bytes]", out: Path, err: Path) -> str:
    """Return the address that the server prints once it serves. Fail with its stderr."""
    deadline = time.monotonic() + 20
    lead = "samedeal serving on "
    while True:
        for line in out.read_text().splitlines(keepends=True):
            if line.startswith(lead) and line.endswith("\n"):
                return line.removeprefix(lead).strip()
        if server.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"the server does not serve:\n{err.read_text()}")
        time.sleep(0.02)
