"""What the terminal client remembers of its player, and the player's own keys: two TOML files."""

import json
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from samedeal_client.errors import BadSettings
from samedeal_client.model.keys import Keys
from samedeal_client.terminal.palette import Palette

__all__ = ["Settings", "load", "load_keys", "save"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is remembered."""

    name: str = ""
    """The player's name; empty until the first start has asked for it."""
    server: str = ""
    """The address used last; empty for the default one."""
    palette: Palette = Palette.TWO
    ascii: bool = False
    last_run: str = ""
    """The own run that was over last, to be raced again; empty before there is one."""

    def with_palette(self, palette: Palette) -> "Settings":
        return replace(self, palette=palette)

    def with_ascii(self) -> "Settings":
        return replace(self, ascii=True)


def folder() -> Path:
    """Where the files are."""
    return Path(platformdirs.user_config_dir("samedeal", appauthor=False))


def load() -> Settings:
    """Read what is remembered. Raise BadSettings, in one sentence, if it cannot be read."""
    path = folder() / "settings.toml"
    text = _read(path)
    if text is None:
        return Settings()
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{path} is not TOML: {error}") from None
    name, server = read.get("name", ""), read.get("server", "")
    palette, is_ascii = read.get("colours", "two"), read.get("ascii", False)
    if not isinstance(name, str) or not isinstance(server, str) or not isinstance(is_ascii, bool):
        raise BadSettings(f"{path}: name and server are texts, ascii is true or false")
    last_run = read.get("last-run", "")
    if not isinstance(last_run, str):
        raise BadSettings(f"{path}: last-run is a text")
    if palette not in list(Palette):
        raise BadSettings(f"{path}: colours is one of {', '.join(Palette)}")
    return Settings(name, server, Palette(palette), is_ascii, last_run)


def save(settings: Settings) -> None:
    """Remember. Raise BadSettings if that is not possible."""
    path = folder() / "settings.toml"
    lines = {
        "name": settings.name,
        "server": settings.server,
        "colours": settings.palette.value,
        "ascii": settings.ascii,
        "last-run": settings.last_run,
    }
    text = "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
    fresh = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, "utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise BadSettings(f"cannot write {path}: {error.strerror}") from None


def _toml(value: str | bool) -> str:
    """A JSON text is a TOML text, and so are its true and false, but for these two things.

    TOML knows no letters in halves, as JSON's escapes have them, and no bare delete.
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def load_keys() -> Keys:
    """Read the player's keys; the default ones where there is no file. Raise BadSettings."""
    path = folder() / "keys.toml"
    text = _read(path)
    return Keys() if text is None else Keys.parse(text, str(path))


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}") from None
