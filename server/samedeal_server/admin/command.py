"""`samedeal-admin`: the program of operators. It works on the store, with or without a server."""

import argparse
import asyncio
import datetime
import getpass
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path

from samedeal.engine.counts import counted
from samedeal.engine.games import GAMES
from samedeal.protocol import days
from samedeal_server.admin.operators import CannotDo, Operators
from samedeal_server.command_line import Parser, complain, default_data
from samedeal_server.errors import CannotServe, StoreUnavailable
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.embedded import EmbeddedStore, left_running

__all__ = ["main"]

_PROGRAM = "samedeal-admin"
_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_LONGEST = 400 * 86_400_000
_Deed = Callable[[Operators, argparse.Namespace], Awaitable[None]]


def main(argv: list[str] | None = None) -> int:
    """Run the command line. Return the exit code: 0 fine, 2 it cannot be done."""
    args = _parser().parse_args(argv)
    try:
        asyncio.run(_run(args))
    except (CannotDo, CannotServe) as error:
        return complain(error, _PROGRAM)
    except StoreUnavailable as error:
        return complain(f"{error}; the same command again is safe", _PROGRAM)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=_PROGRAM,
        description="Operate a samedeal service: bans, results, days, boards, announcements. Every "
        "deed can be undone and is written into a log for good.",
    )
    parser.add_argument("--redis", metavar="URL", help="store, as for samedeal serve")
    parser.add_argument(
        "--data",
        type=Path,
        default=default_data(),
        metavar="DIR",
        help="folder of the private store, whether its server runs or not (%(default)s)",
    )
    parser.add_argument("--as", dest="who", default=_me(), type=_line, help="your name in the log")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=Parser
    )

    def add(word: str, what: str, do: _Deed, *, why: bool = True) -> argparse.ArgumentParser:
        command = commands.add_parser(word, help=what, description=f"{what.capitalize()}.")
        if why:
            command.add_argument("--why", type=_why, default="", help="the reason, for the log")
        command.set_defaults(do=do)
        return command

    def with_id(word: str, what: str, do: _Deed, read: Callable[[str], str], name: str) -> _Add:
        command = add(word, what, do)
        command.add_argument("which", type=read, metavar=name)
        return command

    add("player", "show an account, by id or by name", _player, why=False).add_argument(
        "which", type=_line, metavar="ID|NAME"
    )
    ban = with_id("ban", "ban an account: out at once, and off all boards", _ban, _id, "PLAYER")
    ban.add_argument("--for", dest="for_ms", type=_span, metavar="TIME", help="like 30m, 12h, 7d")
    with_id("unban", "lift a ban: back on all boards", _unban, _id, "PLAYER")
    rename = with_id("rename", "give an account another name", _rename, _id, "PLAYER")
    rename.add_argument("name", type=_line, metavar="NAME")
    with_id("remove", "take a result off all boards", _remove, _run_id, "RUN")
    with_id("restore", "put a removed result back", _remove, _run_id, "RUN")
    with_id("void", "void a race: no board and no rating counts it", _void, _id, "RACE")
    with_id("unvoid", "count a voided race again", _void, _id, "RACE")
    for word, what in (
        ("void-day", "void a day: neutral for streaks, not in the season"),
        ("unvoid-day", "count a voided day again"),
    ):
        day = add(word, what, _void_day)
        day.add_argument("day", type=_day, metavar="N|DATE")
        day.add_argument("--game", choices=days.DAILY_GAMES, help="of this game only")
    rebuild = add("rebuild", "make boards, ratings and streaks anew from the results", _rebuild)
    rebuild.add_argument("--game", choices=list(GAMES), help="of this game only")
    announce = add("announce", "say something to everybody, also to who comes later", _announce)
    announce.add_argument("text", type=_line, metavar="TEXT")
    announce.add_argument(
        "--for", dest="for_ms", type=_span, default=_UNITS_MS["h"], metavar="TIME", help="(1h)"
    )
    with_id("unsay", "say it no more", _unsay, _line, "ID")
    add("announced", "list what is being said", _announced, why=False)
    add("flags", "list results of an implausible pace", _flags, why=False)
    log = add("log", "list what operators did, the latest first", _log, why=False)
    log.add_argument("--limit", type=_count, default=50, metavar="N", help="deeds (%(default)s)")
    return parser


_Add = argparse.ArgumentParser


@asynccontextmanager
async def _store(args: argparse.Namespace) -> AsyncIterator[str]:
    """The URL of the store: the one named, or the private one, started if no server runs it."""
    if args.redis is not None:
        yield args.redis
    elif (url := left_running(args.data)) is not None:
        yield url
    elif not (args.data / "appendonlydir").is_dir():
        raise CannotServe(f"there is no store in {args.data}; name one by --data or --redis")
    else:
        async with EmbeddedStore(args.data) as url:
            yield url


async def _run(args: argparse.Namespace) -> None:
    async with _store(args) as url:
        redis = StoreAddress.parse(url).client()
        try:
            await args.do(Operators(redis, args.who), args)
        finally:
            await redis.aclose()


