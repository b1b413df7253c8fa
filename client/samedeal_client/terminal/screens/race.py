"""The race: own board, everyone's tracks, one sentence, the keys."""

import time

from textual.app import ComposeResult
from textual.containers import Horizontal

from samedeal.engine.run import UndoPolicy
from samedeal_client.errors import ClientError
from samedeal_client.model.board import Picture
from samedeal_client.model.ink import Ink, Row, row
from samedeal_client.model.keys import Action, Section
from samedeal_client.model.play import Do, Wish
from samedeal_client.model.waiting import only_bots, waiting
from samedeal_client.model.window import Window, header, key_bar, message
from samedeal_client.terminal.screens.base import BaseScreen
from samedeal_client.terminal.seat import Seat
from samedeal_client.terminal.widgets.sheet import Sheet

__all__ = ["RaceScreen"]

CLOCK_S = 0.25


class RaceScreen(BaseScreen):
    """A running race of one's own."""

    section = Section.RACE

    picture: Picture = Picture([])

    def compose(self) -> ComposeResult:
        yield Sheet(id="header")
        with Horizontal(id="middle"):
            yield Sheet(id="board")
            yield Sheet(id="rule")
            yield Sheet(id="panel")
        yield Sheet(id="foot")
        yield Sheet(id="message")
        yield Sheet(id="keys")

    def on_mount(self) -> None:
        self.set_interval(CLOCK_S, self._show_clock)
        self.redraw()

    def _show(self, name: str, rows: list[Row]) -> None:
        self.query_one(f"#{name}", Sheet).show(rows, self.terminal.palette)

    def _show_clock(self) -> None:
        seat = self.terminal.seat
        if seat is None or not seat.play.race.has_begun:
            return
        play, window = seat.play, Window(self.size.width, self.size.height)
        self._show("header", [header(play, seat.clock_ms, window.width)])
        if play.ghosts is not None and not window.is_too_small:
            # They go by the clock, not by what the server tells.
            players = window.players(play, seat.clock_ms)
            self._show("foot" if window.is_folded else "panel", players)
        if not play.is_playing and not window.is_too_small:
            self._show_waiting(seat, window)

    def _show_waiting(self, seat: Seat, window: Window) -> None:
        """Say what is waited for: above the sentence, or in its place where the players are."""
        play = seat.play
        told = waiting(play.race.view, play.race.seat, seat.clock_ms)
        if not window.is_folded:
            self._show("foot", [row(f" {told}", Ink.TITLE)])
        elif play.ink not in (Ink.BAD, Ink.TITLE) and not play.banner:
            self._show("message", [row(f" {told}", Ink.TITLE)])

    def redraw(self) -> None:
        seat = self.terminal.seat
        window = Window(self.size.width, self.size.height)
        if seat is None or not seat.play.race.has_begun:
            return
        play, faces = seat.play, self.terminal.faces
        beside = not window.is_folded and not window.is_too_small
        for name in ("rule", "panel"):
            self.query_one(f"#{name}").display = beside
        if window.is_too_small:
            for name in ("header", "foot", "message", "keys"):
                self._show(name, [])
            self._show("board", window.missing())
            return
        self.picture = window.board(play, faces)
        play.scroll = min(play.scroll, self.picture.hidden_rows)
        self._show("board", self.picture.rows)
        players = window.players(play, seat.clock_ms)
        if beside:
            line = "|" if faces.is_ascii else "│"
            self._show("rule", [row(line, Ink.DIM)] * window.board_height)
            self.query_one("#panel").styles.width = window.panel_width
            self._show("panel", players)
            self._show("foot", [row(("-" if faces.is_ascii else "─") * window.width, Ink.DIM)])
        else:
            self._show("foot", players)
        told = message(play, faces, window.width)
        if len(told) > 1:
            # A long sentence takes the row above, too, for as long as it stands.
            self._show("foot", told[:1])
        self._show("message", told[-1:])
        bar = key_bar(
            play.table.rules,
            self.own_keys,
            window.width,
            is_over=not play.is_playing,
            is_alone=play.is_alone,
            can_end=only_bots(play.race.view, play.race.seat),
            has_undo=play.race.view.options.undo is not UndoPolicy.NONE,
        )
        self._show("keys", [bar])
        self._show_clock()

    async def pressed(self, key: str, action: Action | None) -> None:
        seat = self.terminal.seat
        if seat is None:
            return
        if action is Action.COLOURS:
            self.terminal.next_palette()
            return
        if action is Action.SAY and not seat.play.is_asking(key):
            self.terminal.say_phrase()
            self.redraw()
            return
        for wish in seat.play.press(key, action, self.picture, time.monotonic()):
            await self._fulfil(wish)
        self.redraw()

    async def on_sheet_clicked(self, event: Sheet.Clicked) -> None:
        seat = self.terminal.seat
        if seat is None or event.sheet.id != "board":
            return
        spot = self.picture.at(event.row, event.cell)
        for wish in seat.play.click(spot, is_double=event.chain == 2):
            await self._fulfil(wish)
        self.redraw()

    def on_sheet_wheeled(self, event: Sheet.Wheeled) -> None:
        seat = self.terminal.seat
        if seat is not None:
            seat.play.scroll = max(0, seat.play.scroll + event.by)
            self.redraw()

    async def _fulfil(self, wish: Wish) -> None:
        seat = self.terminal.seat
        if seat is None:
            return
        try:
            match wish.do:
                case Do.PLAY if wish.action is not None:
                    await seat.do(wish.action)
                case Do.BANK:
                    seat.bank()
                case Do.END:
                    self.terminal.need_link()
                    await seat.race.end_race()
                case Do.LEAVE:
                    await self.terminal.leave()
                case Do.NEXT:
                    await self.terminal.next_race()
                case Do.REPLAY:
                    await self.terminal.show_replay()
                case Do.SHARE:
                    seat.play.say(self.terminal.share())
                case _:
                    pass
        except ClientError as error:
            seat.play.say(str(error), Ink.BAD)
