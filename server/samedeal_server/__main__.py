"""`python -m samedeal_server serve`: the server from the command line."""

import argparse
import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from samedeal_server.app import Settings, running
from samedeal_server.errors import CannotServe

DEFAULT_PORT = 8750


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"samedeal: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="samedeal", description="The samedeal race server.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    serve = commands.add_parser(
        "serve",
        help="run the server",
        description="Run the server. Without --redis it keeps its data in a private Valkey of its "
        "own. Ctrl-C or SIGTERM stops it: players are told when to come back, races go on.",
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    serve.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="port to listen on, 0 for any (%(default)s)"
    )
    serve.add_argument(
        "--redis",
        metavar="URL",
        help="store to use: redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH",
    )
    serve.add_argument(
        "--data",
        type=Path,
        default=_default_data(),
        metavar="DIR",
        help="folder of the private store (%(default)s)",
    )
    serve.add_argument("--verbose", action="store_true", help="log more than warnings")
    return parser


def _default_data() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "samedeal"


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(settings) as port:
        host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
        url = f"ws://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"samedeal serving on {url}", flush=True)
        print(f"open a race: samedeal race --game lanes --server {url}", flush=True)
        await stop.wait()
        print("samedeal stopping", flush=True)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed: it does the same for less."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def main(argv: list[str] | None = None) -> int:
    """Run the command line. Return the exit code."""
    args = _parser().parse_args(argv)
    logging.basicConfig(
        level=logging.INFO if args.verbose else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
    )
    if not 0 <= args.port <= 65535:
        print(f"samedeal: --port {args.port} is not from 0 to 65535", file=sys.stderr)
        return 2
    settings = Settings(args.host, args.port, args.redis, args.data)
    try:
        # A run keeps a few objects per action and none in cycles: looking through all of them
        # over and over took a third of a loaded server.
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings))
    except CannotServe as error:
        print(f"samedeal: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
