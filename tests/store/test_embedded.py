"""The private store: one at a time on a directory, kept alive, adopted, stopped cleanly."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from samedeal_server.errors import CannotServe
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.embedded import EmbeddedStore
from support import eventually

HOLD = """
import asyncio, sys
from pathlib import Path
from samedeal_server.store.embedded import EmbeddedStore

async def main():
    store = EmbeddedStore(Path(sys.argv[1]))
    async with store:
        print(store.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def killed_server(tmp_path: Path) -> Iterator[int]:
    """A store left behind by a server that got kill -9; its process id."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        server.kill()
    yield pid
    if is_running(pid):
        os.kill(pid, signal.SIGKILL)


async def test_a_store_left_behind_is_adopted_and_stopped_in_the_end(
    killed_server: int, tmp_path: Path
) -> None:
    store = EmbeddedStore(tmp_path / "data")
    async with store:
        assert store.pid == killed_server
    assert not is_running(killed_server)


async def test_a_store_left_behind_that_hangs_gets_no_second_one_beside_it(
    killed_server: int, tmp_path: Path
) -> None:
    os.kill(killed_server, signal.SIGSTOP)
    # Longer than one question of a new server waits for its answer.
    asyncio.get_running_loop().call_later(1.6, os.kill, killed_server, signal.SIGCONT)
    store = EmbeddedStore(tmp_path / "data")
    async with store:
        assert store.pid == killed_server


async def test_a_second_server_on_the_directory_is_refused(tmp_path: Path) -> None:
    first = EmbeddedStore(tmp_path)
    async with first as url:
        with pytest.raises(CannotServe, match="in use by another server"):
            await EmbeddedStore(tmp_path).__aenter__()
        client = StoreAddress.parse(url).client()
        assert await client.ping()
        await client.aclose()


@pytest.mark.parametrize("name", ["store.log", "store.lock"])
async def test_a_file_that_cannot_be_written_is_told_in_one_sentence(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "data" / name).mkdir(parents=True)
    with pytest.raises(CannotServe, match=r"^--data .*data: Is a directory$"):
        await EmbeddedStore(tmp_path / "data").__aenter__()
    (tmp_path / "data" / name).rmdir()
    async with EmbeddedStore(tmp_path / "data"):
        pass


async def test_data_survives_a_kill_of_the_store(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    async with store as url:
        client = StoreAddress.parse(url).client()
        await client.set("kept", "yes")
        killed = store.pid
        os.kill(killed, signal.SIGKILL)
        await eventually(lambda: store.pid != killed)
        assert await client.get("kept") == "yes"
        await client.aclose()


async def test_a_log_that_does_not_reach_the_disk_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with EmbeddedStore(tmp_path):
        (tmp_path / "appendonlydir" / "folder.incr.aof").mkdir()
        await eventually(lambda: "does not reach the disk: Is a directory" in caplog.text)


async def test_data_survives_a_clean_restart(tmp_path: Path) -> None:
    for expected in (None, "yes"):
        async with EmbeddedStore(tmp_path) as url:
            client = StoreAddress.parse(url).client()
            assert await client.get("kept") == expected
            await client.set("kept", "yes")
            await client.aclose()


async def test_a_path_too_long_for_a_socket_is_no_obstacle(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path / ("long" * 30)) as url:
        client = StoreAddress.parse(url).client()
        assert await client.ping()
        await client.aclose()


def short_folder(data: Path) -> Path:
    return Path((data / "socket-dir").read_text())


async def test_the_short_folder_of_a_socket_is_removed_with_the_store(tmp_path: Path) -> None:
    data = tmp_path / ("long" * 30)
    async with EmbeddedStore(data):
        folder = short_folder(data)
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
    assert not (data / "socket-dir").exists()


@pytest.mark.parametrize("made", ["open to others", "a link"])
async def test_a_short_folder_that_others_may_have_made_is_not_used(
    tmp_path: Path, made: str
) -> None:
    data, planted = tmp_path / ("long" * 30), tmp_path / "planted"
    data.mkdir()
    planted.mkdir(mode=0o700)
    if made == "open to others":
        planted.chmod(0o755)
    else:
        (tmp_path / "link").symlink_to(planted)
        planted = tmp_path / "link"
    (data / "socket-dir").write_text(str(planted))
    async with EmbeddedStore(data):
        assert short_folder(data) != planted
        assert not (planted / "store.sock").exists()
    assert planted.exists()


async def test_a_store_that_is_stopped_ends_cleanly_all_the_same(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    async with store:
        os.kill(store.pid, signal.SIGSTOP)
    assert "ready to exit" in (tmp_path / "store.log").read_text()


async def test_nothing_is_left_running_after_a_clean_exit(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    async with store:
        assert is_running(store.pid)
    assert not is_running(store.pid)


async def test_the_directory_is_closed_to_others(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


async def test_a_cancelled_server_stops_its_store(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)

    async def serve() -> None:
        async with store:
            await asyncio.Event().wait()

    server = asyncio.create_task(serve())
    await eventually(lambda: (tmp_path / "store.sock").exists())
    server.cancel()
    await asyncio.wait([server])
    assert not is_running(store.pid)
