"""What several tests need: waiting for a condition, a relay to cut, real processes."""

import asyncio
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

from ports import own_port

__all__ = [
    "PATIENCE_S",
    "Fault",
    "Proxy",
    "ServerProcess",
    "eventually",
    "run_cli",
    "second_node",
]

PATIENCE_S = 60.0
"""More than anything takes on a busy machine: only a test that fails waits for so long."""


async def eventually(
    condition: Callable[[], bool | Awaitable[bool]], within_s: float = PATIENCE_S
) -> None:
    """Return as soon as `condition` holds. Raise AssertionError if it does not in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while True:
        holds = condition()
        if not isinstance(holds, bool):
            holds = await holds
        if holds:
            return
        assert loop.time() < deadline, f"not so within {within_s:g} s"
        await asyncio.sleep(0.01)


class Fault(Enum):
    """What can befall the next piece that passes a proxy."""

    CUT_BEFORE_WRITE = "cut before write"
    CUT_AFTER_WRITE = "cut after write"
    CUT_IN_REPLY = "cut in reply"
    LATE_REQUEST = "late request"
    LATE_REPLY = "late reply"
    DEAF = "nothing gets through"
    MUTE = "nothing comes back"

    @property
    def is_of_replies(self) -> bool:
        """Whether a reply, not a request, is what it happens to."""
        return self in (Fault.CUT_IN_REPLY, Fault.LATE_REPLY, Fault.MUTE)


class Proxy:
    """A relay on a port of its own, in front of a unix socket or of a TCP port.

    `async with Proxy(path) as port`. `lose_replies`: what the far side says is thrown away;
    `lose_rings`: the same, but only on connections that subscribed to something; `refuse`: new
    connections are closed at once; `target`: where they lead; `fault`: what befalls the next
    piece, once. A connection that turned deaf or mute stays so until it ends. `late_s`: how much
    later every reply comes.
    """

    LATE_S = 0.3

    def __init__(self, target: str | tuple[str, int], *, tls: ssl.SSLContext | None = None) -> None:
        self.target = target
        self._tls = tls
        self._server: asyncio.Server
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._subscribers: set[asyncio.StreamWriter] = set()
        self.lose_replies = False
        self.lose_rings = False
        self.refuse = False
        self.fault: Fault | None = None
        self.late_s = 0.0
        self.lost_bytes = 0
        self.accepted = 0

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0, ssl=self._tls)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> Self | None:
        self._server.close()
        self.cut()
        await self._server.wait_closed()
        await eventually(lambda: not self._pairs)
        return None

    def cut(self) -> None:
        """Break every connection, as a pulled cable with a reset would."""
        for pair in self._pairs:
            for writer in pair:
                writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if self.refuse:
            writer.close()
            return
        if isinstance(self.target, str):
            far_reader, far_writer = await asyncio.open_unix_connection(self.target)
        else:
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        pair = (writer, far_writer)
        self._pairs.add(pair)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pump(reader, far_writer, writer, replies=False))
                tasks.create_task(self._pump(far_reader, writer, writer, replies=True))
        finally:
            self._pairs.discard(pair)
            self._subscribers.discard(writer)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        near: asyncio.StreamWriter,
        *,
        replies: bool,
    ) -> None:
        is_silent = False
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if not replies and b"SUBSCRIBE" in data:
                    self._subscribers.add(near)
                deaf = self.lose_rings and near in self._subscribers
                fault = self._fault_of(replies=replies)
                is_silent = is_silent or fault in (Fault.DEAF, Fault.MUTE)
                if is_silent or (replies and (self.lose_replies or deaf)):
                    self.lost_bytes += len(data)
                    continue
                if fault in (Fault.LATE_REQUEST, Fault.LATE_REPLY):
                    await asyncio.sleep(self.LATE_S)
                if replies and self.late_s:
                    await asyncio.sleep(self.late_s)
                if fault is Fault.CUT_BEFORE_WRITE:
                    near.transport.abort()
                    break
                writer.write(data[: len(data) // 2] if fault is Fault.CUT_IN_REPLY else data)
                await writer.drain()
                if fault is Fault.CUT_AFTER_WRITE:
                    near.transport.abort()
                elif fault is Fault.CUT_IN_REPLY:
                    break
        writer.close()

    def _fault_of(self, *, replies: bool) -> Fault | None:
        """The fault that is due now, which then is done."""
        fault = self.fault
        if fault is None or fault.is_of_replies is not replies:
            return None
        self.fault = None
        return fault


class ServerProcess:
    """`samedeal_server serve` as a process of its own, with its private store in `data`.

    Its port stays free for it when it is killed and started again.
    """

    def __init__(
        self,
        data: Path,
        *options: str,
        port: int = 0,
        program: Sequence[str] = ("-m", "samedeal_server"),
    ) -> None:
        self._command = [
            *(sys.executable, *program, "serve", "--port", str(port or own_port())),
            *("--data", str(data), *options),
        ]
        self.url = ""

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if "://" not in line:
            _, logged = self.process.communicate(timeout=PATIENCE_S)
            raise AssertionError(f"the server did not start: {logged}")
        self.url = line.split()[-1]
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGTERM)

    def rss_kib(self) -> int:
        """Memory of the process as the system counts it."""
        pid = str(self.process.pid)
        return int(subprocess.check_output(["ps", "-o", "rss=", "-p", pid]))

    def stop(self, number: int) -> tuple[str, int]:
        """Send a signal and wait. Return what was logged, and the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, logged = self.process.communicate(timeout=PATIENCE_S)
        return logged, self.process.returncode


def second_node(folder: Path) -> ServerProcess:
    """One more node on the store of the one whose data is in `folder / "data"`."""
    return ServerProcess(folder / "unused", "--redis", f"unix://{folder / 'data' / 'store.sock'}")


def run_cli(*args: str, stdin: str = "", state: Path | None = None) -> tuple[int, str, str]:
    """Run `samedeal` as a process. Return exit code, stdout and stderr."""
    env = dict(os.environ)
    if state is not None:
        env["XDG_STATE_HOME"] = str(state)
    done = subprocess.run(
        [sys.executable, "-m", "samedeal_client.cli.main", *args],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        env=env,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
