"""Servers that a command starts for itself, and what the kernel says they use."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from samedeal_client.errors import ServerFailed

__all__ = ["children", "cpu_s", "rss_kib", "started"]

START_S = 20.0
STOP_S = 10.0
_PROC = Path("/proc")


@asynccontextmanager
async def started(*words: str) -> AsyncIterator[tuple[int, str]]:
    """Run `python -m words` and give its process id and the address it says it serves on.

    Raise ServerFailed if it does not say so in time. It is stopped at the end, whatever happens,
    and what it started is too.
    """
    # Its own session: a Ctrl-C here reaches it as the orderly stop below.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *words), stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        yield process.pid, await _address(process, words[0])
    finally:
        await _stop(process)


async def _address(process: asyncio.subprocess.Process, name: str) -> str:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_S):
            line = (await process.stdout.readline()).decode()
    except TimeoutError:
        line = ""
    _, found, address = line.strip().rpartition(" serving on ")
    if not found:
        raise ServerFailed(f"{name}, started for this command, does not serve")
    return address


async def _stop(process: asyncio.subprocess.Process) -> None:
    below = children(process.pid)
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        # A server that had to be killed could not stop its store.
        for pid in below:
            with suppress(ProcessLookupError):
                os.kill(pid, 15)


def children(parent: int) -> list[int]:
    """Return the ids of the processes whose parent is `parent`; none where /proc is not there."""
    if not _PROC.is_dir():
        return []
    return [
        int(path.name)
        for path in _PROC.iterdir()
        if path.name.isdigit() and (stat := _stat(int(path.name))) and int(stat[1]) == parent
    ]


def cpu_s(pid: int) -> float:
    """Return the processor time a process has used, to the ns: user and system, all threads."""
    # The clock of a process (clock_getcpuclockid(3)); /proc counts in ticks of 10 ms.
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:
        raise ServerFailed("a process ended while it was measured") from None


def rss_kib(pid: int) -> int:
    """Return the memory of a process that is in RAM."""
    pages = int((_PROC / str(pid) / "statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def _stat(pid: int) -> list[str]:
    """Return the fields of a process after its name, the state first; none if it is gone."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()
