"""`samedeal ghost`: race the recorded runs of a closed race, marked and unrated."""

import argparse
import asyncio

from samedeal.protocol.fields import RaceView
from samedeal_client.cli.account import connected
from samedeal_client.cli.arguments import DEFAULT_SERVER, add_server, name, new_file, race_id, whole
from samedeal_client.cli.output import Parser, Voice
from samedeal_client.cli.plain import Plain
from samedeal_client.cli.sources import SOURCE_HELP, chosen, load
from samedeal_client.ghosts import Ghosts, open_ghost_race, resume_ghost_race
from samedeal_client.replays import ReplayModel

__all__ = ["add_parser"]


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    ghost = commands.add_parser(
        "ghost",
        help="race recorded runs on their deal",
        description="Play the deal of a finished race, alone, against the recorded progress of who "
        "raced on it: your own run or anyone's. The ghosts are marked, live in this program only, "
        "and nothing of it is ranked. Commands as in `samedeal race`; `rivals` shows the ghosts. "
        "Exit code 0 for a first place among them.",
    )
    ghost.add_argument("source", metavar="FILE|CODE|RUN", help=SOURCE_HELP)
    ghost.add_argument(
        "--seat",
        type=whole(1, 8),
        action="append",
        default=[],
        metavar="N",
        help="only the run of seat N; may be repeated (all)",
    )
    ghost.add_argument(
        "--resume",
        type=race_id,
        metavar="RACE",
        help="go on with the ghost race of this id, which you have left",
    )
    ghost.add_argument(
        "--save", type=new_file, metavar="FILE", help="write the replay file at the end"
    )
    ghost.add_argument("--json", action="store_true", help="one JSON object a line")
    ghost.add_argument("--name", type=name, help="play under this name")
    add_server(ghost)
    ghost.set_defaults(run=lambda args: asyncio.run(_ghost(args)))


async def _ghost(args: argparse.Namespace) -> int:
    source = await load(args.source, args.server)
    # The model tells players of one name apart.
    ghosts = Ghosts(ReplayModel(chosen([source], args.seat)).tracks)
    async with connected(args) as client:
        file = source.replay.file
        if args.resume is None:
            race = await open_ghost_race(client, file)
        else:
            race = await resume_ghost_race(client, file, args.resume)
        back = ["--name", client.name]
        if args.server != DEFAULT_SERVER:
            back += ["--server", args.server]
        plain = Plain(
            client,
            race,
            Voice(as_json=args.json),
            save=args.save,
            back=back,
            again=lambda view: _again(args, view),
            ghosts=ghosts,
        )
        return await plain.run()


def _again(args: argparse.Namespace, view: RaceView) -> list[str]:
    """The command that comes back to a ghost race."""
    if args.source == "-":
        # What was read there is gone: the seat can be had again, the ghosts cannot.
        return ["join", view.code]
    seats = [word for seat in args.seat for word in ("--seat", str(seat))]
    return ["ghost", args.source, *seats, "--resume", view.id]
