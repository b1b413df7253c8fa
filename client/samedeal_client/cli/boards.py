"""`samedeal board`: leaderboards, as a table or one JSON object a line."""

import argparse
import asyncio
import json
import re

from samedeal.engine.games import GAMES, game
from samedeal.protocol.board_messages import Board, BoardKind, Period
from samedeal.protocol.days import date_of
from samedeal_client.cli.account import connected, looking_on
from samedeal_client.cli.arguments import add_server, day, name, whole
from samedeal_client.cli.output import FINE, Parser
from samedeal_client.errors import ClientError
from samedeal_client.model.standings import result_of

__all__ = ["add_parsers"]

_TITLES = {
    BoardKind.WINS: "most races won, then fewer races",
    BoardKind.FASTEST: "quickest win of a ranked race, then fewer moves",
    BoardKind.DAILY: "the deal of the day",
    BoardKind.RATING: "rating",
    BoardKind.STREAK: "days played in a row",
    BoardKind.SEASON: "mean share of the day's players beaten, best five days of the week",
}
_CURSOR = re.compile(r"[ab][0-9a-z.]{1,100}")


def add_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    board = commands.add_parser("board", help="show a leaderboard", description=_HELP)
    board.add_argument("--game", default="lanes", choices=list(GAMES), help="game (%(default)s)")
    board.add_argument(
        "--board",
        default=BoardKind.WINS.value,
        choices=[kind.value for kind in BoardKind],
        help="what it ranks by (%(default)s)",
    )
    board.add_argument(
        "--period",
        choices=[period.value for period in Period],
        help="over how long it counts (all; season: week)",
    )
    board.add_argument(
        "--day",
        type=_date,
        metavar="N|DATE",
        help="the day of a daily board, or one of the week or month meant (today)",
    )
    board.add_argument("--bots", action="store_true", help="the board of the bots")
    board.add_argument("--limit", type=whole(1, 100), default=20, metavar="N", help="rows (20)")
    which = board.add_mutually_exclusive_group()
    which.add_argument("--around", action="store_true", help="the rows around yours")
    which.add_argument("--friends", action="store_true", help="only you and your friends")
    which.add_argument("--page", type=_cursor, metavar="CURSOR", help="a page named by another")
    board.set_defaults(run=lambda args: asyncio.run(_board(args)))
    friend = commands.add_parser("friend", help="name friends, for boards of theirs alone")
    friend.add_argument("what", nargs="?", choices=["add", "remove", "list"], help="what to do")
    friend.add_argument("who", nargs="?", type=name, metavar="NAME", help="the friend")
    friend.set_defaults(run=lambda args: asyncio.run(_friend(args)))
    for parser in (board, friend):
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--name", type=name, help="whose it is (who you were last)")
        add_server(parser)


_HELP = (
    "Show who is best. Equal rows share a place, and the earlier stands first. The last column is "
    "the run that opens as a replay. The last lines name the pages before and after."
)


def _date(text: str) -> str:
    return date_of(day(text)).isoformat()


def _cursor(text: str) -> str:
    if not _CURSOR.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} names no page; take what another page said"
        )
    return text


async def _board(args: argparse.Namespace) -> int:
    async with looking_on(args.server, args.name) as client:
        page = await client.boards.page(
            args.game,
            board=args.board,
            period=args.period,
            day=args.day,
            bots=args.bots,
            around=args.around,
            friends=args.friends,
            page=args.page,
            limit=args.limit,
        )
    lines = _json_lines(page) if args.json else _text_lines(page)
    for line in lines:
        print(line)
    return FINE


async def _friend(args: argparse.Namespace) -> int:
    if args.what is None:
        raise ClientError("say what to do: friend add NAME, friend remove NAME, or friend list")
    if (args.who is None) is not (args.what == "list"):
        wants = "takes no name" if args.what == "list" else "needs the name of a friend"
        raise ClientError(f"friend {args.what} {wants}")
    # Only who names a friend needs an account.
    looks_on = args.what == "list"
    account = looking_on(args.server, args.name) if looks_on else connected(args, as_usual=True)
    async with account as client:
        match args.what:
            case "add":
                friends = await client.boards.befriend(args.who)
            case "remove":
                friends = await client.boards.unfriend(args.who)
            case _:
                friends = await client.boards.friends()
    for friend in friends:
        print(json.dumps(friend.model_dump(mode="json")) if args.json else friend.name)
    if not friends and not args.json:
        print("no friends are named yet: samedeal friend add NAME")
    return FINE


def _json_lines(page: Board) -> list[str]:
    rows = [
        {"type": "row", **row.model_dump(mode="json", exclude_none=True), "bot": page.bots}
        for row in page.rows
    ]
    about = page.model_dump(mode="json", exclude={"id", "rows"}, exclude_none=True)
    return [json.dumps(fields) for fields in (*rows, about)]


def _text_lines(page: Board) -> list[str]:
    who = ", bots" if page.bots else ""
    when = "" if page.period == "all" else f", {page.period}"
    lines = [f"{game(page.game).title}{when}{who}: {_TITLES[page.board]}"]
    own = page.me.player if page.me is not None else ""
    for row in page.rows:
        mark = "*" if row.player == own else " "
        lines.append(f"{row.place:>4}.{mark}{row.name:<24} {result_of(row):<44} {row.run or ''}")
    if not page.rows:
        there_are_bots = "" if page.bots else " (bots have boards of their own: --bots)"
        lines.append(f"nobody is on this board{there_are_bots}")
    if page.me is not None:
        beaten = "" if page.beaten is None else f", ahead of {page.beaten / 100:.2f} %"
        lines.append(f"you: place {page.me.place} of {page.total}{beaten}")
    if page.previous is not None:
        lines.append(f"before: --page {page.previous}")
    if page.next is not None:
        lines.append(f"after: --page {page.next}")
    return lines
