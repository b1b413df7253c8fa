"""`samedeal watch` and `samedeal live`: races of others, as far as they may be seen."""

import argparse
import asyncio
import json
from contextlib import aclosing
from typing import Final

from samedeal.engine.games import game
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, PlayerView, Status
from samedeal_client.accounts import guest_name
from samedeal_client.cli.account import connected
from samedeal_client.cli.arguments import add_server, name, race_or_code, whole
from samedeal_client.cli.order import order_lines, seed_fits
from samedeal_client.cli.output import FINE, NO, Parser, Voice
from samedeal_client.cli.play import wants_screen, watch_race
from samedeal_client.connection import Client
from samedeal_client.errors import Refused
from samedeal_client.replays.text import time_text
from samedeal_client.sight import Sight

__all__ = ["add_parsers"]

_WATCH: Final = (
    "Watch a race by its code, or by the id that samedeal live shows: who moves on, what was "
    "moved, the boards as far as they are shown, and the result. Exit code 1 if it may not be "
    "watched; the sentence says why."
)


def add_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parsers of these commands."""
    watch = commands.add_parser("watch", help="watch a race of others", description=_WATCH)
    watch.add_argument(
        "race", type=race_or_code, metavar="CODE", help="the code of the room, or a race's id"
    )
    watch.add_argument("--plain", action="store_true", help="a line for what happens")
    watch.add_argument("--boards", action="store_true", help="print boards with every line")
    watch.add_argument("--name", type=name, help="watch under this name")
    watch.set_defaults(run=lambda args: asyncio.run(_watch(args)))
    live = commands.add_parser("live", help="list the races that run and may be watched")
    live.add_argument(
        "--limit", type=whole(1, 50), default=20, metavar="N", help="rows, 1 to 50 (20)"
    )
    live.set_defaults(run=lambda args: asyncio.run(_live(args)))
    for parser in (watch, live):
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        add_server(parser)


async def _watch(args: argparse.Namespace) -> int:
    teller = _Teller(Voice(as_json=args.json), with_boards=args.boards)
    async with connected(args) as client:
        if wants_screen(args) and not args.boards:
            return await watch_race(client, args.race)
        try:
            async with aclosing(client.watch(args.race)) as sights:
                async for sight in sights:
                    teller.tell(sight)
        except Refused as refusal:
            if refusal.code is ErrorCode.NOT_FOUND:
                raise
            teller.voice.say("refused", f"! {refusal}", code=refusal.code.value)
            return NO
    return FINE


async def _live(args: argparse.Namespace) -> int:
    async with Client(args.server, name=guest_name()) as client:
        races = await client.live(limit=args.limit)
    if args.json:
        for race in races:
            print(json.dumps(race.model_dump(mode="json")))
        return FINE
    for race in races:
        marks = ["ranked"] * race.ranked + [f"shows {race.shows.value}"]
        if race.crowd:
            marks.append(f"{race.crowd} watching")
        names = ", ".join(race.players)
        print(
            f"{race.code}  {race.game}  {time_text(race.clock_ms)}  {names}  ({'; '.join(marks)})"
        )
    if not races:
        print("no race runs that may be watched")
    return FINE


class _Teller:
    """Says what is new in each sight."""

    def __init__(self, voice: Voice, *, with_boards: bool) -> None:
        self.voice = voice
        self._with_boards = with_boards
        self._last: Sight | None = None

    def tell(self, sight: Sight) -> None:
        """Say what is new since the sight before."""
        last, self._last = self._last, sight
        if last is None:
            self._begin(sight)
        elif sight.is_up is not last.is_up:
            text = "* connected again" if sight.is_up else "* the connection was lost; trying anew"
            self.voice.say("link", text, up=sight.is_up)
        if last is not None and sight.race.phase is not last.race.phase:
            self.voice.say("phase", f"* {_PHASES[sight.race.phase]}", phase=sight.race.phase.value)
        known = {} if last is None else {p.seat: p for p in last.race.players}
        for player in sight.race.players:
            before = known.get(player.seat)
            is_news = before is None or (player.moves, player.status) != (
                before.moves, before.status,
            )  # fmt: skip
            if is_news or player.seat in sight.moved:
                self._player(sight, player)
        if sight.race.phase is Phase.CLOSED:
            self._close(sight)

    def _begin(self, sight: Sight) -> None:
        race = sight.race
        kind = "ranked race" if race.options.ranked else "race"
        lines = [
            f"* watching a {kind} of {game(race.game).title} in room {race.code}: "
            f"{_PHASES[race.phase]}"
        ]
        if sight.reason is not None:
            lines.append(f"* {sight.reason}")
        self.voice.say(
            "watching",
            "\n".join(lines),
            race=race.model_dump(mode="json", exclude_defaults=True),
            shows=sight.shows.value,
            reason=sight.reason,
        )

    def _player(self, sight: Sight, player: PlayerView) -> None:
        board = sight.boards.get(player.seat)
        name_ = f"{player.name} (bot)" if player.bot else player.name
        text = f"{time_text(player.t_ms)} {name_}: home {player.home}, moves {player.moves}"
        if board is not None and board.marks and player.seat in sight.moved:
            text += f", {' '.join(board.marks)}"
        if player.status is not Status.PLAYING:
            text += f", {player.status.value.replace('_', ' ')}"
        table = sight.table(player.seat)
        if self._with_boards and table is not None:
            text += f"\n{table}"
        self.voice.say(
            "player",
            text,
            player=player.model_dump(mode="json", exclude_defaults=True),
            board=None if board is None else board.model_dump(mode="json", exclude_defaults=True),
            position=None if table is None else str(table),
        )

    def _close(self, sight: Sight) -> None:
        race = sight.race
        if race.seed is None:
            self.voice.say("closed", "* the room was closed before the race began", order=[])
            return
        fits = seed_fits(race)
        lines = [
            "* final order",
            *order_lines(race),
            f"* seed {race.seed} {'fits' if fits else 'DOES NOT FIT'} the commitment",
        ]
        order = [row.model_dump(mode="json") for row in race.order]
        self.voice.say("closed", "\n".join(lines), order=order, seed=race.seed, fits=fits)


_PHASES: Final = {
    Phase.LOBBY: "waiting for players",
    Phase.COUNTDOWN: "about to start",
    Phase.RUNNING: "running",
    Phase.CLOSED: "closed",
}
