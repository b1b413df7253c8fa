"""`samedeal daily`: the deal of the day, the same for everybody; the first run ranks."""

import argparse
import asyncio
from datetime import datetime
from typing import Final

from samedeal.protocol import server_messages as say
from samedeal.protocol.daily_messages import DayGame
from samedeal.protocol.days import DAILY_GAMES
from samedeal_client import bot
from samedeal_client.cli import daytext
from samedeal_client.cli.account import connected, looking_on
from samedeal_client.cli.arguments import DEFAULT_SERVER, add_server, day, name, new_file
from samedeal_client.cli.order import tell_result
from samedeal_client.cli.output import FINE, NO, Parser, Voice
from samedeal_client.cli.plain import Plain
from samedeal_client.cli.play import play_race, wants_screen
from samedeal_client.connection import Client

__all__ = ["add_parser", "play_as_bot"]

_ABOUT: Final = (
    "Play the deal of the day: it is the same for everybody, a new one each day at 00:00 UTC. Your "
    "first run ranks, and its clock does not stop: leave it and come back by the same command. "
    "Afterwards, and for days that are past, it is practice. Moves are typed as in race; at the "
    "end of input the result is banked, if a move was made. Without --name you play under the name "
    "of last time."
)


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    parser = commands.add_parser("daily", help="play the deal of the day", description=_ABOUT)
    parser.add_argument("--game", choices=DAILY_GAMES, help="game (the featured one of the day)")
    parser.add_argument(
        "--day", type=day, metavar="N|DATE", help="a day by number or date, as 2026-11-30 (today)"
    )
    parser.add_argument("--practice", action="store_true", help="play it once more, unranked")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--info", action="store_true", help="show the day, play nothing")
    what.add_argument(
        "--share", action="store_true", help="print a card of the result that tells no cards"
    )
    parser.add_argument("--plain", action="store_true", help="one line in, one line out")
    parser.add_argument(
        "--save", type=new_file, metavar="FILE", help="write the replay file at the end"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--name", type=name, help="play under this name, and come back under it")
    add_server(parser)
    parser.set_defaults(run=lambda args: asyncio.run(_daily(args)))


async def _daily(args: argparse.Namespace) -> int:
    voice = Voice(as_json=args.json)
    looks_on = args.info or args.share
    account = looking_on(args.server, args.name) if looks_on else connected(args, as_usual=True)
    async with account as client:
        daily = await client.daily(args.game, day=args.day)
        if args.info:
            lines = daytext.day_lines(daily, datetime.now().astimezone())
            text = "\n".join([*lines, "the days to come:", *daytext.coming(daily)])
            voice.say("day", text, **_facts(daily))
            return FINE
        game_id = args.game or daily.featured
        each = next(each for each in daily.games if each.game == game_id)
        if args.share:
            return _share(voice, daily, each)
        return await _play(args, client, voice, daily, each)


async def _play(
    args: argparse.Namespace, client: Client, voice: Voice, daily: say.Daily, each: DayGame
) -> int:
    if daytext.is_over(each) and not args.practice:
        _tell_day(voice, daily, each)
        voice.say(
            "played",
            "* you have played it: --share prints your result, --practice plays it once more",
        )
        return FINE
    # A day that is over can be practised only: its number says it all.
    practice = args.practice or (daily.closed and args.day is not None)
    race = await client.play_daily(each.game, day=args.day, practice=practice)
    tag = race.view.day
    if tag is not None and tag.number != daily.day:
        # It is past midnight, and the run of yesterday may go on for an hour.
        voice.say("resumed", f"* {daytext.goes_on_first(tag)}", day=tag.number, date=tag.date)
        daily = await client.daily(each.game, day=tag.number)
        (each,) = daily.games
    _tell_day(voice, daily, each)
    if wants_screen(args):
        return await play_race(client, race, daily)
    back = ["--name", client.name]
    if args.server != DEFAULT_SERVER:
        back += ["--server", args.server]
    return await Plain(client, race, voice, save=args.save, back=back).run()


def _tell_day(voice: Voice, daily: say.Daily, each: DayGame) -> None:
    shown = daily.model_copy(update={"games": (each,)})
    # The commitment is told with the board.
    lines = daytext.day_lines(shown, datetime.now().astimezone(), is_whole=False)
    voice.say("day", "\n".join(f"* {line.strip()}" for line in lines), **_facts(shown))


def _share(voice: Voice, daily: say.Daily, each: DayGame) -> int:
    if not daytext.is_over(each):
        how = "not played" if each.own is None else "still on"
        voice.say("no_result", f"no result to share: day {daily.day} of {each.game} is {how}")
        return NO
    voice.say("card", daytext.card(daily, each), **_facts(daily, each))
    return FINE


def _facts(daily: say.Daily, only: DayGame | None = None) -> dict[str, object]:
    facts: dict[str, object] = daily.model_dump(mode="json", exclude={"type", "id"})
    if only is not None:
        facts |= {"games": [only.model_dump(mode="json")], "coming": []}
    return facts


async def play_as_bot(args: argparse.Namespace) -> int:
    """Have a bot play the deal of today; it ranks on the bots' own board."""
    voice = Voice(as_json=args.json)
    async with connected(args, is_bot=True) as client:
        daily = await client.daily(args.game)
        (each,) = daily.games
        if daytext.is_over(each):
            voice.say("played", f"{client.name} (bot) has played it: {daytext.own_line(each)}")
            return FINE
        race = await client.play_daily(args.game)
        voice.say("day", "\n".join(daytext.greeting(race.view, f"{client.name} (bot)")))
        await bot.play(race, seed=args.seed, pace_s=args.pace)
        tell_result(voice, race.view)
        return FINE
