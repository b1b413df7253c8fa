"""Several worker processes on one port and one store: start them, replace who dies, stop them."""

import asyncio
import dataclasses
import logging
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from samedeal_server.errors import CannotServe
from samedeal_server.pause import is_set_within
from samedeal_server.settings import Settings
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.embedded import EmbeddedStore
from samedeal_server.worker import SERVING, orders

__all__ = ["MAX_WORKERS", "running_workers"]

log = logging.getLogger(__name__)

MAX_WORKERS = 64
START_S = 60.0
STOP_S = 20.0
"""After so long a worker that was told to stop is killed."""
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.1, 5.0
_SOUND_S = 10.0
"""Who served for so long did not die of its start: it is replaced at once."""


@asynccontextmanager
async def running_workers(settings: Settings, count: int) -> AsyncIterator[int]:
    """Run `count` workers. Give the port they share. Raise CannotServe if one cannot start."""
    async with AsyncExitStack() as stack:
        port = _reserve(settings.host, settings.port, stack)
        url = settings.redis
        if url is None:
            url = await stack.enter_async_context(EmbeddedStore(settings.data))
        StoreAddress.parse(url)
        line = orders(
            dataclasses.replace(settings, port=port, redis=url), logging.getLogger().level
        )
        closing = asyncio.Event()
        workers = [_Worker(number, line, closing) for number in range(1, count + 1)]
        stack.push_async_callback(_stop, workers, closing)
        started = await asyncio.gather(*(worker.start() for worker in workers))
        if not all(started):
            raise CannotServe("a worker does not start; its reason stands above")
        for worker in workers:
            worker.keep()
        yield port


async def _stop(workers: "list[_Worker]", closing: asyncio.Event) -> None:
    closing.set()
    await asyncio.gather(*(worker.stop() for worker in workers))


class _Worker:
    """One place among the workers, and the process that fills it now."""

    def __init__(self, number: int, line: bytes, closing: asyncio.Event) -> None:
        self._number = number
        self._line = line
        self._closing = closing
        self._process: Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> bool:
        """Start a process. Return whether it serves; one that does not in time is killed."""
        # A session of its own: Ctrl-C in a terminal reaches the parent, which passes it on.
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "samedeal_server.worker"),
                stdin=PIPE,
                stdout=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            # No memory, no file descriptor: that passes.
            log.warning("worker %d cannot be started: %s", self._number, error)
            return False
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        said = b""
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(START_S):
                process.stdin.write(self._line)
                await process.stdin.drain()
                said = await process.stdout.readline()
        if said == SERVING:
            return True
        if process.returncode is None:
            process.kill()
        await process.wait()
        return False

    def keep(self) -> None:
        """Replace the process whenever it ends, until the server closes."""
        self._keeper = asyncio.create_task(self._keep(), name=f"worker {self._number}")

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        pause_s = _FIRST_PAUSE_S
        while True:
            assert self._process is not None
            began = loop.time()
            code = await self._process.wait()
            if self._closing.is_set():
                return
            log.error(
                "worker %d (process %d) ended with %d; starting another",
                self._number,
                self._process.pid,
                code,
            )
            if loop.time() - began > _SOUND_S:
                pause_s = _FIRST_PAUSE_S
            is_up = False
            while not is_up:
                if await is_set_within(self._closing, pause_s):
                    return
                pause_s = min(_LAST_PAUSE_S, pause_s * 2)
                is_up = await self.start()
            log.warning("worker %d is process %d now", self._number, self._process.pid)

    async def stop(self) -> None:
        """Have the process end, by force if it does not in time."""
        while self._process is not None:
            await self._end(self._process)
            if self._keeper is None:
                return
            # It may just have started another one.
            done, _ = await asyncio.wait([self._keeper], timeout=0.1)
            if done:
                return

    async def _end(self, process: Process) -> None:
        for signal_process in (process.terminate, process.kill):
            if process.returncode is not None:
                return
            with suppress(ProcessLookupError):
                signal_process()
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_S):
                    await process.wait()


def _reserve(host: str, port: int, stack: AsyncExitStack) -> int:
    """Bind the port, without listening, for as long as the stack lasts. Return it.

    So it is the same one for every worker, and stays theirs while one is being replaced. Raise
    CannotServe if it cannot be had.
    """
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, kind, protocol, _, address in dict.fromkeys(found):
            if port:
                # Sharing is for the own workers: a server that is there already is an error.
                with _bound(family, kind, protocol, (address[0], port, *address[2:])):
                    pass
            shared = stack.enter_context(
                _bound(family, kind, protocol, (address[0], port, *address[2:]), is_shared=True)
            )
            port = shared.getsockname()[1]
    except OSError as error:
        raise CannotServe(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return port


def _bound(
    family: int, kind: int, protocol: int, address: tuple[object, ...], *, is_shared: bool = False
) -> socket.socket:
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except BaseException:
        bound.close()
        raise
    return bound
