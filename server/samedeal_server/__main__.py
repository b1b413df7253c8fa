"""`python -m samedeal_server serve`: the server from the command line."""

import argparse
import logging
import os
import sys
from pathlib import Path

from samedeal_server.app import running
from samedeal_server.buckets import Limits, Rate
from samedeal_server.command_line import Parser, complain, default_data
from samedeal_server.errors import CannotServe
from samedeal_server.process import log_to_stderr, run, stopped_by_signals
from samedeal_server.settings import Settings, parse_rate
from samedeal_server.workers import MAX_WORKERS, running_workers

DEFAULT_PORT = 8750


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="samedeal", description="The samedeal race server.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
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
    _add_store(serve)
    serve.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes that share the port and the store; one that dies is replaced (%(default)s)",
    )
    _add_door(serve)
    serve.add_argument("--verbose", action="store_true", help="log more than warnings")
    return parser


def _add_store(parser: Parser) -> None:
    """Where the races are kept."""
    parser.add_argument(
        "--redis",
        metavar="URL",
        help="store to use: redis://[USER:PASSWORD@]HOST:PORT[/DB], unix:///PATH, "
        "redis+sentinel://HOST:PORT,HOST:PORT/SERVICE[/DB] (the hosts are the sentinels), "
        "redis+cluster://HOST:PORT,HOST:PORT (some nodes); rediss... for TLS, "
        "with ?ssl_ca_certs=FILE for a CA of yours",
    )
    parser.add_argument(
        "--min-replicas",
        type=int,
        default=0,
        metavar="N",
        help="acknowledge a move only when N replicas of the store have it (%(default)s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=default_data(),
        metavar="DIR",
        help="folder of the private store (%(default)s)",
    )


def _add_door(parser: Parser) -> None:
    """Who may come in, by which way, and how much each may ask."""
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="a web site whose pages may connect, like https://play.example; may be repeated. "
        "Programs, which name no site, always may",
    )
    parser.add_argument(
        "--trusted-proxies",
        default=os.environ.get("TRUSTED_PROXIES", ""),
        metavar="NETS",
        help="addresses or networks of proxies whose X-Forwarded-For is believed, with commas "
        "between (default: the variable TRUSTED_PROXIES)",
    )
    parser.add_argument(
        "--tls-cert", type=Path, metavar="FILE", help="certificate chain in PEM form: serve wss://"
    )
    parser.add_argument(
        "--tls-key", type=Path, metavar="FILE", help="its key, if it is not in the same file"
    )
    for name, what in (
        ("actions", "moves and undos of one connection"),
        ("requests", "other requests of one account"),
        ("hellos", "new accounts from one address"),
    ):
        rate = getattr(Limits(), name)
        parser.add_argument(
            f"--limit-{name}",
            type=_rate,
            default=rate,
            metavar="BURST:RATE",
            help=f"{what}: so many at once, and so many a second in the long run, or off "
            f"({rate.burst:g}:{rate.per_s:g})",
        )
    parser.add_argument(
        "--max-connections",
        type=int,
        default=20_000,
        metavar="N",
        help="connections of each process; more are turned away (%(default)s)",
    )
    parser.add_argument(
        "--max-watchers",
        type=int,
        default=10_000,
        metavar="N",
        help="how many of them may watch races; more are told to come later (%(default)s)",
    )


def _rate(text: str) -> Rate | None:
    try:
        return parse_rate(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


async def _serve(settings: Settings, workers: int) -> None:
    stop = stopped_by_signals()
    server = running(settings) if workers == 1 else running_workers(settings, workers)
    async with server as port:
        host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
        scheme = "ws" if settings.tls_cert is None else "wss"
        url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"samedeal serving on {url}", flush=True)
        print(f"open a race: samedeal race --game lanes --server {url}", flush=True)
        await stop.wait()
        print("samedeal stopping", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run the command line. Return the exit code."""
    args = _parser().parse_args(argv)
    log_to_stderr(logging.INFO if args.verbose else logging.WARNING)
    if (sentence := _wrong(args)) is not None:
        return complain(sentence)
    settings = Settings(
        host=args.host,
        port=args.port,
        redis=args.redis,
        data=args.data,
        origins=tuple(args.origin),
        trusted_proxies=args.trusted_proxies,
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        limits=Limits(args.limit_actions, args.limit_requests, args.limit_hellos),
        max_connections=args.max_connections,
        max_watchers=args.max_watchers,
        min_replicas=args.min_replicas,
    )
    try:
        run(_serve(settings, args.workers))
    except CannotServe as error:
        return complain(error)
    return 0


def _wrong(args: argparse.Namespace) -> str | None:
    """Say what cannot be meant; None if nothing is wrong."""
    if not 0 <= args.port <= 65535:
        return f"--port {args.port} is not from 0 to 65535"
    if not 1 <= args.workers <= MAX_WORKERS:
        return f"--workers {args.workers} is not from 1 to {MAX_WORKERS}"
    if args.max_connections < 1:
        return f"--max-connections {args.max_connections} is too few"
    if args.max_watchers < 0:
        return f"--max-watchers {args.max_watchers} is below 0"
    if not 0 <= args.min_replicas <= 100:
        return f"--min-replicas {args.min_replicas} is not from 0 to 100"
    if args.min_replicas and args.redis is None:
        return "the private store has no replicas; name yours by --redis"
    return None


if __name__ == "__main__":
    sys.exit(main())
