"""Run the server on a day whose noon it is now, or was some time ago: `noon.py serve ...`.

So no midnight comes between what a test asks first and what it asks next.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from samedeal.protocol.days import DAY_MS
from samedeal_server.almanac import Calendar
from samedeal_server.app import running
from samedeal_server.process import run, stopped_by_signals
from samedeal_server.settings import Settings


async def serve(data: Path, port: int, later_s: int) -> None:
    stop = stopped_by_signals()
    at_noon = Calendar(DAY_MS // 2 - int(time.time() * 1000) % DAY_MS + later_s * 1000)
    settings = Settings(host="127.0.0.1", port=port, redis=None, data=data)
    async with running(settings, calendar=at_noon) as port:
        print(f"serving on ws://127.0.0.1:{port}", flush=True)
        await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("serve", choices=["serve"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--later", type=int, default=0, metavar="SECONDS")
    args = parser.parse_args()
    run(serve(args.data, args.port, args.later))


if __name__ == "__main__":
    main()
