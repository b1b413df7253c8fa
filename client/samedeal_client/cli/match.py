"""`samedeal match`: find an opponent of about the same strength, and race."""

import argparse
import asyncio
from contextlib import aclosing
from typing import Final

from samedeal.engine.games import GAMES
from samedeal.protocol import server_messages as say
from samedeal.protocol.match_messages import MatchState
from samedeal_client.cli.account import connected
from samedeal_client.cli.arguments import DEFAULT_SERVER, add_server, name, new_file
from samedeal_client.cli.lines import Lines
from samedeal_client.cli.output import NO, Parser, Voice
from samedeal_client.cli.plain import Plain
from samedeal_client.cli.play import find_opponent, wants_screen
from samedeal_client.connection import Client
from samedeal_client.errors import ClientError, Refused
from samedeal_client.matching import QuickMatch
from samedeal_client.race import Race

__all__ = ["add_parser"]

_ABOUT: Final = (
    "Wait for an opponent of about your strength. When one is found, accept within some seconds "
    "(or decline): the race, which is ranked, begins when both have. If nobody comes for 20 "
    "seconds a bot is offered: bot plays it, unranked; waiting on needs no word. quit leaves. Then "
    "it is played by lines, as race --plain."
)
_WORDS: Final = "accept, decline, bot, quit"


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    parser = commands.add_parser("match", help="race whoever is there", description=_ABOUT)
    parser.add_argument("--game", default="lanes", choices=list(GAMES), help="game (%(default)s)")
    parser.add_argument(
        "--bot-ok", action="store_true", help="take the bot at once when it is offered"
    )
    parser.add_argument("--plain", action="store_true", help="one line in, one line out, as always")
    parser.add_argument(
        "--save", type=new_file, metavar="FILE", help="write the replay file at the end"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--name", type=name, help="play under this name, and come back under it")
    add_server(parser)
    parser.set_defaults(run=lambda args: asyncio.run(_match(args)))


async def _match(args: argparse.Namespace) -> int:
    voice = Voice(as_json=args.json)
    async with connected(args, as_usual=True) as client:
        if wants_screen(args) and not args.bot_ok:
            return await find_opponent(client, args.game)
        lines = Lines()
        race = await _Search(client, args.game, voice, lines, bot_ok=args.bot_ok).race()
        if race is None:
            return NO
        back = ["--name", client.name]
        if args.server != DEFAULT_SERVER:
            back += ["--server", args.server]
        return await Plain(client, race, voice, save=args.save, back=back, lines=lines).run()


class _Search:
    """Tells how the search stands, and takes the words of the player meanwhile."""

    def __init__(
        self, client: Client, game: str, voice: Voice, lines: Lines, *, bot_ok: bool
    ) -> None:
        self._quick: QuickMatch = client.match(game)
        self._voice = voice
        self._lines = lines
        self._bot_ok = bot_ok
        self._is_found = False
        self._accepts_next = False
        """Whether accept was typed ahead; until it is of use nothing more is read."""
        self._has_accepted = False

    async def race(self) -> Race | None:
        """Return the race that comes of it, or None if the player left the queue."""
        async with aclosing(self._quick.events()) as events:
            event = asyncio.create_task(anext(events))
            line: asyncio.Task[str | None] | None = None
            try:
                while True:
                    if line is None and not self._accepts_next and not self._has_accepted:
                        line = asyncio.create_task(self._lines.next())
                    waiting = {event} if line is None else {event, line}
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                    if event.done():
                        now = event.result()
                        await self._tell(now)
                        if now.state is MatchState.READY:
                            return await self._quick.race()
                        if now.state is MatchState.OVER:
                            return None
                        event = asyncio.create_task(anext(events))
                    elif line is not None and line.done():
                        text, line = line.result(), None
                        if not await self._do(text):
                            return None
            finally:
                tasks = [task for task in (event, line) if task is not None]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _tell(self, event: say.Match) -> None:
        rating = f", rating {event.rating}" if event.rating is not None else ""
        seconds = (event.within_ms or 0) // 1000
        text = {
            MatchState.WAITING: f"waiting for an opponent in {event.game}{rating}",
            MatchState.FOUND: f"an opponent is there: accept within {seconds} s, or decline",
            MatchState.BOT_OFFERED: "nobody is here yet: bot plays a bot, or wait on",
            MatchState.READY: "the race begins",
            MatchState.OVER: "you are not in the queue any more",
        }[event.state]
        if event.sentence is not None and event.state is not MatchState.BOT_OFFERED:
            text = event.sentence
        facts = event.model_dump(mode="json", exclude={"type", "id", "sentence"})
        self._voice.say("match", f"* {text}", **facts)
        self._is_found = event.state is MatchState.FOUND
        self._has_accepted = False
        if self._is_found and self._accepts_next:
            self._accepts_next = False
            await self._accept()
        elif event.state is MatchState.BOT_OFFERED and self._bot_ok:
            await self._take_bot()

    async def _do(self, line: str | None) -> bool:
        """Do what the player says. Return whether the search goes on."""
        if line is None:
            raise ClientError("the input ended in the queue: you have left it")
        match line.lower():
            case "accept" if self._is_found:
                await self._accept()
            case "accept":
                self._accepts_next = True
            case "decline" if self._is_found:
                await self._decline()
            case "bot":
                await self._take_bot()
            case "quit" | "leave":
                self._voice.say("done", "ok: left the queue")
                return False
            case _:
                self._refuse(f"in the queue you may say {_WORDS}")
        return True

    async def _accept(self) -> None:
        try:
            await self._quick.accept()
        except Refused as refusal:
            self._refuse(str(refusal))
            return
        self._has_accepted = True
        self._voice.say("done", "ok: accepted")

    async def _decline(self) -> None:
        try:
            await self._quick.decline()
        except Refused as refusal:
            self._refuse(str(refusal))

    async def _take_bot(self) -> None:
        try:
            await self._quick.bot()
        except Refused as refusal:
            self._refuse(str(refusal))

    def _refuse(self, sentence: str) -> None:
        self._voice.say("refused", f"refused: {sentence}", sentence=sentence)
