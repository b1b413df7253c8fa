"""`samedeal me`: the own account: its name, its devices, all that is stored of it, its end."""

import argparse
import asyncio
import json
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from samedeal.engine.counts import counted
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.limits import LINK_LETTERS
from samedeal_client.accounts import forget, keep, keep_usual, recall_any, usual_name
from samedeal_client.cli.arguments import add_server, link_code, name, new_file
from samedeal_client.cli.output import FINE, Parser, Voice, complain
from samedeal_client.connection import Client
from samedeal_client.errors import ClientError, Refused
from samedeal_client.people import Uncertain
from samedeal_client.wire import addresses

__all__ = ["add_parser"]

_ABOUT = (
    "Show the account you play under here, or do something about it. Without --name it is the one "
    "of last time."
)


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command, with one for each thing to do."""
    me = commands.add_parser("me", help="your account", description=_ABOUT)
    _common(me, None)
    me.set_defaults(run=lambda args: asyncio.run(_with_account(args, _show)))
    todo = me.add_subparsers(metavar="WHAT", parser_class=Parser)

    def add(word: str, what: str, do: "_Deed") -> Parser:
        parser = todo.add_parser(word, help=what, description=f"{what.capitalize()}.")
        _common(parser, argparse.SUPPRESS)
        parser.set_defaults(run=lambda args: asyncio.run(_with_account(args, do)))
        return parser

    rename = add("rename", "take another name; races that are over keep the old one", _rename)
    rename.add_argument("new_name", type=name, metavar="NAME", help="the new name")
    add("rotate", "replace your token: every other device is signed out at once", _rotate)
    add("link", "print a code that lets a second device in", _link)
    export = add("export", "print all that is stored about you as one JSON object", _export)
    export.add_argument("-o", "--output", type=new_file, metavar="FILE", help="write it there")
    delete = add("delete", "delete your account: off the boards, your name is free", _delete)
    delete.add_argument("--yes", action="store_true", help="yes, for good")
    use = todo.add_parser(
        "use",
        help="play here under the account of another device",
        description="Play here under the account of another device, by the code it was given.",
    )
    use.add_argument("code", type=link_code, metavar="CODE", help=f"its {LINK_LETTERS} letters")
    _common(use, argparse.SUPPRESS)
    use.set_defaults(run=lambda args: asyncio.run(_use(args)))


def _common(parser: Parser, default: str | None) -> None:
    parser.add_argument("--name", type=name, default=default, help="the account of this name")
    parser.add_argument(
        "--json",
        action="store_true",
        default=False if default is None else default,
        help="one JSON object a line",
    )
    add_server(parser, is_below=default is not None)


@dataclass(frozen=True, slots=True)
class _Mine:
    """The account of a command, and under which name its token is kept here."""

    client: Client
    nodes: tuple[str, ...]
    kept_as: str
    voice: Voice

    def keep(self, token: str, kept_as: str) -> None:
        """Keep a token under a name, at every node."""
        for node in self.nodes:
            keep(node, kept_as, token)

    def is_usual(self) -> bool:
        """Whether it is the account of last time."""
        return self.kept_as in map(usual_name, self.nodes)


_Deed = Callable[[argparse.Namespace, _Mine], Awaitable[int]]


@asynccontextmanager
async def _account(args: argparse.Namespace) -> AsyncIterator[_Mine]:
    """Sign in to the account that is kept here. Raise ClientError if none is."""
    nodes = tuple(addresses(args.server))
    kept_as = args.name or next(filter(None, map(usual_name, nodes)), None)
    token = recall_any(nodes, kept_as) if kept_as else None
    if kept_as is None or token is None:
        whose = f"of the name {kept_as}" if kept_as else "of yours"
        raise ClientError(f"no account {whose} is kept here; play once, or say --name or me use")
    async with Client(args.server, token=token) as client:
        yield _Mine(client, nodes, kept_as, Voice(as_json=args.json))


async def _with_account(args: argparse.Namespace, do: _Deed) -> int:
    if do is _delete and not args.yes:
        return complain("this deletes your account for good; say --yes if you mean it")
    async with _account(args) as mine:
        return await do(args, mine)


async def _show(_: argparse.Namespace, mine: _Mine) -> int:
    view = await mine.client.people.account()
    facts = view.model_dump(mode="json", exclude={"type", "id"})
    since = ""
    if view.since_ms:
        since = f", since {datetime.fromtimestamp(view.since_ms / 1000).astimezone():%Y-%m-%d}"
    devices = counted(view.devices, "device")
    bot = " (bot)" if view.bot else ""
    mine.voice.say("me", f"{view.name}{bot}, player {view.player}{since}, {devices}", **facts)
    return FINE


async def _rename(args: argparse.Namespace, mine: _Mine) -> int:
    view = await mine.client.people.rename(args.new_name)
    was_usual = mine.is_usual()
    mine.keep(mine.client.token or "", view.name)
    for node in mine.nodes:
        if view.name != mine.kept_as:
            forget(node, mine.kept_as)
        if was_usual:
            keep_usual(node, view.name)
    mine.voice.say("renamed", f"you are {view.name} now", name=view.name, player=view.player)
    return FINE


async def _rotate(args: argparse.Namespace, mine: _Mine) -> int:
    try:
        token = await mine.client.people.rotate()
    except Uncertain as doubt:
        # Whoever gets in with the new one has it.
        try:
            async with Client(args.server, token=doubt.token):
                token = doubt.token
        except Refused:
            raise ClientError("the token was not replaced; try again") from None
    mine.keep(token, mine.kept_as)
    mine.voice.say("rotated", "your token is new: every other device is signed out")
    return FINE


async def _link(_: argparse.Namespace, mine: _Mine) -> int:
    made = await mine.client.people.link()
    minutes = made.lasts_ms // 60_000
    text = f"on the other device, within {minutes} minutes: samedeal me use {made.code}"
    mine.voice.say("link", text, code=made.code, lasts_ms=made.lasts_ms)
    return FINE


async def _export(args: argparse.Namespace, mine: _Mine) -> int:
    stored = await mine.client.people.export()
    text = json.dumps(stored, ensure_ascii=False, indent=None if mine.voice.as_json else 2)
    if args.output is None:
        print(text)
        return FINE
    try:
        # Whole or not at all, and for its owner's eyes.
        number, part = tempfile.mkstemp(dir=args.output.parent, prefix=".export-")
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
            os.replace(part, args.output)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part)
            raise
    except OSError as error:
        return complain(f"cannot write {args.output}: {error.strerror}")
    mine.voice.say("exported", f"all that is stored is in {args.output}", file=str(args.output))
    return FINE


async def _delete(_: argparse.Namespace, mine: _Mine) -> int:
    await mine.client.people.delete()
    _forget_all(mine.nodes, mine.kept_as)
    mine.voice.say("deleted", f"the account {mine.kept_as} is deleted", name=mine.kept_as)
    return FINE


async def _use(args: argparse.Namespace) -> int:
    nodes = addresses(args.server)
    # Kept before it is used: if the answer is lost, the same command asks for it again.
    asked_as = f"link {args.code}"
    secret = recall_any(nodes, asked_as) or secrets.token_hex(32)
    for node in nodes:
        keep(node, asked_as, secret)
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(
                Client(args.server, link=args.code, secret=secret)
            )
        except Refused as refusal:
            if refusal.code is ErrorCode.NOT_FOUND:
                _forget_all(nodes, asked_as)
            raise
        assert client.token is not None
        kept_as = args.name or client.name
        for node in nodes:
            keep(node, kept_as, client.token)
            keep_usual(node, kept_as)
        _forget_all(nodes, asked_as)
        voice = Voice(as_json=args.json)
        text = f"you are {client.name} here, too"
        voice.say("linked", text, name=client.name, player=client.player)
    return FINE


def _forget_all(nodes: Iterable[str], kept_as: str) -> None:
    for node in nodes:
        forget(node, kept_as)
