"""Nodes and stores that a test kills, and that are started again as a service manager would."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from samedeal_server.store.embedded import find_binary
from support import PATIENCE_S, ServerProcess, eventually

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["ChildStore", "Node", "OwnStore"]


async def process_at(socket: str) -> int:
    """The process of the store at a socket that answers and has its data; 0 if none does."""
    async with Redis(unix_socket_path=socket, retry=Retry(NoBackoff(), 0)) as client:
        try:
            await client.ping()
            return int((await client.info("server"))["process_id"])
        except (RedisError, OSError):
            return 0


class OwnStore:
    """A store as somebody runs one for a service: a Valkey with its log on."""

    def __init__(
        self,
        folder: Path,
        *,
        data: Path | None = None,
        appendfsync: str = "everysec",
        through: Sequence[str] = (),
    ) -> None:
        """Prepare a store in `folder`, its log in `data` if that is elsewhere.

        `through` is a command that starts the store where it sees other file systems.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.fsync = appendfsync
        self.socket = str(folder / "own.sock")
        self.url = f"unix://{self.socket}"
        settings = {
            "port": "0",
            "unixsocket": self.socket,
            "dir": str(data or folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": appendfsync,
        }
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        self._command = [*through, find_binary(), *words]
        self._process: subprocess.Popen[bytes] | None = None
        self.is_up = False

    async def start(self) -> None:
        """Start it, and wait until it has its data."""
        self._process = process = await asyncio.to_thread(
            subprocess.Popen, self._command, stdout=subprocess.DEVNULL
        )

        async def answers() -> bool:
            assert process.poll() is None, "the store does not start"
            return await process_at(self.socket) == process.pid

        await eventually(answers)
        self.is_up = True

    async def kill(self) -> None:
        """Kill it as `kill -9` does."""
        assert self._process is not None
        self.is_up = False
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def stop(self) -> None:
        """Stop it as a service manager does."""
        assert self._process is not None
        self.is_up = False
        self._process.terminate()
        await asyncio.to_thread(self._process.wait)


class ChildStore:
    """The private store of a node, which has to start it again."""

    def __init__(self, data: Path) -> None:
        self.socket = str(data / "store.sock")
        self.url = f"unix://{self.socket}"
        self._killed = 0
        self.is_up = True

    async def start(self) -> None:
        """Wait until somebody has started it."""

        async def answers() -> bool:
            return await process_at(self.socket) not in (0, self._killed)

        await eventually(answers)
        self.is_up = True

    async def kill(self) -> None:
        """Kill it as `kill -9` does, if it runs just now."""
        self.is_up = False
        self._killed = await process_at(self.socket)
        if self._killed:
            os.kill(self._killed, signal.SIGKILL)


class Node:
    """A server process on one port, whichever process that is now, and all that it logged."""

    def __init__(self, data: Path, *options: str) -> None:
        self._data = data
        self._options = options
        self._port = 0
        self._reader: threading.Thread | None = None
        self.server: ServerProcess
        self.log: list[str] = []
        self.is_up = False

    @property
    def url(self) -> str:
        return self.server.url

    async def start(self) -> None:
        """Start it, again and again if its store is just being killed."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE_S
        while True:
            server = ServerProcess(self._data, *self._options, port=self._port)
            try:
                self.server = await asyncio.to_thread(server.__enter__)
                break
            except AssertionError:
                if loop.time() > deadline:
                    raise
        self._port = int(self.url.rpartition(":")[2])
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.is_up = True

    async def kill(self) -> None:
        """Kill it as `kill -9` does."""
        self.is_up = False
        self.server.process.kill()
        await self._ended()

    async def stop(self) -> int:
        """Stop it as a service manager does. Return the exit code."""
        self.is_up = False
        self.server.process.terminate()
        await self._ended()
        return self.server.process.returncode

    async def _ended(self) -> None:
        assert self._reader is not None
        await asyncio.to_thread(self.server.process.wait, PATIENCE_S)
        await asyncio.to_thread(self._reader.join)
        for pipe in (self.server.process.stdout, self.server.process.stderr):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        # Unread, the pipe would fill up and hold the process up.
        assert self.server.process.stderr is not None
        self.log.extend(self.server.process.stderr)