# What each command does


async def _player(operators: Operators, args: argparse.Namespace) -> None:
    profile = await operators.player(args.which)
    account = profile.account
    bot, ban = " (bot)" if account.bot else "", account.ban
    since = f", since {_time(profile.since_ms)}" if profile.since_ms else ""
    until = ""
    if ban is not None:
        end = "for good" if not ban.until_ms else f"until {_time(ban.until_ms)}"
        until = f", banned {end}: {ban.why}"
    text = f"{account.player} {account.name}{bot}{since}{until}"
    _say(args, text, **asdict(profile))


async def _ban(operators: Operators, args: argparse.Namespace) -> None:
    told = await operators.ban(args.which, args.for_ms, args.why)
    _done(args, f"{args.which} is told: {told}")


async def _unban(operators: Operators, args: argparse.Namespace) -> None:
    await operators.unban(args.which, args.why)
    _done(args, f"{args.which} may play again")


async def _rename(operators: Operators, args: argparse.Namespace) -> None:
    await operators.rename(args.which, args.name, args.why)
    _done(args, f"{args.which} has a new name")


async def _remove(operators: Operators, args: argparse.Namespace) -> None:
    restore = args.command == "restore"
    await operators.remove(args.which, args.why, restore=restore)
    _done(args, f"{args.which} is {'on the boards again' if restore else 'off all boards'}")


async def _void(operators: Operators, args: argparse.Namespace) -> None:
    unvoid = args.command == "unvoid"
    await operators.void(args.which, args.why, unvoid=unvoid)
    _done(args, f"{args.which} {'counts again' if unvoid else 'is void'}")


async def _void_day(operators: Operators, args: argparse.Namespace) -> None:
    unvoid = args.command == "unvoid-day"
    games = [args.game] if args.game else days.DAILY_GAMES
    await operators.void_day(args.day, games, args.why, unvoid=unvoid)
    whose = args.game or "all games"
    _done(args, f"day {args.day} of {whose} {'counts again' if unvoid else 'is void'}")


async def _rebuild(operators: Operators, args: argparse.Namespace) -> None:
    counts = await operators.rebuild([args.game] if args.game else list(GAMES), args.why)
    for game, count in counts.items():
        _say(args, f"{game}: made anew from {counted(count, 'result')}", game=game, results=count)


async def _announce(operators: Operators, args: argparse.Namespace) -> None:
    said = await operators.announce(args.text, args.for_ms, args.why)
    _say(args, f"said, as {said}", announcement=said)


async def _unsay(operators: Operators, args: argparse.Namespace) -> None:
    await operators.unsay(args.which, args.why)
    _done(args, f"{args.which} is said no more")


async def _announced(operators: Operators, args: argparse.Namespace) -> None:
    for said in await operators.announced():
        text = f"{said.id} until {_time(said.until_ms)}: {said.text}"
        _say(args, text, announcement=said.id, until_ms=said.until_ms, said=said.text)


async def _flags(operators: Operators, args: argparse.Namespace) -> None:
    for flag in await operators.flags():
        text = f"{_time(flag.at_ms)} {flag.run} {flag.game} player {flag.player}: {flag.why}"
        _say(args, text, **asdict(flag))


async def _log(operators: Operators, args: argparse.Namespace) -> None:
    for deed in await operators.log(args.limit):
        why = f" because {deed.why}" if deed.why else ""
        detail = f" ({deed.detail})" if deed.detail else ""
        text = f"{_time(deed.at_ms)} {deed.who}: {deed.did} {deed.what}{why}{detail}"
        _say(args, text, **asdict(deed))


def _done(args: argparse.Namespace, text: str) -> None:
    _say(args, text, done=args.command)


def _say(args: argparse.Namespace, text: str, **facts: object) -> None:
    print(json.dumps({"text": text, **facts}, ensure_ascii=False) if args.json else text)


def _time(ms: int) -> str:
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Arguments, each with a sentence of its own


def _id(text: str) -> str:
    if not re.fullmatch("[0-9a-z]{16}", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no id of 16 letters and digits")
    return text


def _run_id(text: str) -> str:
    if not re.fullmatch(r"[0-9a-z]{16}\.[1-8]", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no run: a race id, a dot, a seat")
    return text


def _span(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhdw])", text)
    span_ms = int(found[1]) * _UNITS_MS[found[2]] if found else 0
    if not 0 < span_ms <= _LONGEST:
        sentence = f"{text[:20]!r} is no time: a number and m, h, d or w, up to 400d, like 7d"
        raise argparse.ArgumentTypeError(sentence)
    return span_ms


def _day(text: str) -> int:
    try:
        return days.named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not from 1 to 1000")
    return int(text)


def _line(text: str) -> str:
    if not 1 <= len(text) <= 300 or not text.isprintable():
        raise argparse.ArgumentTypeError("a text is one line of 1 to 300 printable characters")
    return text


def _why(text: str) -> str:
    return text and _line(text)


def _me() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "operator"


if __name__ == "__main__":
    sys.exit(main())
