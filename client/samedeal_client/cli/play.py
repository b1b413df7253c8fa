"""`samedeal play`: the terminal client; `samedeal` alone on a terminal is the same."""

import argparse
import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import platformdirs

from samedeal.protocol import server_messages as say
from samedeal_client.cli.arguments import DEFAULT_SERVER, server
from samedeal_client.cli.output import FINE, Parser, complain
from samedeal_client.connection import Client, Race
from samedeal_client.processes import started

if TYPE_CHECKING:
    from samedeal_client.terminal.app import TerminalApp

__all__ = ["add_parser", "can_draw", "find_opponent", "play_race", "wants_screen", "watch_race"]


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    play = commands.add_parser(
        "play",
        help="the terminal client (samedeal alone opens it too)",
        description="Open the terminal client. Its settings and keys are TOML files in the "
        "configuration folder; --print-keys shows the keys as that file would have them.",
    )
    play.add_argument(
        "--local", action="store_true", help="with a private server on this machine, for you alone"
    )
    play.add_argument(
        "--server",
        type=server,
        metavar="URL[,URL...]",
        help="server; else the one used last (SAMEDEAL_SERVER sets it)",
    )
    play.add_argument("--ascii", action="store_true", help="suits as letters, no lines")
    play.add_argument("--print-keys", action="store_true", help="print the keys as TOML, and end")
    play.set_defaults(run=_run)


def can_draw() -> bool:
    """Whether there is a terminal on both sides to draw on."""
    # Textual draws on the standard error.
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(one.isatty() for one in streams) and os.environ.get("TERM") != "dumb"


def _run(args: argparse.Namespace) -> int:
    # Only here: other commands should not wait for it.
    from samedeal_client.terminal import settings as remembered

    if args.print_keys:
        print(remembered.load_keys().toml(), end="")
        return FINE
    if not can_draw():
        return complain("this needs a terminal; in a pipe use samedeal race --plain")
    if args.local and args.server:
        return complain("--local has a server of its own; leave --server away")
    usual = os.environ.get("SAMEDEAL_SERVER")
    if usual and not args.local and not args.server:
        try:
            args.server = server(usual)
        except argparse.ArgumentTypeError as error:
            return complain(f"SAMEDEAL_SERVER: {error}")
    return asyncio.run(_play(args))


async def _play(args: argparse.Namespace) -> int:
    from samedeal_client.terminal import settings as remembered
    from samedeal_client.terminal.app import TerminalApp

    settings, keys = remembered.load(), remembered.load_keys()
    if args.ascii:
        settings = settings.with_ascii()
    async with AsyncExitStack() as stack:
        where = args.server or settings.server or DEFAULT_SERVER
        if args.local:
            folder = platformdirs.user_data_path("samedeal", appauthor=False) / "local"
            words = ("samedeal_server", "serve", "--port", "0", "--data", str(folder))
            _, where = await stack.enter_async_context(started(*words))
        app = TerminalApp(settings=settings, keys=keys, server=where, is_local=args.local)
        return await _run_app(app)


def wants_screen(args: argparse.Namespace) -> bool:
    """Whether a command that can do both opens the terminal client."""
    by_lines = args.plain or args.json or getattr(args, "save", None)
    return can_draw() and not by_lines


async def play_race(client: Client, race: Race, daily: say.Daily | None = None) -> int:
    """Open the terminal client in a race. Return its exit code."""
    return await _begin(client, race=race, daily=daily)


async def watch_race(client: Client, race: str) -> int:
    """Open the terminal client before a race of others. Return its exit code."""
    return await _begin(client, watched=race)


async def find_opponent(client: Client, game: str) -> int:
    """Open the terminal client in the queue of a game. Return its exit code."""
    return await _begin(client, sought=game)


async def _begin(client: Client, **begin: Any) -> int:
    from samedeal_client.terminal import settings as remembered
    from samedeal_client.terminal.app import TerminalApp

    settings, keys = remembered.load(), remembered.load_keys()
    app = TerminalApp(settings=settings, keys=keys, server=client.url, client=client, **begin)
    return await _run_app(app)


async def _run_app(app: "TerminalApp") -> int:
    """Run it; a closed window or SIGTERM ends it in order, so that it leaves nothing behind."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, app.exit, 128 + number)
    return await app.run_async() or FINE
