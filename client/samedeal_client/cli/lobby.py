"""`samedeal lobby`: the open rooms, live."""

import argparse
import asyncio
from contextlib import aclosing

from samedeal.engine.counts import counted
from samedeal.engine.games import GAMES
from samedeal.protocol.lobby_messages import LobbyRoom
from samedeal_client.accounts import guest_name
from samedeal_client.cli.arguments import add_server
from samedeal_client.cli.order import rating
from samedeal_client.cli.output import FINE, Parser, Voice
from samedeal_client.connection import Client

__all__ = ["add_parser"]


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    parser = commands.add_parser(
        "lobby",
        help="show the rooms that anybody may join",
        description="Show the rooms whose hosts let anybody in (race --open), and again whenever "
        "they change, until Ctrl-C; join one by its code.",
    )
    parser.add_argument("--game", choices=list(GAMES), help="only rooms of this game")
    parser.add_argument("--once", action="store_true", help="show them once")
    parser.add_argument("--json", action="store_true", help="one JSON object for each list")
    add_server(parser)
    parser.set_defaults(run=lambda args: asyncio.run(_lobby(args)))


async def _lobby(args: argparse.Namespace) -> int:
    voice = Voice(as_json=args.json)
    async with (
        Client(args.server, name=guest_name()) as client,
        aclosing(client.lobby(args.game)) as lists,
    ):
        async for rooms in lists:
            text = "\n".join([_head(rooms), *map(_line, rooms)])
            voice.say("lobby", text, rooms=[room.model_dump(mode="json") for room in rooms])
            if args.once:
                break
    return FINE


def _head(rooms: tuple[LobbyRoom, ...]) -> str:
    if not rooms:
        return "* no room is open; race --open opens one"
    return f"* {counted(len(rooms), 'open room')}"


def _line(room: LobbyRoom) -> str:
    options = room.options
    host = f"{room.host} (bot)" if room.bot else room.host
    if room.rating is not None:
        host += f" {rating(room.rating, room.provisional)}"
    marks = [f"{room.taken} of {options.seats}", f"{options.time_limit_s} s"]
    if options.ranked:
        marks.append("ranked")
    if options.best_of > 1:
        marks.append(f"best of {options.best_of}")
    return f"{room.code}  {room.game}  {host}  ({', '.join(marks)})"
