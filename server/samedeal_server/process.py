"""What every process of a server does alike: its loop, its log, its end by a signal."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["log_to_stderr", "run", "stopped_by_signals"]


def log_to_stderr(level: int) -> None:
    """Write the log to stderr, one line an event."""
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a server's main coroutine to its end."""
    # A run keeps a few objects per action and none in cycles: looking through all of them
    # over and over took a third of a loaded server.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main)


def stopped_by_signals() -> asyncio.Event:
    """Return an event that Ctrl-C or SIGTERM sets."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed: it does the same for less."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
