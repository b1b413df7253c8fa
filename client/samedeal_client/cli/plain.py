"""A race from a pipe or a shell: one line in, one line out; notices start with `* `."""

import asyncio
import shlex
import signal
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from samedeal.engine.cards import HIDDEN, card_text
from samedeal.engine.counts import counted
from samedeal.engine.errors import EngineError
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW, Move
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Phrase, PlayerView, RaceView, Status
from samedeal_client.cli import ghosttext
from samedeal_client.cli.daytext import greeting, way_back
from samedeal_client.cli.lines import MAX_AHEAD, Lines
from samedeal_client.cli.notices import tell
from samedeal_client.cli.order import is_first, rating, tell_result
from samedeal_client.cli.output import FINE, NO, Voice, write
from samedeal_client.cli.phrases import find_phrase, phrase_list, spoken
from samedeal_client.cli.series import series_line
from samedeal_client.connection import Client, Race
from samedeal_client.errors import ClientError, ConnectionLost, Refused, Unanswered
from samedeal_client.ghosts import Ghosts
from samedeal_client.model.words import WORDS, is_words, looked_at, pile_named, spelled

__all__ = ["Plain"]

_HELP = (
    f"{WORDS}, W>T1, T2:3>T1, F (one safe card home), undo, bank, ready, start, look [PILE], "
    "moves, rivals, say [PHRASE], end (when only bots play on), next, leave, help"
)
_AT_ONCE = ("ready", "start", "rivals", "say", "end", "help")
"""Words that are answered even while a move waits for GO or `next` for the close, which may be
waiting for them."""
_NO_LINE = "\n"
"""Stands for no line: none holds its own end."""
RATED_WITHIN_S: Final = 3
NEXT_WITHIN_S: Final = 60
"""How long after the close a script may take to ask for the next deal."""


