"""`samedeal chart` and `samedeal card`: a finished race as a picture, and to share as text."""

import argparse
import asyncio
import sys

from samedeal_client.cli.arguments import add_server, new_file, whole
from samedeal_client.cli.output import FINE, Parser, write
from samedeal_client.cli.sources import SOURCE_HELP, chosen, load
from samedeal_client.errors import ClientError
from samedeal_client.replays.card import card_lines
from samedeal_client.replays.chart import chart

__all__ = ["add_parsers"]


def add_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parsers of these commands."""
    chart_ = commands.add_parser(
        "chart",
        help="draw a finished race as an SVG picture",
        description="Draw cards home over time of every player of a finished race, with moves, "
        "draws and undos as marks. The same race always gives the same file.",
    )
    chart_.add_argument("source", metavar="FILE|CODE|RUN", help=SOURCE_HELP)
    chart_.add_argument(
        "-o", "--output", type=new_file, metavar="FILE", help="where it goes (standard output)"
    )
    card = commands.add_parser(
        "card",
        help="a finished race in a few lines to share",
        description="Print a finished race in at most six lines that give no card of it away.",
    )
    card.add_argument("source", metavar="FILE|CODE|RUN", help=SOURCE_HELP)
    for parser, seats in ((chart_, "only these players"), (card, "a player to show in any case")):
        parser.add_argument("--seat", type=whole(1, 8), metavar="N", help=seats)
        add_server(parser)
    chart_.set_defaults(run=_chart)
    card.set_defaults(run=_card)


def _chart(args: argparse.Namespace) -> int:
    if args.output is None and sys.stdout.isatty():
        raise ClientError("a picture is nothing to read on a terminal; name a file: -o race.svg")
    source = asyncio.run(load(args.source, args.server))
    tracks = chosen([source], [args.seat] if args.seat else [])
    drawing = chart(source.replay, tracks)
    if args.output is None:
        print(drawing, end="")
    else:
        write(args.output, drawing)
    return FINE


def _card(args: argparse.Namespace) -> int:
    source = asyncio.run(load(args.source, args.server))
    seat = args.seat or source.seat
    if seat is not None:
        chosen([source], [seat])
    for line in card_lines(source.replay, seat=seat):
        print(line)
    return FINE
