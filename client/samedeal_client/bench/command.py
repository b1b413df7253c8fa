"""`samedeal bench`: its options, the run, and the figures."""

import argparse
import asyncio
import json
import resource
import signal
import sys
import tempfile
from contextlib import AsyncExitStack

from samedeal.engine.games import GAMES, game
from samedeal_client.bench.boards import bench_boards
from samedeal_client.bench.load import Measured, echo_line, run_slice
from samedeal_client.bench.loop import loop_factory
from samedeal_client.bench.plan import engine_us_per_move, plan
from samedeal_client.bench.screen import bench_screen
from samedeal_client.bench.start import PLANS, TURNS, UNLIMITED, all_go, percentile, seated
from samedeal_client.bench.watched import bench_watched
from samedeal_client.cli.arguments import number, whole
from samedeal_client.cli.output import Parser
from samedeal_client.errors import ServerFailed
from samedeal_client.processes import children, cpu_s, rss_kib, started

__all__ = ["add_parser", "run"]

MAX_RACES, MAX_RATE, MAX_SECONDS, MAX_ROWS = 2000, 1000.0, 3600.0, 2_000_000
MAX_SPECTATORS = 10_000


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    parser = commands.add_parser(
        "bench",
        help="measure a server under load",
        description="Start a server with a store of its own and, beside it, a bare echo server; "
        "put the same load on both in turn, and say what each needs. Leaves nothing running.",
    )
    parser.add_argument(
        "--races",
        type=whole(1, MAX_RACES),
        default=100,
        metavar="N",
        help="races of two players (100)",
    )
    parser.add_argument(
        "--rate",
        type=number(0, MAX_RATE),
        default=5.0,
        metavar="R",
        help="moves a second of each player; 0: the next as soon as the last is answered (5)",
    )
    parser.add_argument(
        "--seconds",
        type=number(1, MAX_SECONDS),
        default=10.0,
        metavar="S",
        help="time under load, each (10)",
    )
    parser.add_argument("--game", default="lanes", choices=list(GAMES), help="game (%(default)s)")
    parser.add_argument(
        "--spectators",
        type=whole(0, MAX_SPECTATORS),
        default=0,
        metavar="K",
        help="in place of the echo: the same load with and without so many watchers of the first "
        "race, and a bare broadcast to as many",
    )
    parser.add_argument(
        "--boards",
        action="store_true",
        help="in place of the echo: the same load with and without finished races coming in, and "
        "then pages of a small and of a large board",
    )
    parser.add_argument(
        "--rows",
        type=whole(1000, MAX_ROWS),
        default=1_000_000,
        metavar="N",
        help="rows of the large board (10^6)",
    )
    parser.add_argument(
        "--screen",
        action="store_true",
        help="in place of the echo: the terminal client on a pseudo-terminal among eight players, "
        "from a key to the screen",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the bench and print the figures. Return the exit code. Raise ClientError."""
    if sys.platform != "linux":
        raise ServerFailed("the bench reads processor times from /proc, so it needs Linux")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Two connections a player from here; the servers inherit the limit.
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        load = args.game, args.races, args.rate, args.seconds
        if args.screen:
            figures = runner.run(bench_screen(args.seconds))
        elif args.boards:
            figures = runner.run(bench_boards(*load, args.rows))
        elif args.spectators:
            figures = runner.run(bench_watched(*load, args.spectators))
        else:
            figures = runner.run(_bench(*load))
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:<30} {value}")
    return 0


async def _bench(game_id: str, races: int, rate: float, seconds: float) -> dict[str, object]:
    loop, me = asyncio.get_running_loop(), asyncio.current_task()
    assert me is not None
    loop.add_signal_handler(signal.SIGTERM, me.cancel)
    plans = [plan(game(game_id), number) for number in range(PLANS)]
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="samedeal-bench-"))
        server, url = await stack.enter_async_context(
            started("samedeal_server", "serve", "--port", "0", "--data", folder, *UNLIMITED)
        )
        echo, echo_url = await stack.enter_async_context(started("samedeal_client.bench.echo"))
        stores = children(server)
        # What the first connections make the server set up for good is not theirs.
        warm = races // 5
        lines = await seated(stack, url, game_id, range(warm), plans)
        before_kib = rss_kib(server)
        lines += await seated(stack, url, game_id, range(warm, races), plans)
        idle_kib = rss_kib(server) - before_kib
        await all_go(lines)
        echo_lines = [
            await echo_line(stack, echo_url, line.race_id, plans[number % PLANS])
            for number, line in enumerate(lines)
        ]
        moves, echoes = Measured(), Measured()
        spent = dict.fromkeys(("server", "store", "echo"), 0.0)
        for _ in range(TURNS):
            start = cpu_s(server), sum(map(cpu_s, stores))
            await run_slice(lines, rate, seconds / TURNS, moves)
            spent["server"] += cpu_s(server) - start[0]
            spent["store"] += sum(map(cpu_s, stores)) - start[1]
            begun = cpu_s(echo)
            await run_slice(echo_lines, rate, seconds / TURNS, echoes)
            spent["echo"] += cpu_s(echo) - begun
    acked, echoed = len(moves.answers_ms), len(echoes.answers_ms)
    server_us = spent["server"] / acked * 1e6
    echo_us = spent["echo"] / echoed * 1e6
    return {
        "game": game_id,
        "races": races,
        "connections": len(lines),
        "rate": rate,
        "seconds": seconds,
        "acked_moves": acked,
        "acked_moves_per_s": round(acked / moves.wall_s, 1),
        "echo_messages_per_s": round(echoed / echoes.wall_s, 1),
        "server_cpu_us_per_acked_move": round(server_us, 1),
        "store_cpu_us_per_acked_move": round(spent["store"] / acked * 1e6, 1),
        "echo_cpu_us_per_message": round(echo_us, 1),
        "cpu_ratio": round(server_us / echo_us, 2) if echo_us else None,
        "server_cpu_share": round(spent["server"] / moves.wall_s, 3),
        "ack_ms_p50": percentile(moves.answers_ms, 50),
        "ack_ms_p99": percentile(moves.answers_ms, 99),
        "echo_ms_p50": percentile(echoes.answers_ms, 50),
        "echo_ms_p99": percentile(echoes.answers_ms, 99),
        "sent_late_ms_p99": percentile(moves.late_ms, 99),
        "rss_kib_per_connection": round(idle_kib / (2 * (races - warm)), 1),
        "engine_us_per_move": round(engine_us_per_move(game(game_id), plans), 2),
    }
