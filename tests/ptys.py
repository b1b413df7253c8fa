"""A program on a real pseudo-terminal, its screen read by a terminal emulator."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pyte

from support import PATIENCE_S

__all__ = ["Terminal"]

# The emulator takes these for text: questions about modes, and the keyboard protocol.
_UNKNOWN = re.compile(rb"\x1b\[[>=<?][0-9;]*(?:u|\$p)")


class Terminal:
    """`samedeal WORDS` on a terminal of its own, under a home of its own."""

    def __init__(self, home: Path, *words: str, columns: int = 80, rows: int = 24) -> None:
        self._command = [sys.executable, "-m", "samedeal_client.cli.main", *words]
        self._env = {
            **os.environ,
            "XDG_STATE_HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "XDG_DATA_HOME": str(home),
            "TERM": "xterm-256color",
        }
        self._env.pop("NO_COLOR", None)
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.received = 0
        """Bytes that the program has written."""

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        size = struct.pack("HHHH", self.screen.lines, self.screen.columns, 0, 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        self.process = subprocess.Popen(
            self._command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._env,
            start_new_session=True,
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.ended()
        os.close(self._master)

    def press(self, *keys: str) -> None:
        """Type keys, one after the other."""
        for key in keys:
            os.write(self._master, key.encode())

    def ended(self) -> int:
        """Wait for the program to end, reading what it still draws. Return its exit code."""
        assert self._drain_until(lambda: self.process.poll() is not None), self.text
        return self.process.wait()

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def read(self, within_s: float) -> bool:
        """Take in what the program has drawn. Return whether there was anything."""
        ready, _, _ = select.select([self._master], [], [], within_s)
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            # The program has closed its side.
            time.sleep(0.01)
            return False
        self.received += len(data)
        self._stream.feed(_UNKNOWN.sub(b"", data))
        return True

    def until(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""
        found = self._drain_until(lambda: all(text in self.text for text in texts))
        assert found, f"{texts} not on the screen:\n{self.text}"

    def until_gone(self, text: str) -> None:
        """Wait until this is on the screen no more."""
        self.until_so(lambda: text not in self.text)

    def until_so(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds of what is on the screen."""
        assert self._drain_until(condition), self.text

    def _drain_until(self, condition: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.read(0.05)
        return True
