"""A race from a pipe or a shell: one line in, one line out; notices start with `* `."""

import asyncio
import json
import re
import sys
import threading
from collections import deque
from pathlib import Path

from samedeal.engine.cards import HIDDEN, card_text
from samedeal.engine.deals import commitment
from samedeal.engine.errors import AmbiguousMove, EngineError
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW, Move
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase
from samedeal_client.cli.order import is_first, order_lines
from samedeal_client.cli.output import FINE, NO
from samedeal_client.connection import Client, Event, Link, Race
from samedeal_client.errors import ClientError, Refused

__all__ = ["Plain"]

_HELP = (
    "draw, W>T1, T2:3>T1, w 3 (waste to column 3), 4 9 (column 4 to 9), w f (waste home), "
    "undo, bank, ready, start, look [PILE], moves, rivals, leave, help"
)
_AT_ONCE = ("ready", "start", "rivals", "help")
"""Words that are answered even while a move waits for GO, which may be waiting for them."""
_WORDS = re.compile(r"(w|[1-9]|r[12]) (f|[1-9])", re.IGNORECASE)


_NO_LINE = "\n"
"""Stands for no line: none holds its own end."""


class Plain:
    """Reads commands from standard input and plays them, each answered by one line."""

    def __init__(self, client: Client, race: Race, *, as_json: bool, save: str | None) -> None:
        self._client = client
        self._race = race
        self._as_json = as_json
        self._save = save
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._held: deque[str | None] = deque()

    async def run(self) -> int:
        """Play until the race is closed. Return the exit code."""
        self._greet()
        threading.Thread(
            target=_pump, args=(asyncio.get_running_loop(), self._lines), daemon=True
        ).start()
        watcher = asyncio.create_task(self._watch())
        try:
            await self._commands()
            await self._race.until_closed()
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)
        return await self._finish()

    def _greet(self) -> None:
        view = self._race.view
        self._say(
            "room",
            f"* room {view.code}: {game(view.game).title}, you are {self._client.name} in seat "
            f"{self._race.model.seat} of {view.options.seats}",
            code=view.code,
            game=view.game,
            race=view.id,
            seat=self._race.model.seat,
            name=self._client.name,
            commitment=view.commitment,
        )
        if not self._as_json:
            print(f"* join with: samedeal join {view.code} --plain", flush=True)
            print(f"* the deal is fixed: commitment {view.commitment}", flush=True)

    async def _commands(self) -> None:
        """Do the lines of the input, in order; at its end bank, or leave the lobby."""
        closed = asyncio.create_task(self._race.until_closed())
        try:
            while not closed.done():
                if self._held:
                    line = self._held.popleft()
                elif (line := await self._line_before(closed)) is _NO_LINE:
                    return
                if line is None:
                    await self._end_of_input()
                    return
                await self._do(line)
        finally:
            closed.cancel()
            await asyncio.gather(closed, return_exceptions=True)

    async def _line_before(self, other: "asyncio.Task[None]") -> str | None:
        """Return the next line, None at the end of input, or _NO_LINE if `other` ends first."""
        reading = asyncio.create_task(self._lines.get())
        await asyncio.wait({reading, other}, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            return reading.result()
        reading.cancel()
        return _NO_LINE

    async def _end_of_input(self) -> None:
        race = self._race
        me = next(p for p in race.view.players if p.seat == race.model.seat)
        try:
            if race.view.phase is Phase.LOBBY and not me.ready:
                await race.leave()
                raise ClientError("the input ended in the lobby: the seat is given back")
            await race.until_go()
            if race.view.phase is not Phase.CLOSED and not race.table.is_won:
                await race.bank()
                self._say("banked", "* end of input: the result is banked")
        except Refused:
            # Over already, by a win, a bank typed before or the close; or the seat is lost.
            if not race.is_alive:
                raise

    async def _do(self, line: str) -> None:
        if not line:
            self._say("refused", "refused: the line is empty; help lists what can be said")
            return
        word, _, rest = line.partition(" ")
        try:
            match word.lower():
                case "ready":
                    await self._race.ready()
                    self._say("done", "ok: ready")
                case "start":
                    await self._race.start()
                    self._say("done", "ok: started")
                case "bank":
                    await self._race.bank()
                    self._say("done", "ok: banked")
                case "leave" | "quit":
                    await self._race.leave()
                    self._say("done", "ok: left")
                    if self._race.view.phase is Phase.LOBBY:
                        raise SystemExit(FINE)
                case "undo":
                    await self._until_go()
                    ack = await self._race.undo()
                    self._ok(ack, "undone")
                case "look":
                    self._look(rest.strip())
                case "moves":
                    moves = sorted(str(move) for move in self._race.table.legal_moves)
                    self._say("moves", " ".join(moves) or "no legal move", moves=moves)
                case "rivals":
                    self._rivals()
                case "help":
                    self._say("help", _HELP)
                case _:
                    await self._move(_spelled(line, self._race))
        except (EngineError, Refused) as error:
            if not self._race.is_alive:
                raise
            self._say("refused", f"refused: {error}", sentence=str(error))

    async def _until_go(self) -> None:
        """A move before GO says ready and waits."""
        race = self._race
        if race.model.has_begun:
            return
        if race.view.phase is Phase.LOBBY:
            me = next(p for p in race.view.players if p.seat == race.model.seat)
            if not me.ready:
                await race.ready()
        go = asyncio.create_task(race.until_go())
        try:
            while not go.done() and (line := await self._line_before(go)) is not _NO_LINE:
                if line in _AT_ONCE:
                    await self._do(line)
                else:
                    self._held.append(line)
            await go
        finally:
            go.cancel()

    async def _move(self, move: Move) -> None:
        await self._until_go()
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
        self._say(
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
            self._say("look", str(table), position=str(table))
            return
        name = f"T{pile}" if pile.isdigit() else pile.upper()
        if name not in dict(table.rules.piles):
            self._say("refused", f"refused: there is no pile {pile[:10]}")
            return
        hidden = table.face_down(name)
        cards = [card_text(card) for card in table.pile(name)[hidden:] if card != HIDDEN]
        below = f"{hidden} face down, " if hidden else ""
        text = f"{name}: {below}{' '.join(cards) or 'no card face up'}"
        self._say("look", text, pile=name, face_down=hidden, cards=cards)

    def _rivals(self) -> None:
        players = sorted(self._race.view.players, key=lambda player: -player.best)
        parts = []
        for player in players:
            name = f"{player.name} (bot)" if player.bot else player.name
            you = ", you" if player.seat == self._race.model.seat else ""
            away = "" if player.present else ", away"
            parts.append(
                f"{name}{you}: home {player.home}, best {player.best}, {player.moves} moves, "
                f"{player.status.value}{away}"
            )
        self._say(
            "rivals",
            "; ".join(parts),
            players=[player.model_dump(mode="json") for player in players],
        )

    async def _watch(self) -> None:
        async for event in self._race.events():
            self._notice(event)

    def _notice(self, event: Event) -> None:
        view = self._race.view
        match event:
            case say.Room():
                names = ", ".join(
                    f"{p.name}{' (bot)' if p.bot else ''}{' ready' if p.ready else ''}"
                    for p in view.players
                )
                if view.phase is Phase.COUNTDOWN:
                    self._say("countdown", f"* GO in {view.options.countdown_s} s")
                elif view.phase is Phase.LOBBY:
                    self._say("lobby", f"* in the room: {names}")
            case say.Go():
                table = self._race.table
                self._say("go", f"* GO: {table}", position=str(table))
            case say.Progress() if self._as_json:
                players = [player.model_dump(mode="json") for player in event.players]
                self._say("progress", "", players=players)
            case say.Notice():
                self._say("notice", f"* {event.sentence}", about=event.kind)
            case say.TakenOver():
                self._say("taken_over", f"* {event.sentence}")
            case Link():
                words = "the connection is back" if event.is_up else "the connection is lost"
                self._say("link", f"* {words}", up=event.is_up)
            case _:
                pass

    async def _finish(self) -> int:
        view = self._race.view
        if view.seed is None:
            raise ClientError("the room was closed before the race began")
        fits = commitment(game(view.game), bytes.fromhex(view.seed)) == view.commitment
        path = None
        if self._save:
            path = self._save
            try:
                _write(Path(path), await self._race.replay())
            except OSError as error:
                raise ClientError(f"cannot write {path}: {error.strerror}") from None
        if self._as_json:
            order = [row.model_dump(mode="json") for row in view.order]
            self._say("closed", "", order=order, seed=view.seed, fits=fits, replay=path)
        else:
            for line in ["* final order", *order_lines(view)]:
                print(line)
            verdict = "fits the commitment" if fits else "DOES NOT FIT the commitment"
            print(f"* seed {view.seed} {verdict}")
            if path:
                print(f"* replay: {path} (samedeal verify {path})")
            sys.stdout.flush()
        return FINE if is_first(view, self._race.model.seat) else NO

    def _say(self, kind: str, text: str, **facts: object) -> None:
        if self._as_json:
            print(json.dumps({"type": kind, "text": text, **facts}), flush=True)
        else:
            print(text, flush=True)


def _spelled(line: str, race: Race) -> Move:
    """Read a move, in its one form or as the words `w 3`, `4 9`, `r1 f`."""
    words = _WORDS.fullmatch(line)
    if words is None:
        return Move.parse(line)
    source = words[1].upper() if not words[1].isdigit() else f"T{words[1]}"
    if words[2].lower() != "f":
        return Move(source, f"T{words[2]}")
    homes = [
        move
        for move in race.table.legal_moves
        if move.source == source and move.target.startswith("F")
    ]
    started = [move for move in homes if race.table.pile(move.target)] or homes[:1]
    if len(started) > 1:
        raise AmbiguousMove(line, [str(move) for move in started])
    return started[0] if started else Move(source, "F1")


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def _pump(loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[str | None]") -> None:
    """Read standard input in a thread of its own: it may be a terminal, a pipe or a file."""
    try:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line.strip())
        loop.call_soon_threadsafe(lines.put_nowait, None)
    except (RuntimeError, ValueError):
        # The loop or the input is closed: the race is over.
        pass
