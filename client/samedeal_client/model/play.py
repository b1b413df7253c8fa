"""A race as its player plays it: keys and clicks go in; requests, sentences and rows come out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from samedeal.engine.cards import HIDDEN, card_text
from samedeal.engine.errors import IllegalMove
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.rules import UP
from samedeal.engine.run import UNDO, Action, UndoPolicy
from samedeal.engine.table import Table
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import PlayerView, Status
from samedeal_client.model.board import Marks, Picture, Spot
from samedeal_client.model.chronicle import Chronicle
from samedeal_client.model.cursor import stepped
from samedeal_client.model.hand import (
    Ask,
    Hand,
    called,
    finish,
    home_moves,
    home_refusal,
    safe_move,
    told,
)
from samedeal_client.model.ink import Ink
from samedeal_client.model.keys import Action as Key
from samedeal_client.model.keys import Keys, Section
from samedeal_client.model.keytable import FRENCH_ROW, FRENCH_SIX, PILES
from samedeal_client.model.race import RaceModel
from samedeal_client.model.tracks import is_alone
from samedeal_client.model.waiting import only_bots, still_playing, waits_for

if TYPE_CHECKING:
    from samedeal_client.ghosts import Ghosts

__all__ = ["Do", "PlayModel", "Wish"]

HELD_S: Final = 0.12
"""A key that comes again sooner is held down: nobody types the same key so fast."""
CONFIRM_S: Final = 3.0
_PILES: Final = {key: f"T{number}" for number, key in enumerate(PILES, start=1)}
_NAMED: Final = {
    **{pile: key for key, pile in _PILES.items()},
    "W": Key.WASTE,
    "R1": Key.RESERVE_1,
    "R2": Key.RESERVE_2,
}
"""The keys of piles; those of home have one together."""
_SUITS: Final = {Key.CLUBS: "C", Key.DIAMONDS: "D", Key.HEARTS: "H", Key.SPADES: "S"}
_STEPS: Final = {
    Key.LEFT: (0, -1),
    Key.RIGHT: (0, 1),
    Key.UP: (-1, 0),
    Key.DOWN: (1, 0),
}


class Do(StrEnum):
    """What a player wants that is more than a move of cards."""

    PLAY = "play"
    BANK = "bank"
    END = "end"
    LEAVE = "leave"
    NEXT = "next"
    REPLAY = "replay"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class Wish:
    """Something to be done outside of the model."""

    do: Do
    action: Action | None = None


class PlayModel:
    """The board, the hand and the last sentence of one player in one race."""

    def __init__(self, race: RaceModel, keys: Keys) -> None:
        self.race = race
        self.keys = keys
        self.name_of = keys.on(Section.RACE).name
        self.hand = Hand()
        self.sentence, self.ink = self._greeting(), Ink.PLAIN
        self.banner = ""
        """What is wrong with the connection; empty if nothing is."""
        self.link_ms: float | None = None
        self.daily: say.Daily | None = None
        """What is told of the day, if this is a day's run."""
        self.ending = "home tells how it ends"
        """Where the result is told to who leaves before the close."""
        self.ghosts: Ghosts | None = None
        """Recorded runs that it is played against."""
        self.page = "tracks"
        self.cursor: str | None = None
        self.scroll = 0
        self.shows_always = False
        self.shows_targets = True
        self.chronicle = Chronicle(race.view, race.seat)
        self.is_finishing = False
        """Whether it plays on by itself, one move after the other's answer."""
        self._is_french = False
        self._redo: list[Action] = []
        self._confirms: tuple[Do, float] | None = None
        self._last_key: tuple[str, float] = ("", -1.0)
        self._choices: list[Move] = []

    def _greeting(self) -> str:
        """What a newcomer has to know; the keys are below it. Nothing once the run is over."""
        if self.race.has_begun and not self.is_playing:
            return ""
        return f"Pick a column by its number, then its target; {self.name_of(Key.HELP)} helps."

    # What there is

    @property
    def table(self) -> Table:
        return self.race.table

    @property
    def me(self) -> PlayerView:
        """The own seat."""
        players = self.race.view.players
        return next(player for player in players if player.seat == self.race.seat)

    @property
    def is_playing(self) -> bool:
        """Whether the own run goes on."""
        return self.race.has_begun and self.me.status is Status.PLAYING and not self.table.is_won

    @property
    def is_alone(self) -> bool:
        """Whether there is nobody to talk to: a day's run, and any other of one seat."""
        return is_alone(self.race.view)

    def marks(self) -> Marks:
        """What is marked on the board now."""
        hand, table = self.hand, self.table
        targets: frozenset[str] = frozenset()
        if hand.pile is not None and self.shows_targets:
            targets = hand.targets(table)
        elif self.shows_always and hand.pile is None:
            targets = frozenset(move.source for move in table.legal_moves if move != DRAW)
        if self._choices:
            targets = frozenset(move.target for move in self._choices)
        return Marks(hand.pile, hand.carried(table), targets, self.cursor)

    def say(self, sentence: str, ink: Ink = Ink.PLAIN) -> None:
        """Show a sentence, and keep it in the log."""
        self.sentence, self.ink = sentence, ink
        if sentence:
            self.chronicle.note(sentence)

    # Keys and clicks

    def press(self, key: str, action: Key | None, picture: Picture, now: float) -> list[Wish]:
        """A key was pressed. Return what is to be done."""
        last, at = self._last_key
        is_held = key == last and now - at < HELD_S
        self._last_key = (key, now)
        is_yes = self.keys.on(Section.CONFIRM).action(key) is Key.YES
        if is_yes and self._confirms is not None:
            return self._confirmed(self._confirms[0], "", now)
        if action not in (Key.BANK, Key.QUIT):
            self._confirms = None
        if not self.race.has_begun:
            return self._beside_the_cards(action, now)
        suit = self.keys.on(Section.TAKE_BACK).action(key)
        if suit is not None and self.hand.takes_back:
            if not self.hand.take_back_suit(self.table, _SUITS[suit]):
                self.say(f"no card of {suit} can come back", Ink.BAD)
            return []
        action = self._meant(key, action)
        if action is None:
            return []
        if action in (Key.DRAW, Key.UNDO, Key.REDO) and is_held:
            return []
        wishes = self._with_cards(action, picture) if self.is_playing else None
        return self._beside_the_cards(action, now) if wishes is None else wishes

    def _meant(self, key: str, action: Key | None) -> Key | None:
        """What a key means where it stands for two things: the sixth of a French row."""
        if action in _PILES and key in FRENCH_ROW:
            self._is_french = True
        is_six = self._is_french or self.hand.pile is None
        return Key.PILE_6 if action is Key.FEWER and key == FRENCH_SIX and is_six else action

    def is_asking(self, key: str) -> bool:
        """Whether a key would be the answer to the question of which suit comes back."""
        suits = self.keys.on(Section.TAKE_BACK)
        return self.hand.takes_back and suits.action(key) is not None

    def click(self, spot: Spot | None, *, is_double: bool) -> list[Wish]:
        """A place on the board was clicked: pick, drop, turn the stock; double sends home."""
        if spot is None or not self.is_playing:
            self.hand.clear()
            return []
        if spot.pile == "S":
            return self._draw()
        if is_double:
            self.hand.clear()
            return self._home(spot.pile)
        if self.hand.pile is not None and self.hand.pile != spot.pile:
            return self._drop(spot.pile)
        if self.hand.pile == spot.pile:
            self.hand.clear()
            return []
        count = spot.cards if spot.pile.startswith("T") and spot.cards > 1 else None
        self._pick(spot.pile, count)
        return []

    def _with_cards(self, action: Key, picture: Picture) -> list[Wish] | None:
        """Keys that are about the board; None if it is none of them."""
        table, kinds = self.table, dict(self.table.rules.piles)
        if action is not Key.SAFE:
            self.is_finishing = False
        if action in (Key.UP_PILE, Key.DOWN_PILE) or self._choices:
            return self._directed(action)
        if action in _PILES:
            pile = _PILES[action]
            if pile not in kinds:
                self.say(f"there are {len(table.rules.columns)} columns", Ink.BAD)
                return []
            return self._pile(pile)
        match action:
            case Key.WASTE:
                return self._pile("W")
            case Key.RESERVE_1 | Key.RESERVE_2:
                pile = "R1" if action is Key.RESERVE_1 else "R2"
                if pile not in kinds:
                    self.say("this game has no reserves", Ink.BAD)
                    return []
                return self._pile(pile)
            case Key.HOME:
                pile = self.hand.pile or "W"
                self.hand.clear()
                return self._home(pile)
            case Key.SAFE:
                return self._safe()
            case Key.TAKE_BACK:
                asked = self.hand.take_back(table)
                self._ask(asked)
                if asked is None and self.hand.pile is not None:
                    card = card_text(table.pile(self.hand.pile)[-1])
                    self.say(f"take back {card}: name a column, or {self.name_of(action)} again")
            case Key.DRAW:
                return self._draw()
            case Key.MORE | Key.FEWER:
                self._ask(self.hand.resize(table, 1 if action is Key.MORE else -1))
            case Key.UNDO:
                return self._undo()
            case Key.REDO:
                return self._do_again()
            case Key.CURSOR:
                self.cursor = "T1" if self.cursor is None else None
            case Key.DROP if self.cursor is not None:
                return self._draw() if self.cursor == "S" else self._pile(self.cursor)
            case Key.LEFT | Key.RIGHT | Key.UP | Key.DOWN:
                self.cursor = stepped(picture, self.cursor, *_STEPS[action])
            case Key.TARGETS:
                self.shows_targets = not self.shows_targets
                self.say(f"legal targets {'shown' if self.shows_targets else 'hidden'}")
            case Key.ALWAYS_TARGETS:
                self.shows_always = not self.shows_always
                self.say(f"what can move is {'always' if self.shows_always else 'not'} marked")
            case Key.HINT:
                self._hint()
            case _:
                return None
        return []

    def _beside_the_cards(self, action: Key | None, now: float) -> list[Wish]:
        match action:
            case Key.CLEAR:
                self.hand.clear()
                self._choices = []
                self.is_finishing = False
                self.say("")
            case Key.PANEL:
                pages = ["tracks", "numbers", "log"]
                self.page = pages[(pages.index(self.page) + 1) % len(pages)]
            case Key.SCROLL_UP:
                self.scroll += 4
            case Key.SCROLL_DOWN:
                self.scroll = max(0, self.scroll - 4)
            case Key.BANK if self.is_playing:
                return self._confirmed(
                    Do.BANK,
                    f"{self.name_of(Key.BANK)} again within 3 s banks: the run ends and "
                    f"{self.race.run.best} home stands",
                    now,
                )
            case Key.END_RACE:
                return self._end_race()
            case Key.QUIT:
                kept = "your run ends, its result stands"
                if not self.is_playing:
                    kept = "your result stands"
                if not self.is_playing or (self.race.has_begun and self.race.run.moves):
                    kept += f"; {self.ending}"
                if self.race.view.day is not None:
                    kept = "the clock runs on, and the daily screen brings you back"
                yes = self.keys.on(Section.CONFIRM).name(Key.YES)
                return self._confirmed(
                    Do.LEAVE, f"leave? {kept}; {self.name_of(Key.QUIT)} or {yes} leaves", now
                )
            case Key.NEXT:
                return [Wish(Do.NEXT)]
            case Key.REPLAY:
                return [Wish(Do.REPLAY)]
            case Key.SHARE:
                return [Wish(Do.SHARE)]
            case _:
                pass
        return []

    def _end_race(self) -> list[Wish]:
        """Wish for the end of a race in which only bots play on, or say what is in its way."""
        view, seat = self.race.view, self.race.seat
        if self.is_playing:
            self.say(f"your own run is on: {self.name_of(Key.BANK)} twice banks it first", Ink.BAD)
        elif only_bots(view, seat):
            return [Wish(Do.END)]
        elif still_playing(view, seat):
            names = waits_for(view, seat)
            self.say(f"{names}: only bots need not be waited for", Ink.BAD)
        return []

    def _confirmed(self, do: Do, question: str, now: float) -> list[Wish]:
        """Ask at the first press; do it at the second one, if that comes soon."""
        asked, self._confirms = self._confirms, None
        if asked is not None and asked[0] is do and now - asked[1] <= CONFIRM_S:
            return [Wish(do)]
        if question:
            self._confirms = (do, now)
        self.say(question, Ink.TITLE)
        return []

    # Picking and dropping

    def _ask(self, asked: Ask | None) -> None:
        if asked is not None:
            self.say(asked.sentence, Ink.BAD)

    def _pick(self, pile: str, count: int | None = None) -> None:
        asked = self.hand.pick(self.table, pile, count)
        if asked is not None:
            self.say(asked.sentence, Ink.BAD)
            return
        table = self.table
        targets = sorted(self.hand.targets(table), key=_pile_order)
        card = table.pile(pile)[-1]
        text = card_text(card) if card != HIDDEN else "a card not known yet"
        places = self._places(targets)
        self.say(f"{text} of {called(table, pile)} goes {places or 'nowhere'}")

    def _places(self, targets: Sequence[str]) -> str:
        """Where a pick may go, by the keys that send it there."""
        keys: list[str] = []
        if any(target.startswith("F") for target in targets):
            keys.append(f"home ({self.name_of(Key.HOME)})")
        keys += [f"to {self._key(target)}" for target in targets if target.startswith("T")]
        return ", ".join(keys)

    def _pile(self, pile: str) -> list[Wish]:
        hand = self.hand
        if hand.pile is None:
            self._pick(pile)
            return []
        if hand.pile == pile:
            hand.clear()
            return self._home(pile)
        return self._drop(pile)

    def _drop(self, pile: str) -> list[Wish]:
        move = self.hand.onto(self.table, pile)
        self.hand.clear()
        if pile.startswith("F") and not self.table.is_legal(move):
            return self._home(move.source)
        return self._play(move)

    def _home(self, source: str, way: int | None = None) -> list[Wish]:
        moves = home_moves(self.table, source, way)
        if len(moves) > 1:
            self._choices = moves
            up, down = self.name_of(Key.UP_PILE), self.name_of(Key.DOWN_PILE)
            self.say(f"it goes on both: {up} up, {down} down", Ink.TITLE)
            return []
        return self._play(moves[0] if moves else home_refusal(self.table, source))

    def _directed(self, action: Key) -> list[Wish]:
        """Up or down: the answer to a question, or where to send the pick."""
        choices, self._choices = self._choices, []
        if action not in (Key.UP_PILE, Key.DOWN_PILE):
            self.say("")
            return []
        way = UP if action is Key.UP_PILE else -UP
        ways = self.table.rules.foundations
        if way not in ways:
            self.say("this game has no such foundations", Ink.BAD)
            return []
        for move in choices:
            if ways[int(move.target[1:]) - 1] == way:
                return self._play(move)
        source = self.hand.pile or "W"
        self.hand.clear()
        moves = home_moves(self.table, source, way)
        first = next(number for number, towards in enumerate(ways, start=1) if towards == way)
        return self._play(moves[0] if moves else Move(source, f"F{first}"))

    def _play(self, move: Move) -> list[Wish]:
        """Wish for a move, or say why it is refused."""
        table = self.table
        try:
            self.race.run.check(move)
        except IllegalMove as error:
            self._refuse(move, str(error))
            return []
        self._redo.clear()
        self.say(told(table, move))
        return [Wish(Do.PLAY, move)]

    def _refuse(self, move: Move, sentence: str) -> None:
        self.say(f"{self._short(move)} refused: {sentence} (no cost)", Ink.BAD)

    def _draw(self) -> list[Wish]:
        self.hand.clear()
        if any(entry.action == DRAW for entry in self.race.outbox):
            self.say("the card turned before is on its way; one turn at a time")
            return []
        return self._play(DRAW)

    def _undo(self) -> list[Wish]:
        self.hand.clear()
        refusal = self.race.run.undo_refusal
        if refusal is not None:
            self.say(f"undo refused: {refusal}", Ink.BAD)
            return []
        step = self.table.history[-1]
        self._redo.append(step.move)
        self.say(f"taken back: {self._short(step.move)} (counts as a move)")
        return [Wish(Do.PLAY, UNDO)]

    def _do_again(self) -> list[Wish]:
        if self.race.run.policy is not UndoPolicy.FREE:
            self.say("redo is there only where undo is free", Ink.BAD)
            return []
        if not self._redo:
            self.say("there is nothing to redo", Ink.BAD)
            return []
        action = self._redo[-1]
        rest = self._redo[:-1]
        assert isinstance(action, Move)
        wishes = self._play(action)
        self._redo = rest
        return wishes

    def _safe(self) -> list[Wish]:
        self.hand.clear()
        self.is_finishing = True
        wishes = self.go_on()
        if not wishes and not self.race.outbox:
            self.say("no card is safe to send home now")
        return wishes

    def go_on(self) -> list[Wish]:
        """The next move of those that it plays by itself, once the last one is answered."""
        if not self.is_finishing or self.race.outbox or not self.is_playing:
            return []
        moves = finish(self.table)
        move = moves[0] if moves else safe_move(self.table)
        if move is None:
            self.is_finishing = False
            return []
        return self._play(move)

    def _hint(self) -> None:
        if self.race.view.options.ranked:
            self.say("no hints in a ranked race", Ink.BAD)
            return
        moves = dict.fromkeys(self._short(move) for move in self.table.legal_moves)
        self.say(f"legal: {' '.join(moves)}" if moves else "no legal move left")

    # What happened

    def heard(self, event: object) -> None:
        """The server told of the race; the race model knows already."""
        if isinstance(event, say.Progress | say.Room | say.Closed):
            self.chronicle.progress(self.race.view)
        if isinstance(event, say.Notice):
            self.say(event.sentence, Ink.TITLE)
        if isinstance(event, say.Said):
            self.chronicle.phrase(event)
            told = self.last_said
            if event.seat != self.race.seat and self.ink is Ink.PLAIN:
                self.say(told)
            else:
                # A refusal or a question stands; the panel has it.
                self.chronicle.note(told)

    @property
    def last_said(self) -> str:
        """What somebody said last, with the name."""
        return self.chronicle.last_said(self.race.view)

    def refused(self, action: Action, sentence: str) -> None:
        """The server refused a move that was shown: it has been rolled back."""
        self.is_finishing = False
        self._redo.clear()
        self.hand.clear()
        what = "undo" if action is UNDO else self._short(action)
        self.say(f"TAKEN BACK {what}: {sentence}", Ink.BAD)

    def acknowledged(self, action: Action, reveals: Sequence[int]) -> None:
        """A move was accepted: tell what comes of it."""
        cards = " ".join(map(card_text, reveals))
        if self._confirms is not None or self._choices:
            # A question that was asked meanwhile stands; what was turned lies on the board.
            if cards:
                self.chronicle.note(f"turned {cards}")
        elif action == DRAW:
            self.say(f"turned {cards}" if cards else "the waste is the stock again")
        elif reveals:
            self.say(f"{self.sentence}, turned up {cards}")
        if self.table.is_won:
            self.say("WON: every card is home", Ink.GOOD)
        elif self.race.run.is_known_stuck:
            self.say(
                f"no legal move left; {self.name_of(Key.UNDO)} takes back, "
                f"{self.name_of(Key.BANK)} banks",
                Ink.TITLE,
            )
        elif not self.is_finishing and not self.race.outbox and finish(self.table):
            self.say(f"nothing is hidden: {self.name_of(Key.SAFE)} plays it out", Ink.GOOD)

    def _short(self, move: Move) -> str:
        """A move by the keys of its piles: `6>f`, `w>1`, `x>3`, `draw`."""
        if move == DRAW:
            return "draw"
        is_back = move.source.startswith("F")
        source = self.name_of(Key.TAKE_BACK) if is_back else self._key(move.source)
        return f"{source}>{self._key(move.target)}"

    def _key(self, pile: str) -> str:
        return self.name_of(_NAMED.get(pile, Key.HOME))


def _pile_order(pile: str) -> tuple[str, int]:
    return pile[0], int(pile[1:] or 0)
