"""Ports that the system gives nobody by itself: who is started again finds its own still free."""

import itertools
import os
import socket
from contextlib import suppress

__all__ = ["own_port"]

# Below those that systems give out, each worker of the tests with a stretch of its own.
_FIRST, _EACH, _WORKERS = 12_000, 1_000, 20
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
# Another run of the tests at the same time most likely begins somewhere else.
_TURNS = itertools.count(os.getpid())


def own_port() -> int:
    """A port nobody listens on now, and that no other test will take."""
    for _ in range(_EACH):
        port = _FIRST + _WORKER * _EACH + next(_TURNS) % _EACH
        with suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"no port is free from {_FIRST + _WORKER * _EACH} on")
