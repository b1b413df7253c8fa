"""Every key of the terminal client: what it does on which screen, and its default."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

__all__ = ["DEFAULT_KEYS", "FRENCH_ROW", "FRENCH_SIX", "ITEMS", "PILES", "Action", "Section"]


class Section(StrEnum):
    """A screen, or a question on one; the value is its table in the file of keys."""

    HOME = "home"
    GAMES = "games"
    """The choice of a game."""
    LIST = "list"
    """Open rooms, live races."""
    MATCH = "match"
    OPTIONS = "options"
    PROMPT = "prompt"
    """A line to type; what types a character is not for it."""
    ROOM = "room"
    RACE = "race"
    CONFIRM = "confirm"
    """The answer to a question in a race."""
    TAKE_BACK = "take-back"
    """The suit, after the key that takes a card back."""
    SAY = "say"
    """The choice of a phrase."""
    RESULT = "result"
    DAILY = "daily"
    BOARDS = "boards"
    WATCH = "watch"
    REPLAY = "replay"
    HELP = "help"


class Action(StrEnum):
    """Everything a key can mean; the value is its name in the file of keys."""

    PILE_1 = "pile-1"
    PILE_2 = "pile-2"
    PILE_3 = "pile-3"
    PILE_4 = "pile-4"
    PILE_5 = "pile-5"
    PILE_6 = "pile-6"
    PILE_7 = "pile-7"
    PILE_8 = "pile-8"
    PILE_9 = "pile-9"
    WASTE = "waste"
    RESERVE_1 = "reserve-1"
    RESERVE_2 = "reserve-2"
    HOME = "home"
    UP_PILE = "up-pile"
    DOWN_PILE = "down-pile"
    SAFE = "safe"
    TAKE_BACK = "take-back"
    DRAW = "draw"
    MORE = "more"
    FEWER = "fewer"
    UNDO = "undo"
    REDO = "redo"
    CURSOR = "cursor"
    LEFT = "left"
    DOWN = "down"
    UP = "up"
    RIGHT = "right"
    DROP = "drop"
    CLEAR = "clear"
    TARGETS = "targets"
    ALWAYS_TARGETS = "always-targets"
    HINT = "hint"
    COLOURS = "colours"
    PANEL = "panel"
    SCROLL_UP = "scroll-up"
    SCROLL_DOWN = "scroll-down"
    BANK = "bank"
    END_RACE = "end-race"
    QUIT = "quit"
    SAY = "say"
    NEXT = "next"
    REPLAY = "replay"
    SHARE = "share"
    GHOST = "ghost"
    HELP = "help"
    REDRAW = "redraw"

    YES = "yes"
    CLUBS = "clubs"
    DIAMONDS = "diamonds"
    HEARTS = "hearts"
    SPADES = "spades"

    TAKE = "take"
    BACK = "back"
    LEAVE = "leave"
    ITEM_1 = "item-1"
    ITEM_2 = "item-2"
    ITEM_3 = "item-3"
    ITEM_4 = "item-4"
    ITEM_5 = "item-5"
    ITEM_6 = "item-6"
    ITEM_7 = "item-7"
    ITEM_8 = "item-8"
    ITEM_9 = "item-9"

    LAST_RACE = "last-race"
    QUICK = "quick-race"
    FIND = "find-opponent"
    OPEN_ROOMS = "open-rooms"
    WATCH = "watch"
    MAKE = "make-room"
    JOIN = "join"
    DAILY = "daily"
    BOARDS = "boards"
    REPLAYS = "replays"
    PRACTICE = "practice"
    NAME = "name"
    SERVER = "server"
    EXIT = "exit"

    READY = "ready"
    ADD_BOT = "add-bot"
    OPTIONS = "options"
    START = "start"
    CHANGE = "change"

    ACCEPT = "accept"
    DECLINE = "decline"
    TAKE_BOT = "take-bot"

    NEXT_GAME = "next-game"
    BOTS = "bots"
    AROUND = "around"
    TOP = "top"

    PLAY = "play"
    FASTER = "faster"
    SLOWER = "slower"
    NEXT_BOARD = "next-board"
    DEAL = "deal"
    END = "end"
    DIFFERENCE = "difference"


PILES: Final = tuple(action for action in Action if action.startswith("pile-"))
ITEMS: Final = tuple(action for action in Action if action.startswith("item-"))

_ROW: Final = (
    # The second one of each is the same key, unshifted, on a French keyboard.
    ("1", "&"),
    ("2", "é"),
    ("3", '"'),
    ("4", "'"),
    ("5", "("),
    ("6", "§"),
    ("7", "è"),
    ("8", "_", "!"),
    ("9", "ç"),
)
FRENCH_ROW: Final = frozenset(key for keys in _ROW for key in keys[1:])
FRENCH_SIX: Final = "-"
"""The sixth of that row is the same key as `fewer`: who uses the row, or has nothing picked, means
the column."""
_ANYWHERE: Final = {Action.HELP: ("?",), Action.REDRAW: ("ctrl+l",)}
_STEPS: Final = {
    Action.LEFT: ("left", "h"),
    Action.DOWN: ("down", "j"),
    Action.UP: ("up", "k"),
    Action.RIGHT: ("right", "l"),
}
_CHOOSE: Final = {
    Action.UP: ("up", "k"),
    Action.DOWN: ("down", "j"),
    Action.TAKE: ("enter",),
}
_NUMBERED: Final = {
    **dict(zip(ITEMS, _ROW, strict=True)),
    Action.ITEM_6: (*_ROW[5], FRENCH_SIX),
    **_CHOOSE,
    Action.BACK: ("escape", "Q"),
    **_ANYWHERE,
}
_BACK: Final = {Action.BACK: ("Q", "escape")}

DEFAULT_KEYS: Final[Mapping[Section, Mapping[Action, tuple[str, ...]]]] = {
    Section.HOME: {
        Action.LAST_RACE: ("l",),
        Action.QUICK: ("q",),
        Action.FIND: ("f",),
        Action.OPEN_ROOMS: ("o",),
        Action.WATCH: ("w",),
        Action.MAKE: ("m",),
        Action.JOIN: ("j",),
        Action.DAILY: ("d",),
        Action.BOARDS: ("b",),
        Action.REPLAYS: ("r",),
        Action.GHOST: ("g",),
        Action.PRACTICE: ("p",),
        Action.NAME: ("n",),
        Action.SERVER: ("a",),
        Action.EXIT: ("x",),
        **_CHOOSE,
        Action.DOWN: ("down",),
        **_ANYWHERE,
    },
    Section.GAMES: _NUMBERED,
    Section.LIST: _NUMBERED,
    Section.MATCH: {
        Action.ACCEPT: ("y",),
        Action.DECLINE: ("n",),
        Action.TAKE_BOT: ("b",),
        **_CHOOSE,
        **_BACK,
        **_ANYWHERE,
    },
    Section.OPTIONS: {
        **_STEPS,
        Action.CHANGE: ("space",),
        Action.TAKE: ("enter",),
        Action.BACK: ("escape", "Q"),
        **_ANYWHERE,
    },
    Section.PROMPT: {Action.BACK: ("escape",)},
    Section.ROOM: {
        Action.READY: ("enter", "r"),
        Action.ADD_BOT: ("b",),
        Action.OPTIONS: ("o",),
        Action.START: ("s",),
        Action.SAY: ("c",),
        Action.LEAVE: ("Q", "escape"),
        **_ANYWHERE,
    },
    Section.RACE: {
        **dict(zip(PILES, _ROW, strict=True)),
        Action.WASTE: ("w",),
        Action.RESERVE_1: ("r",),
        Action.RESERVE_2: ("t",),
        Action.HOME: ("f",),
        Action.UP_PILE: ("[",),
        Action.DOWN_PILE: ("]",),
        Action.SAFE: ("F",),
        Action.TAKE_BACK: ("x",),
        Action.DRAW: ("space",),
        Action.MORE: ("+", "="),
        Action.FEWER: (FRENCH_SIX, ")"),
        Action.UNDO: ("u", "ctrl+z"),
        Action.REDO: ("U",),
        Action.CURSOR: ("tab",),
        **_STEPS,
        Action.DROP: ("enter",),
        Action.CLEAR: ("escape",),
        Action.TARGETS: ("m",),
        Action.ALWAYS_TARGETS: ("M",),
        Action.HINT: ("H",),
        Action.COLOURS: ("C",),
        Action.PANEL: ("p",),
        Action.SCROLL_UP: ("pageup",),
        Action.SCROLL_DOWN: ("pagedown",),
        Action.BANK: ("B",),
        Action.END_RACE: ("E",),
        Action.QUIT: ("Q",),
        Action.SAY: ("c",),
        Action.NEXT: ("n",),
        Action.REPLAY: ("v",),
        Action.SHARE: ("s",),
        **_ANYWHERE,
    },
    Section.CONFIRM: {Action.YES: ("y",)},
    Section.TAKE_BACK: {
        Action.CLUBS: ("c", "C"),
        Action.DIAMONDS: ("d", "D"),
        Action.HEARTS: ("h", "H"),
        Action.SPADES: ("s", "S"),
    },
    Section.SAY: _NUMBERED,
    Section.RESULT: {
        Action.NEXT: ("n", "enter"),
        Action.REPLAY: ("v",),
        Action.SHARE: ("s",),
        Action.SAY: ("c",),
        Action.GHOST: ("G",),
        Action.COLOURS: ("C",),
        Action.LEAVE: ("Q", "escape"),
        **_ANYWHERE,
    },
    Section.DAILY: {
        Action.UP: ("up", "k"),
        Action.DOWN: ("down", "j"),
        Action.TAKE: ("enter",),
        Action.PRACTICE: ("p",),
        Action.SHARE: ("s",),
        **_BACK,
        **_ANYWHERE,
    },
    Section.BOARDS: {
        **_STEPS,
        Action.NEXT_GAME: ("g",),
        Action.BOTS: ("b",),
        Action.AROUND: ("a",),
        Action.TOP: ("t",),
        Action.SCROLL_UP: ("pageup",),
        Action.SCROLL_DOWN: ("pagedown",),
        Action.TAKE: ("enter",),
        Action.GHOST: ("G",),
        **_BACK,
        **_ANYWHERE,
    },
    Section.WATCH: {
        Action.NEXT_BOARD: ("tab",),
        Action.REPLAY: ("v",),
        **_BACK,
        **_ANYWHERE,
    },
    Section.REPLAY: {
        Action.PLAY: ("space",),
        Action.LEFT: ("left", "h"),
        Action.RIGHT: ("right", "l"),
        Action.SCROLL_UP: ("pageup",),
        Action.SCROLL_DOWN: ("pagedown",),
        Action.FASTER: ("+", "="),
        Action.SLOWER: ("-",),
        Action.NEXT_BOARD: ("tab",),
        Action.DEAL: ("0", "home"),
        Action.END: ("end",),
        Action.DIFFERENCE: ("d",),
        Action.GHOST: ("G",),
        Action.COLOURS: ("C",),
        **_BACK,
        **_ANYWHERE,
    },
    Section.HELP: {
        Action.UP: ("up", "k"),
        Action.DOWN: ("down", "j"),
        Action.SCROLL_UP: ("pageup",),
        Action.SCROLL_DOWN: ("space", "pagedown"),
        Action.REDRAW: ("ctrl+l",),
    },
}
