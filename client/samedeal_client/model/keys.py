"""Which key does what: the default, and what a player's TOML file makes of it."""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from samedeal_client.errors import BadSettings

__all__ = ["DEFAULT_KEYS", "Action", "Keys"]


class Action(StrEnum):
    """Everything a key can mean in a race; the value is its name in the file of keys."""

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
    QUIT = "quit"
    NEXT = "next"
    REPLAY = "replay"
    SHARE = "share"
    HELP = "help"
    REDRAW = "redraw"


DEFAULT_KEYS: Final[Mapping[Action, tuple[str, ...]]] = {
    # The second one of each is the same key, unshifted, on a French keyboard.
    Action.PILE_1: ("1", "&"),
    Action.PILE_2: ("2", "é"),
    Action.PILE_3: ("3", '"'),
    Action.PILE_4: ("4", "'"),
    Action.PILE_5: ("5", "("),
    Action.PILE_6: ("6", "§"),
    Action.PILE_7: ("7", "è"),
    Action.PILE_8: ("8", "_", "!"),
    Action.PILE_9: ("9", "ç"),
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
    Action.FEWER: ("-",),
    Action.UNDO: ("u", "ctrl+z"),
    Action.REDO: ("U",),
    Action.CURSOR: ("tab",),
    Action.LEFT: ("left", "h"),
    Action.DOWN: ("down", "j"),
    Action.UP: ("up", "k"),
    Action.RIGHT: ("right", "l"),
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
    Action.QUIT: ("Q",),
    Action.NEXT: ("n",),
    Action.REPLAY: ("v",),
    Action.SHARE: ("s",),
    Action.HELP: ("?",),
    Action.REDRAW: ("ctrl+l",),
}

_SHORT: Final = {"space": "SPC", "tab": "TAB", "escape": "ESC", "enter": "Enter"}
_MAX_KEY: Final = 20


class Keys:
    """Keys by action, and the other way round."""

    def __init__(self, changes: Mapping[Action, tuple[str, ...]] | None = None) -> None:
        changes = changes or {}
        taken = {key for keys in changes.values() for key in keys}
        self._keys = {
            action: changes.get(action, tuple(key for key in keys if key not in taken))
            for action, keys in DEFAULT_KEYS.items()
        }
        self._actions = {key: action for action, keys in self._keys.items() for key in keys}

    @classmethod
    def parse(cls, text: str, where: str = "the file of keys") -> "Keys":
        """Read a TOML file: a table `keys` with a list of keys for each action to change.

        A key that is given to one action is taken from the one that had it. Raise BadSettings, in
        one sentence, for what cannot be meant.
        """
        try:
            read = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadSettings(f"{where} is not TOML: {error}") from None
        table = read.pop("keys", {})
        if read:
            raise BadSettings(f"{where} has one table, keys; {next(iter(read))!r} is none of it")
        if not isinstance(table, dict):
            raise BadSettings(f"{where}: keys is a table with a list of keys for each action")
        changes: dict[Action, tuple[str, ...]] = {}
        owners: dict[str, str] = {}
        for name, keys in table.items():
            if name not in list(Action):
                raise BadSettings(
                    f"{where}: there is no action {name[:40]!r}; samedeal play --print-keys "
                    "lists them"
                )
            keys = [keys] if isinstance(keys, str) else keys
            if not isinstance(keys, list) or not all(
                isinstance(key, str) and 0 < len(key) <= _MAX_KEY for key in keys
            ):
                raise BadSettings(f'{where}: {name} needs a list of keys, as in ["u", "ctrl+z"]')
            for key in keys:
                if owners.setdefault(key, name) != name:
                    raise BadSettings(f"{where}: {key!r} stands for {owners[key]} and for {name}")
            changes[Action(name)] = tuple(keys)
        return cls(changes)

    def action(self, key: str) -> Action | None:
        """What a key means."""
        return self._actions.get(key)

    def name(self, action: Action) -> str:
        """How a hint names the key of an action."""
        keys = self._keys[action]
        return _SHORT.get(keys[0], keys[0]) if keys else "-"

    def toml(self) -> str:
        """All keys as the file would have them."""
        lines = ["[keys]"]
        for action, keys in self._keys.items():
            quoted = ", ".join(_quoted(key) for key in keys)
            lines.append(f"{action} = [{quoted}]")
        return "\n".join(lines) + "\n"


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
