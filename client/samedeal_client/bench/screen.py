"""From a key to the screen: the terminal client on a real pseudo-terminal, seven rivals moving."""

import asyncio
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from samedeal_client import bot
from samedeal_client.connection import Client
from samedeal_client.errors import ServerFailed
from samedeal_client.processes import started

__all__ = ["bench_screen"]

RIVALS: Final = 7
PACE_S: Final = 0.25
WITHIN_S: Final = 20.0
PAUSE_S: Final = 0.15
"""Between keys: a person's pace, and longer than what counts as a held key."""


async def bench_screen(seconds: float) -> dict[str, object]:
    """Race eight on a fresh server; measure from each key to the first byte that shows it."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="samedeal-screen-"))
        words = ("samedeal_server", "serve", "--port", "0", "--data", f"{folder}/data")
        _, url = await stack.enter_async_context(started(*words))
        rivals = [
            await stack.enter_async_context(Client(url, name=f"rival{number}"))
            for number in range(RIVALS)
        ]
        first = await rivals[0].create_race("lanes", seed="screen", seats=8, countdown_s=0)
        races = [first, *[await rival.join(first.code) for rival in rivals[1:]]]
        for race in races:
            await race.ready()
        plays = [
            asyncio.create_task(bot.play(race, seed=number, pace_s=PACE_S))
            for number, race in enumerate(races)
        ]
        loop = asyncio.get_running_loop()
        try:
            picks, turns = await loop.run_in_executor(
                None, _played, Path(folder), url, first.code, seconds
            )
        finally:
            for play in plays:
                play.cancel()
            await asyncio.gather(*plays, return_exceptions=True)
    return {
        "tracks": RIVALS + 1,
        "rival_moves_per_s": round(RIVALS / PACE_S, 1),
        "pick_ms_p50": _percentile(picks, 50),
        "pick_ms_p95": _percentile(picks, 95),
        "pick_ms_max": round(max(picks), 1),
        "move_ms_p50": _percentile(turns, 50),
        "move_ms_p95": _percentile(turns, 95),
        "move_ms_max": round(max(turns), 1),
        "keys": len(picks) + len(turns),
    }


def _percentile(values: list[float], percent: int) -> float:
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)


def _played(folder: Path, url: str, code: str, seconds: float) -> tuple[list[float], list[float]]:
    """Play by keys in a thread, where reading the terminal may wait."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color"}
    env |= {f"XDG_{kind}_HOME": str(folder) for kind in ("CONFIG", "STATE", "DATA")}
    command = [sys.executable, "-m", "samedeal_client.cli.main", "join", code, "--server", url]
    child = subprocess.Popen(
        [*command, "--name", "player"], stdin=slave, stdout=slave, stderr=slave, env=env
    )
    os.close(slave)
    terminal = _Terminal(master)
    try:
        terminal.shown(b"Press Enter", b"\r")
        terminal.shown(b"Pick a column")
        return _measured(terminal, seconds)
    finally:
        child.send_signal(signal.SIGTERM)
        terminal.close()
        child.wait()


def _measured(terminal: "_Terminal", seconds: float) -> tuple[list[float], list[float]]:
    """Pick columns up and put them down; now and then turn the stock."""
    picks: list[float] = []
    turns: list[float] = []
    end, left, column = time.monotonic() + seconds, 30, 0
    while time.monotonic() < end or not turns or len(picks) < 2:
        column = column % 6 + 1
        picks.append(terminal.press(str(column).encode(), f"of column {column} goes".encode()))
        terminal.press(b"\x1b", b"")
        if left > 0 and column % 2:
            left -= 1
            turns.append(terminal.press(b" ", f"{left} (by 1".encode()))
            terminal.press(b"", b"turned")
    return picks, turns if len(turns) > 1 else turns * 2


class _Terminal:
    """The near side of a pseudo-terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._seen = b""

    def shown(self, text: bytes, key: bytes = b"") -> None:
        """Wait until a text was drawn; then press a key, if one is given."""
        self.press(b"", text)
        if key:
            os.write(self._master, key)

    def press(self, key: bytes, text: bytes) -> float:
        """Press a key and wait until a text is drawn. Return the milliseconds between."""
        if key:
            self._read_for(PAUSE_S, lambda: False)
            self._seen = b""
            os.write(self._master, key)
        start = time.perf_counter()
        if text and not self._read_for(WITHIN_S, lambda: text in self._seen):
            raise ServerFailed(f"the terminal client did not show {text.decode()!r}")
        return (time.perf_counter() - start) * 1000

    def _read_for(self, seconds: float, is_enough: Callable[[], bool]) -> bool:
        end = time.monotonic() + seconds
        while not is_enough():
            rest = end - time.monotonic()
            if rest <= 0:
                return False
            if select.select([self._master], [], [], rest)[0]:
                self._seen += os.read(self._master, 65536)
        return True

    def close(self) -> None:
        """Read what the program says at its end, so that it does not wait for a reader."""
        try:
            while os.read(self._master, 65536):
                pass
        except OSError:
            # The program has closed its side.
            pass
        os.close(self._master)
