"""`python -m samedeal_server.worker`: one of several processes that share a port and a store.

Its parent writes one line to it, the settings, and keeps the pipe open: a worker whose parent is
gone stops. It writes one line when it serves.
"""

import asyncio
import json
import os
import sys

from samedeal_server.app import running
from samedeal_server.command_line import complain
from samedeal_server.errors import CannotServe
from samedeal_server.process import log_to_stderr, run, stopped_by_signals
from samedeal_server.settings import Settings

__all__ = ["SERVING", "orders"]

SERVING = b"serving\n"


def orders(settings: Settings, log_level: int) -> bytes:
    """Return the line that starts a worker; a password in it is in nobody's list of processes."""
    told = {"settings": settings.as_json(), "log_level": log_level}
    return json.dumps(told).encode() + b"\n"


async def _work(settings: Settings) -> None:
    stop = stopped_by_signals()
    stdin = sys.stdin.fileno()

    def parent_said() -> None:
        if not os.read(stdin, 1024):
            asyncio.get_running_loop().remove_reader(stdin)
            stop.set()

    asyncio.get_running_loop().add_reader(stdin, parent_said)
    async with running(settings, shares_port=True):
        os.write(sys.stdout.fileno(), SERVING)
        await stop.wait()


def main() -> int:
    """Serve as told. Return the exit code."""
    # Unbuffered: nothing after the line may be held back from the one who watches for its end.
    line = b""
    while not line.endswith(b"\n"):
        if not (part := os.read(sys.stdin.fileno(), 65536)):
            return 2
        line += part
    told = json.loads(line)
    log_to_stderr(told["log_level"])
    try:
        run(_work(Settings.from_json(told["settings"])))
    except CannotServe as error:
        return complain(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
