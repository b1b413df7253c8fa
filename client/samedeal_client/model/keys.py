"""The keys as a player has them: the table of defaults, and what a TOML file makes of it."""

import re
import tomllib
from collections.abc import Mapping
from typing import Final

from samedeal_client.errors import BadSettings
from samedeal_client.model.keytable import DEFAULT_KEYS, Action, Section

__all__ = ["Action", "Keys", "ScreenKeys", "Section"]

ALL: Final = "keys"
"""The table of the file that is about every screen which knows the action."""
_SHORT: Final = {
    "space": "SPC",
    "tab": "TAB",
    "escape": "ESC",
    "enter": "Enter",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}
_NAMES: Final = (
    "space|tab|enter|escape|backspace|delete|insert|home|end|pageup|pagedown|left|right|up|down"
)
_KEY: Final = re.compile(
    rf"(?:(?:alt\+)?(?:ctrl\+)?(?:shift\+)?(?:{_NAMES}|f(?:1\d?|2[0-4]?|[3-9])))"
    r"|(?:alt\+)?ctrl\+[a-z]|alt\+[a-z0-9]"
)
_NEVER: Final = {
    "ctrl+c": "it always ends the program",
    "ctrl+h": "a terminal says backspace",
    "ctrl+i": "a terminal says tab",
    "ctrl+m": "a terminal says enter",
}
_Changes = dict[Section, dict[Action, tuple[str, ...]]]
Hint = tuple[Action | tuple[Action, ...], str]
"""An action, or several that belong together, and what a foot line says about it."""


class ScreenKeys:
    """The keys of one screen by action, and the other way round."""

    def __init__(self, keys: Mapping[Action, tuple[str, ...]]) -> None:
        self.actions = tuple(keys)
        """What can be done there."""
        self._keys = keys
        self._actions = {key: action for action, its in keys.items() for key in its}

    def action(self, key: str) -> Action | None:
        """What a key means."""
        return self._actions.get(key)

    def keys(self, action: Action) -> tuple[str, ...]:
        """All keys of an action."""
        return self._keys.get(action, ())

    def name(self, action: Action) -> str:
        """How a hint names the key of an action."""
        keys = self.keys(action)
        return _SHORT.get(keys[0], keys[0]) if keys else "-"

    def foot(self, width: int, *hints: Hint) -> str:
        """Say which key does what, as much as fits; the last hint always is there."""
        parts = []
        for actions, word in hints:
            these = (actions,) if isinstance(actions, Action) else actions
            names = [self.name(action) for action in these if self.keys(action)]
            if names:
                parts.append(f"{' '.join(names)} {word}")
        while len(parts) > 1 and len("  ".join(parts)) > width:
            del parts[-2]
        return "  ".join(parts)


class Keys:
    """The keys of all screens."""

    def __init__(self, changes: Mapping[Section, Mapping[Action, tuple[str, ...]]] = {}) -> None:
        self._screens = {
            section: ScreenKeys({**defaults, **changes.get(section, {})})
            for section, defaults in DEFAULT_KEYS.items()
        }

    def on(self, section: Section) -> ScreenKeys:
        """The keys of one screen."""
        return self._screens[section]

    @classmethod
    def parse(cls, text: str, where: str = "the file of keys") -> "Keys":
        """Read a TOML file: a table for each screen, with a list of keys for each action to change.

        The table `keys` is about all screens; a screen's own table comes before it. Raise
        BadSettings, in one sentence, for what cannot be meant.
        """
        try:
            read = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadSettings(f"{where} is not TOML: {error}") from None
        changes: _Changes = {section: {} for section in Section}
        # The table about all first: what a screen's own says comes over it.
        for name, table in sorted(read.items(), key=lambda item: item[0] != ALL):
            if name != ALL and name not in list(Section):
                raise BadSettings(
                    f"{where}: there is no screen {name[:40]!r}; the tables are {ALL}, "
                    f"{', '.join(Section)}"
                )
            if not isinstance(table, dict):
                raise BadSettings(f"{where}: {name} is a table with a list of keys for each action")
            sections = list(Section) if name == ALL else [Section(name)]
            for word, value in table.items():
                known = [one for one in sections if word in DEFAULT_KEYS[one]]
                if not known:
                    raise BadSettings(
                        f"{where}: [{name}] has no action {word[:40]!r}; samedeal play "
                        "--print-keys lists them"
                    )
                keys = _read_keys(value, f"{where}: [{name}] {word}")
                for section in known:
                    changes[section][Action(word)] = keys
        for section in Section:
            _check(section, changes[section], where)
        return cls(changes)

    def toml(self) -> str:
        """All keys as the file would have them."""
        lines: list[str] = []
        for section, screen in self._screens.items():
            lines += ["", f"[{section}]"] if lines else [f"[{section}]"]
            for action in screen.actions:
                quoted = ", ".join(_quoted(key) for key in screen.keys(action))
                lines.append(f"{action} = [{quoted}]")
        return "\n".join(lines) + "\n"


def _read_keys(value: object, what: str) -> tuple[str, ...]:
    """The keys of one action; what is wrong with them is a BadSettings."""
    keys = [value] if isinstance(value, str) else value
    if not isinstance(keys, list):
        raise BadSettings(f'{what} needs a list of keys, as in ["u", "ctrl+z"]')
    for key in keys:
        if not isinstance(key, str):
            raise BadSettings(f'{what} needs a list of keys, as in ["u", "ctrl+z"]')
        if key in _NEVER:
            raise BadSettings(f"{what}: {key!r} cannot be given, {_NEVER[key]}")
        if not _types(key) and _KEY.fullmatch(key) is None:
            raise BadSettings(
                f"{what}: {key[:20]!r} is no key; a key is one character, or a name like "
                "space, enter, pageup, ctrl+z"
            )
    return tuple(dict.fromkeys(keys))


def _types(key: str) -> bool:
    """Whether a key is a character that it types."""
    return len(key) == 1 and key.isprintable() and key != " "


def _check(section: Section, changed: Mapping[Action, tuple[str, ...]], where: str) -> None:
    """Refuse a key with two meanings on one screen, and one that is typed where a line is."""
    owners: dict[str, Action] = {}
    for action, keys in {**DEFAULT_KEYS[section], **changed}.items():
        for key in keys:
            if section is Section.PROMPT and (_types(key) or key in ("space", "enter")):
                raise BadSettings(f"{where}: [{section}] {key!r} is typed there")
            owner = owners.setdefault(key, action)
            if owner is action:
                continue
            if owner in changed and action in changed:
                raise BadSettings(
                    f"{where}: [{section}] {key!r} stands for {owner} and for {action}"
                )
            given, default = (owner, action) if owner in changed else (action, owner)
            raise BadSettings(
                f"{where}: [{section}] {key!r} is given to {given}, but {default} has it by "
                f"default; give {default} other keys, too"
            )


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
