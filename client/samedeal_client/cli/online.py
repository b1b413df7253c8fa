"""Commands that talk to a server: race, join, bot."""

import argparse
import asyncio
from contextlib import aclosing

from samedeal.engine.games import GAMES
from samedeal.protocol.days import DAILY_GAMES
from samedeal.protocol.fields import Phase
from samedeal.protocol.match_messages import MatchState
from samedeal_client import bot
from samedeal_client.cli.account import connected
from samedeal_client.cli.arguments import (
    DEFAULT_SERVER,
    add_server,
    code,
    name,
    new_file,
    pace,
    seed,
    whole,
)
from samedeal_client.cli.daily import play_as_bot
from samedeal_client.cli.order import is_first, tell_result
from samedeal_client.cli.output import FINE, NO, Parser, Voice
from samedeal_client.cli.plain import Plain
from samedeal_client.cli.play import can_draw, play_race, wants_screen
from samedeal_client.connection import Client
from samedeal_client.errors import ClientError
from samedeal_client.race import Race

__all__ = ["add_parsers"]

DAY_S = 24 * 3600


def add_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parsers of these commands."""
    race = commands.add_parser("race", help="open a room and race", description=_RACE)
    _add_room(race)
    join = commands.add_parser("join", help="join a race by its code", description=_RACE)
    join.add_argument("code", type=code, metavar="CODE", help="the code that the host was shown")
    bot_ = commands.add_parser(
        "bot", help="a labelled bot: joins a race, opens one, or waits in quick match"
    )
    _add_bot(bot_)
    for parser in (race, join):
        parser.add_argument("--plain", action="store_true", help="one line in, one line out")
        parser.add_argument(
            "--save", type=new_file, metavar="FILE", help="write the replay file at the end"
        )
    for parser in (race, join, bot_):
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        add_server(parser)
    under = "play under this name, and come back under it"
    for parser in (race, join):
        last = "(at a terminal that of last time, else a new guest)"
        parser.add_argument("--name", type=name, help=f"{under} {last}")
    bot_.add_argument("--name", type=name, help=under)
    race.set_defaults(run=lambda args: asyncio.run(_play(args)))
    join.set_defaults(run=lambda args: asyncio.run(_play(args)))
    bot_.set_defaults(run=lambda args: asyncio.run(_bot(args)))


def _add_room(parser: Parser) -> None:
    """What can be agreed on in a room."""
    parser.add_argument("--game", default="lanes", choices=list(GAMES), help="game (%(default)s)")
    parser.add_argument("--seats", type=whole(2, 8), metavar="N", help="seats, 2 to 8 (2)")
    parser.add_argument(
        "--time-limit", type=whole(10, DAY_S), metavar="S", help="seconds until the close (900)"
    )
    parser.add_argument(
        "--last-call",
        type=whole(0, DAY_S),
        metavar="S",
        help="seconds the others have after a win (60)",
    )
    parser.add_argument("--countdown", type=whole(0, 60), metavar="S", help="seconds before GO (3)")
    parser.add_argument(
        "--undo", choices=["safe", "none", "free"], help="what may be taken back (safe)"
    )
    parser.add_argument(
        "--spectating",
        choices=["boards", "shape", "counts", "off"],
        help="what others may see (boards; shape if ranked)",
    )
    parser.add_argument(
        "--watch-delay", type=whole(0, 600), metavar="S", help="seconds that boards come late (0)"
    )
    parser.add_argument("--ranked", action="store_true", default=None, help="a ranked race")
    parser.add_argument(
        "--no-bots", dest="bots", action="store_false", default=None, help="let no bots in"
    )
    parser.add_argument(
        "--best-of",
        type=int,
        choices=[1, 3, 5],
        metavar="N",
        help="a series of 1, 3 or 5 races, until one has won more than half of them (1)",
    )
    parser.add_argument(
        "--open",
        action="store_true",
        default=None,
        help="show the room in the lobby, so that anybody may join; else only who has the code",
    )
    parser.add_argument("--seed", type=seed, metavar="TEXT", help="deal this seed: a practice race")


def _add_bot(parser: Parser) -> None:
    """Where a bot plays, and how."""
    parser.add_argument(
        "code", type=code, metavar="CODE", nargs="?", help="the race to join; else it opens a room"
    )
    parser.add_argument(
        "--game", default="lanes", choices=list(GAMES), help="the game of its own room"
    )
    parser.add_argument(
        "--daily", action="store_true", help="play the deal of the day, on the bots' own board"
    )
    parser.add_argument(
        "--match", action="store_true", help="wait in quick match for a person who takes a bot"
    )
    parser.add_argument("--strategy", choices=["greedy"], default="greedy", help="how it plays")
    parser.add_argument(
        "--seed",
        type=whole(0, 2**31),
        default=0,
        metavar="N",
        help="for its choice among equal moves (0)",
    )
    parser.add_argument("--pace", type=pace, default=0.5, metavar="S", help="seconds a move (0.5)")


_RACE = (
    "On a terminal this opens the terminal client. In a pipe, or with --plain, --json or --save, "
    "play by lines: a move a line (draw, W>T1, T2:3>T1), or undo, bank, ready, start, look, moves, "
    "rivals, end, leave, help. A move typed before GO says ready and waits. At the end of "
    "input the result is banked, and the final order is awaited. Exit code 0 for a first place."
)


def _options(args: argparse.Namespace) -> dict[str, object]:
    given = {
        "seats": args.seats,
        "time_limit_s": args.time_limit,
        "last_call_s": args.last_call,
        "countdown_s": args.countdown,
        "undo": args.undo,
        "spectating": args.spectating,
        "watch_delay_s": args.watch_delay,
        "ranked": args.ranked,
        "bots": args.bots,
        "best_of": args.best_of,
        "listed": args.open,
    }
    return {name: value for name, value in given.items() if value is not None}


async def _play(args: argparse.Namespace) -> int:
    # At a terminal it is the person who plays in the terminal client, unless another is named.
    async with connected(args, as_usual=can_draw() and args.name is None) as client:
        if args.command == "race":
            race = await client.create_race(args.game, seed=args.seed, **_options(args))
        else:
            race = await client.join(args.code)
        if wants_screen(args):
            return await play_race(client, race)
        voice = Voice(as_json=args.json)
        back = ["--name", client.name]
        if args.server != DEFAULT_SERVER:
            back += ["--server", args.server]
        return await Plain(client, race, voice, save=args.save, back=back).run()


async def _bot(args: argparse.Namespace) -> int:
    if args.daily:
        if args.code is not None or args.game not in DAILY_GAMES:
            games = ", ".join(DAILY_GAMES)
            raise ClientError(f"--daily takes no code, and one of the games {games}")
        if args.match:
            raise ClientError("a bot plays the daily or waits in quick match, not both")
        return await play_as_bot(args)
    if args.match and args.code is not None:
        raise ClientError("--match takes no code: quick match opens the room")
    voice = Voice(as_json=args.json)
    async with connected(args, is_bot=True) as client:
        if args.match:
            race = await _matched(client, args.game, voice)
        else:
            race = await (client.join(args.code) if args.code else client.create_race(args.game))
        voice.say(
            "room",
            f"{client.name} (bot) sits in room {race.code}",
            code=race.code,
            game=race.view.game,
            race=race.id,
            seat=race.model.seat,
            name=client.name,
            commitment=race.view.commitment,
        )
        if race.view.phase is Phase.LOBBY:
            await race.ready()
        await bot.play(race, seed=args.seed, pace_s=args.pace)
        tell_result(voice, race.view)
        return FINE if is_first(race.view, race.model.seat) else NO


async def _matched(client: Client, game_id: str, voice: Voice) -> Race:
    """Wait in the queue until a person takes this bot."""
    match = client.match(game_id)
    async with aclosing(match.events()) as events:
        async for event in events:
            if event.state is MatchState.WAITING:
                text = f"{client.name} (bot) waits in quick match of {game_id}"
                voice.say("match", text, game=game_id, state=event.state.value)
            elif event.state is MatchState.OVER:
                raise ClientError(event.sentence or "the bot is not in the queue any more")
    return await match.race()
