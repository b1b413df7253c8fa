"""Standard input line by line, as it comes: from a terminal, a pipe or a file."""

import asyncio
import codecs
import os
import sys
import threading
from collections.abc import Iterator
from typing import Final

__all__ = ["MAX_AHEAD", "Lines"]

MAX_AHEAD: Final = 1000
"""Lines that are read before they are asked for: an endless pipe must not fill the memory."""
_MAX_LINE: Final = 4096
"""A longer line is cut into several."""


class Lines:
    """Reads in a thread of its own, which ends with the process."""

    def __init__(self) -> None:
        self.is_over = False
        """Whether the end was handed out."""
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(MAX_AHEAD)
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._pump, daemon=True).start()

    async def next(self) -> str | None:
        """Wait for the next line. Return None at the end of input, and ever after."""
        if self.is_over:
            return None
        line = await self._queue.get()
        self._room.release()
        self.is_over = line is None
        return line

    def _pump(self) -> None:
        try:
            for line in _lines():
                self._put(line)
            self._put(None)
        except RuntimeError:
            # The loop is closed: nobody asks any more.
            pass

    def _put(self, line: str | None) -> None:
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


def _lines() -> Iterator[str]:
    """Yield stripped lines; what is not UTF-8 in them is replaced."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while chunk := _read():
        *whole, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in whole:
            yield line.strip()
        while len(rest) > _MAX_LINE:
            yield rest[:_MAX_LINE].strip()
            rest = rest[_MAX_LINE:]
    if rest:
        yield rest.strip()


def _read() -> bytes:
    """Read what is there; an input that is closed or torn away is at its end.

    Not through sys.stdin: a thread that waits in there holds a lock the interpreter needs to exit.
    """
    if sys.stdin is None:
        return b""
    try:
        return os.read(sys.stdin.fileno(), 65536)
    except (OSError, ValueError):
        return b""