class Plain:
    """Reads commands from standard input and plays them, each answered by one line."""

    def __init__(
        self,
        client: Client,
        race: Race,
        voice: Voice,
        *,
        save: Path | None,
        back: list[str],
        again: Callable[[RaceView], list[str]] = lambda view: ["join", view.code],
        ghosts: Ghosts | None = None,
        lines: Lines | None = None,
    ) -> None:
        self._client = client
        self._race = race
        self._voice = voice
        self._save = save
        self._back = back
        """What the command that comes back to the seat needs beside the race."""
        self._again = again
        """That command, by the race."""
        self._ghosts = ghosts
        """Recorded runs that it is played against, in a practice race of one seat."""
        self._held: deque[str | None] = deque()
        self._ready_at: int | None = None
        """The version of the room when the server took the last `ready`."""
        self._rounds_played = 0
        self._has_ended = False
        """Whether the own run was banked or left here."""
        self._has_left = False
        self._goes_on = False
        self._lines: Lines
        self._read_already = lines
        """The input, if something was read from it before the race."""

    async def run(self) -> int:
        """Play until the race is closed, and the next ones if asked for. Return the exit code.

        The first Ctrl-C, or SIGTERM, leaves the seat as it is and says how to come back to it.
        """
        loop = asyncio.get_running_loop()
        self._lines = self._read_already or Lines()
        rounds = asyncio.create_task(self._rounds())
        signals = (signal.SIGINT, signal.SIGTERM)
        stopped: list[int] = []

        def stop(number: int) -> None:
            # The second one finds no handler and ends the program at once.
            for each in signals:
                loop.remove_signal_handler(each)
            stopped.append(number)
            rounds.cancel()

        for number in signals:
            loop.add_signal_handler(number, stop, number)
        try:
            return await rounds
        except asyncio.CancelledError:
            if not stopped:
                raise
            self._detach()
            return 128 + stopped[0]
        except ConnectionLost as error:
            raise ConnectionLost(f"{error}; come back with: {self._way_back()}") from None
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    async def _rounds(self) -> int:
        while True:
            code = await self._round()
            if not self._goes_on:
                return code
            self._race = await self._race.next()
            self._has_ended = self._goes_on = False
            self._ready_at = None

    async def _round(self) -> int:
        """Play one race to its end. Return the exit code."""
        self._greet()
        watching = asyncio.create_task(self._watch())
        playing = asyncio.create_task(self._play())
        haunting = asyncio.create_task(self._haunt())
        try:
            await asyncio.wait({watching, playing}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                # It ends by itself when nothing can come any more, which the other one tells.
                watching.result()
            return await playing
        finally:
            for task in (watching, playing, haunting):
                task.cancel()
            await asyncio.gather(watching, playing, haunting, return_exceptions=True)

    async def _play(self) -> int:
        await self._commands()
        if self._has_left:
            return FINE
        code = await self._finish()
        if not self._goes_on and self._race.view.options.seats > 1:
            await self._ask_for_next()
        return code

    def _greet(self) -> None:
        view = self._race.view
        seat = self._race.model.seat
        lines = (
            greeting(view, self._client.name)
            if view.day is not None
            else ghosttext.greeting(view, self._client.name, self._ghosts)
            if self._ghosts is not None
            else [
                f"* room {view.code}: {game(view.game).title}, you are {self._client.name} in seat "
                f"{seat} of {view.options.seats}",
                f"* join with: samedeal join {view.code} --plain",
                f"* the deal is fixed: commitment {view.commitment}",
            ]
        )
        if score := series_line(view, seat):
            lines.append(f"* series: {score}")
        is_room = view.day is None and self._ghosts is None
        if is_room and view.phase is Phase.LOBBY and sys.stdin.isatty():
            lines.append("* say ready when you are; help lists all that can be said")
        self._voice.say(
            "room",
            "\n".join(lines),
            code=view.code,
            game=view.game,
            race=view.id,
            round=view.round,
            seat=seat,
            name=self._client.name,
            commitment=view.commitment,
        )

    def _detach(self) -> None:
        """Say how to come back, if there is something to come back to."""
        if self._race.view.phase is not Phase.CLOSED:
            back = self._way_back()
            text = f"* you are away, your seat is kept; come back with: {back}"
            self._voice.say("away", text, code=self._race.code, command=back)

    def _way_back(self) -> str:
        if self._race.view.day is not None:
            return way_back(self._race.view, self._back)
        return shlex.join(["samedeal", *self._again(self._race.view), *self._back])

    async def _commands(self) -> None:
        """Do the lines of the input, in order; at its end bank, or leave the lobby."""
        closed = asyncio.create_task(self._race.until_closed())
        try:
            while not closed.done() and not self._goes_on:
                line = await self._line_before(closed)
                if line is None:
                    await self._end_of_input()
                    if self._has_left:
                        return
                    break
                if line is not _NO_LINE:
                    await self._do(line)
                if self._has_left:
                    return
            await closed
        finally:
            closed.cancel()
            await asyncio.gather(closed, return_exceptions=True)

    async def _line_before(self, other: "asyncio.Task[None]") -> str | None:
        """Return the next line, None at the end of input, or _NO_LINE if `other` ends first."""
        if self._held:
            return self._held.popleft()
        return await self._new_line_before(other)

    async def _new_line_before(self, other: "asyncio.Task[None]") -> str | None:
        """The same, but let the held lines be."""
        reading = asyncio.create_task(self._lines.next())
        await asyncio.wait({reading, other}, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            return reading.result()
        reading.cancel()
        return _NO_LINE

    async def _end_of_input(self) -> None:
        race = self._race
        if race.view.phase is Phase.LOBBY and not self._is_ready:
            await race.leave()
            raise ClientError("the input ended in the lobby: the seat is given back")
        await race.until_go()
        if race.view.day is not None and not race.model.run.seq:
            # Nothing was done with the one run that ranks: it waits for its player.
            self._detach()
            self._has_left = True
            return
        while race.view.phase is not Phase.CLOSED and not race.table.is_won:
            try:
                await race.bank()
                self._voice.say("banked", "* end of input: the result is banked")
                return
            except Unanswered as error:
                self._voice.say("unanswered", f"* {error}; trying on")
            except Refused:
                # Over already, by a bank typed before or the close; or the seat is lost.
                if not race.is_alive:
                    raise
                return

    @property
    def _me(self) -> PlayerView:
        race = self._race
        return next(player for player in race.view.players if player.seat == race.model.seat)

    @property
    def _is_ready(self) -> bool:
        """Whether the own seat is ready: the room shows it a moment after the server took it."""
        return self._me.ready or self._race.view.ver == self._ready_at

    async def _ready(self) -> None:
        await self._race.ready()
        self._ready_at = self._race.view.ver

    async def _ask_for_next(self) -> None:
        """The race is over: go on with the next one, or end. A script gets some time to say."""
        is_person = not self._lines.is_over and sys.stdin.isatty()
        if is_person and not self._voice.as_json:
            self._voice.say("over", "* next: a new deal in this room; quit: end")
        try:
            async with asyncio.timeout(None if is_person else NEXT_WITHIN_S):
                while not self._goes_on:
                    line = self._held.popleft() if self._held else await self._lines.next()
                    if line is None or line.lower() in ("quit", "leave"):
                        return
                    await self._do(line)
        except TimeoutError:
            return

    async def _do(self, line: str) -> None:
        if not line:
            self._refuse("the line is empty; help lists what can be said")
            return
        word, _, rest = line.partition(" ")
        try:
            match word.lower():
                case "ready":
                    await self._ready()
                    self._voice.say("done", "ok: ready")
                case "start":
                    await self._race.start()
                    self._voice.say("done", "ok: started")
                case "bank":
                    await self._race.bank()
                    self._has_ended = True
                    self._voice.say("done", "ok: banked")
                case "end":
                    await self._race.end_race()
                    self._voice.say("done", "ok: ended")
                case "leave" | "quit":
                    was_lobby = self._race.view.phase is Phase.LOBBY
                    await self._race.leave()
                    self._has_ended, self._has_left = True, was_lobby
                    self._voice.say("done", "ok: left")
                case "next":
                    await self._next()
                case "undo":
                    await self._until_go()
                    ack = await self._race.undo()
                    self._ok(ack, "undone")
                case "look":
                    self._look(rest.strip())
                case "moves":
                    moves = sorted(str(move) for move in self._race.table.legal_moves)
                    self._voice.say("moves", " ".join(moves) or "no legal move", moves=moves)
                case "rivals":
                    self._rivals()
                case "say":
                    await self._say(rest)
                case "help":
                    self._voice.say("help", _HELP)
                case _:
                    await self._move(line)
        except Unanswered as error:
            self._voice.say("unanswered", f"unanswered: {error}", sentence=str(error))
        except (EngineError, Refused) as error:
            if not self._race.is_alive:
                raise
            self._refuse(str(error))

    def _refuse(self, sentence: str) -> None:
        self._voice.say("refused", f"refused: {sentence}", sentence=sentence)

    async def _next(self) -> None:
        """Go on with the next race of the room, when this one is closed."""
        race = self._race
        if race.view.day is not None:
            self._refuse("a day has one deal; no other one follows it")
            return
        if race.view.options.seats == 1:
            self._refuse("practice alone has one deal; open another race")
            return
        is_out = self._has_ended or self._me.status is not Status.PLAYING
        if race.view.phase is not Phase.CLOSED and not is_out:
            self._refuse("the next deal can be had when your run is over; bank ends it")
            return
        await self._until(race.until_closed())
        self._goes_on = True
        self._voice.say("done", "ok: next")

    async def _until_go(self) -> None:
        """A move before GO says ready and waits."""
        race = self._race
        if race.model.has_begun:
            return
        if race.view.phase is Phase.LOBBY and not self._is_ready:
            try:
                await self._ready()
            except Refused as error:
                # It has begun meanwhile; GO is on its way.
                if error.code is not ErrorCode.WRONG_PHASE:
                    raise
        await self._until(race.until_go())

    async def _until(self, waiting: Coroutine[None, None, None]) -> None:
        """Wait, and answer meanwhile what it may be waiting for; the other lines are held."""
        end = asyncio.create_task(waiting)
        try:
            while not end.done() and not self._lines.is_over and len(self._held) < MAX_AHEAD:
                line = await self._new_line_before(end)
                if line is not None and line.partition(" ")[0].lower() in _AT_ONCE:
                    await self._do(line)
                elif line is not _NO_LINE:
                    self._held.append(line)
            await end
        finally:
            end.cancel()

    async def _move(self, line: str) -> None:
        move = None if is_words(line) else Move.parse(line)
        await self._until_go()
        if move is None:
            move = spelled(self._race.table, line)
        if move is None:
            self._refuse("no card is safe to send home now")
            return
        ack = await self._race.move(move)
        if move == DRAW:
            cards = " ".join(map(card_text, ack.reveals))
            self._ok(ack, f"drew {cards}" if cards else "turned the waste over")
        else:
            shown = " ".join(map(card_text, ack.reveals))
            self._ok(ack, f"{move}{f' shows {shown}' if shown else ''}")

    def _ok(self, ack: say.Ack, what: str) -> None:
        table, run = self._race.table, self._race.model.run
        waste = table.pile("W")
        top = card_text(waste[-1]) if waste and waste[-1] != HIDDEN else "empty"
        self._voice.say(
            "ok",
            f"ok {ack.seq}: {what}. waste {top}. home {run.home}, best {run.best}",
            seq=ack.seq,
            t_ms=ack.t_ms,
            hash=ack.hash,
            reveals=[card_text(card) for card in ack.reveals],
            home=run.home,
            best=run.best,
            opened=run.opened,
        )

    def _look(self, pile: str) -> None:
        table = self._race.table
        if not pile:
            self._voice.say("look", str(table), position=str(table))
            return
        name = pile_named(pile)
        if name not in dict(table.rules.piles):
            self._refuse(f"there is no pile {pile[:10]}")
            return
        hidden = table.face_down(name)
        cards = [card_text(card) for card in table.pile(name)[hidden:] if card != HIDDEN]
        text = looked_at(table, name)
        self._voice.say("look", text, pile=name, face_down=hidden, cards=cards)

    async def _say(self, text: str) -> None:
        if not text.strip():
            self._voice.say("phrases", phrase_list(), phrases=list(Phrase))
            return
        phrase = find_phrase(text)
        if phrase is None:
            self._refuse(f"there is no phrase {text.strip()[:20]!r}: {phrase_list()}")
            return
        await self._race.tell(phrase)
        self._voice.say("done", f"ok: said {spoken(phrase)}")

    def _rivals(self) -> None:
        players = sorted(self._race.view.players, key=lambda player: -player.best)
        parts = []
        for player in players:
            name = f"{player.name} (bot)" if player.bot else player.name
            if player.rating is not None:
                name += f" {rating(player.rating, player.provisional)}"
            you = ", you" if player.seat == self._race.model.seat else ""
            away = "" if player.present else ", away"
            moves = counted(player.moves, "move")
            parts.append(
                f"{name}{you}: home {player.home}, best {player.best}, {moves}, "
                f"{player.status.value}{away}"
            )
        ghosts = () if self._ghosts is None else self._ghosts.at(self._race.clock_ms)
        self._voice.say(
            "rivals",
            "; ".join([*parts, *map(ghosttext.words, ghosts)]),
            players=[player.model_dump(mode="json") for player in players],
            ghosts=[asdict(ghost) for ghost in ghosts],
        )

    async def _haunt(self) -> None:
        """Say when a ghost makes its last move, at the time it did."""
        race, ghosts = self._race, self._ghosts
        if ghosts is None:
            return
        await race.until_go()
        t_ms = race.clock_ms
        while race.view.phase is not Phase.CLOSED:
            end_ms = ghosts.next_end_ms(t_ms)
            if end_ms is None:
                return
            await asyncio.sleep(max(0.0, end_ms - race.clock_ms) / 1000)
            for ghost in ghosts.ended_at(end_ms):
                ghosttext.tell_ended(self._voice, ghost, end_ms)
            t_ms = end_ms

    async def _watch(self) -> None:
        async for event in self._race.events():
            tell(self._voice, self._race, event)

    async def _finish(self) -> int:
        with suppress(TimeoutError):
            async with asyncio.timeout(RATED_WITHIN_S):
                await self._race.until_rated()
        view = self._race.view
        self._rounds_played += 1
        path = None
        if self._save and view.order:
            path = self._save
            if self._rounds_played > 1:
                path = path.with_stem(f"{path.stem}-{self._rounds_played}")
            try:
                write(path, await self._race.replay())
            except ClientError:
                tell_result(self._voice, view)
                raise
        tell_result(self._voice, view, replay=None if path is None else str(path))
        if score := series_line(view, self._race.model.seat):
            scores = {str(player.seat): player.series for player in view.players}
            self._voice.say("series", f"* series: {score}", scores=scores)
        if self._ghosts is not None and self._race.model.has_begun:
            seat, run = self._race.model.seat, self._race.model.run
            name = self._client.name
            is_best = ghosttext.tell_comparison(self._voice, self._ghosts, name, run.outcome(seat))
            return FINE if is_best else NO
        return FINE if is_first(view, self._race.model.seat) else NO
