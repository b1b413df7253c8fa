"""`samedeal demo`: a server and two bots that race on one deal, live, with a replay to check."""

import argparse
import asyncio
import contextlib
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from samedeal.engine.counts import counted
from samedeal.engine.games import GAMES, game
from samedeal.engine.replay import verify
from samedeal.protocol.fields import Phase
from samedeal_client import bot
from samedeal_client.cli.arguments import pace, seed
from samedeal_client.cli.order import order_lines, seed_fits
from samedeal_client.cli.output import FINE, Parser, write
from samedeal_client.connection import Client, Race
from samedeal_client.errors import ClientError
from samedeal_client.processes import started

__all__ = ["add_parser"]

BAR = 30
BESIDE_BAR = 56
"""What a row of progress says beside its bar, at most; one that wraps is not drawn over."""
GIVE_UP_S = 10.0
"""Its server is its own: one that is gone will not come back."""


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    demo = commands.add_parser(
        "demo",
        help="a server and two bots race live",
        description="Start a server with a store of its own, have two bots race on one deal, show "
        "the race live, then write and verify the replay. Leaves nothing running.",
    )
    demo.add_argument("--game", default="sally", choices=list(GAMES), help="game (%(default)s)")
    demo.add_argument(
        "--seed", type=seed, metavar="TEXT", help="deal this seed; else the server draws one"
    )
    demo.add_argument("--pace", type=pace, default=0.12, metavar="S", help="seconds a move (0.12)")
    demo.add_argument(
        "--replay-dir", type=Path, default=Path("replays"), metavar="DIR", help="where it goes"
    )
    demo.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    try:
        return asyncio.run(_demo(args))
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM


async def _demo(args: argparse.Namespace) -> int:
    loop, me = asyncio.get_running_loop(), asyncio.current_task()
    assert me is not None
    loop.add_signal_handler(signal.SIGTERM, me.cancel)
    with tempfile.TemporaryDirectory(prefix="samedeal-demo-") as folder:
        words = ("samedeal_server", "serve", "--port", "0", "--data", folder)
        async with started(*words) as (_, url):
            return await _race(url, args)


async def _race(url: str, args: argparse.Namespace) -> int:
    async with (
        Client(url, name="greta", bot=True, give_up_s=GIVE_UP_S) as first,
        Client(url, name="hugo", bot=True, give_up_s=GIVE_UP_S) as second,
    ):
        race = await first.create_race(args.game, seed=args.seed, last_call_s=10)
        print(f"room {race.code}: {game(args.game).title}, two bots, one deal")
        print(f"commitment {race.view.commitment}")
        rival = await second.join(race.code)
        try:
            async with asyncio.TaskGroup() as group:
                for seat, number in ((race, 1), (rival, 2)):
                    await seat.ready()
                    pace_s = args.pace * (1 + number / 10)
                    group.create_task(bot.play(seat, seed=number, pace_s=pace_s))
                group.create_task(_show(race))
        except ExceptionGroup as failures:
            # They fail together, for one reason.
            raise failures.exceptions[0] from None
        for row in ["", "final order", *order_lines(race.view)]:
            print(row)
        fits = seed_fits(race.view)
        print(f"seed {race.view.seed}: {'fits' if fits else 'DOES NOT FIT'} the commitment")
        text = await race.replay()
        path = args.replay_dir / f"{race.code}.jsonl"
        try:
            args.replay_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ClientError(f"cannot make {args.replay_dir}: {error.strerror}") from None
        write(path, text)
        checked = verify(text.splitlines(keepends=True))
        print(f"replay {path}: verified, {counted(len(checked.actions), 'action')}")
        print(f"check it yourself: samedeal verify {path}")
        print("race yourself: make play (samedeal play --local)")
    return FINE


async def _show(race: Race) -> None:
    """Draw the progress: over itself on a terminal, else a line now and then."""
    live, shown = sys.stdout.isatty(), 0
    await race.until_go()
    while True:
        most = race.table.rules.total - race.table.rules.dealt_to_foundations
        rows, width = [], max(1, min(BAR, shutil.get_terminal_size().columns - BESIDE_BAR))
        for player in race.view.players:
            full = width * max(0, player.best) // most
            bar = "#" * full + "." * (width - full)
            rows.append(
                f"{player.name:<8} (bot) [{bar}] home {player.home:>3} of {most}  "
                f"moves {player.moves:>3}  {player.status.value}"
            )
        if live and shown:
            print(f"\x1b[{len(rows)}A", end="")
        for row in rows:
            print(f"\x1b[2K{row}" if live else row, flush=True)
        shown += 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.25 if live else 2.0):
                await race.until_closed()
        if race.view.phase is Phase.CLOSED:
            return
