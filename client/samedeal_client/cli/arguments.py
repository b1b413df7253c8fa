"""Arguments that are checked where they are read, each with a sentence of its own."""

import argparse
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from samedeal.protocol import days, fields
from samedeal.protocol.limits import LINK_LETTERS, MAX_NAME, MAX_TEXT, MIN_NAME
from samedeal_client.errors import CannotConnect
from samedeal_client.wire import addresses

__all__ = [
    "DEFAULT_SERVER",
    "add_server",
    "code",
    "day",
    "link_code",
    "name",
    "new_file",
    "number",
    "pace",
    "race_id",
    "race_or_code",
    "seed",
    "server",
    "whole",
]

DEFAULT_SERVER: Final = "ws://127.0.0.1:8750"

MAX_PACE_S: Final = 60.0
_RACE: Final[TypeAdapter[str]] = TypeAdapter(fields.RaceId)
_LINK: Final[TypeAdapter[str]] = TypeAdapter(fields.LinkCode)
_CODE: Final[TypeAdapter[str]] = TypeAdapter(fields.Code)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Read a whole number in a range."""

    def read(text: str) -> int:
        digits = text.lstrip("0") or "0"
        is_number = text.isascii() and text.isdecimal() and len(digits) <= len(str(most))
        if not is_number or not least <= int(digits) <= most:
            raise argparse.ArgumentTypeError(f"{text[:20]!r} is not from {least} to {most}")
        return int(digits)

    return read


def number(least: float, most: float, what: str = "") -> Callable[[str], float]:
    """Read a number in a range, of `what`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            span = f"from {least:g} to {most:g}"
            raise argparse.ArgumentTypeError(f"{text[:20]!r} is not {span} {what}".rstrip())
        return value

    return read


pace = number(0, MAX_PACE_S, "seconds")
"""Read seconds between moves."""


def day(text: str) -> int:
    """Read a day of the daily challenge by its number or date. Return the number."""
    try:
        return days.named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def seed(text: str) -> str:
    """Read a seed for a practice deal."""
    if not 1 <= len(text) <= MAX_TEXT or not text.isprintable():
        raise argparse.ArgumentTypeError(f"a seed has 1 to {MAX_TEXT} printable characters")
    return text


def new_file(text: str) -> Path:
    """Read the name of a file to write, before anything is played for it."""
    path = Path(text)
    if (reason := _unwritable(path)) is not None:
        raise argparse.ArgumentTypeError(f"cannot write {text[:200]}: {reason}")
    return path


def _unwritable(path: Path) -> str | None:
    """Say what speaks against writing a file; None if nothing does."""
    try:
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}"
        if path.is_dir():
            return "it is a folder"
        place = path if path.exists() else path.parent
    except OSError as error:
        return error.strerror
    return None if os.access(place, os.W_OK) else "it may not be written"


def name(text: str) -> str:
    """Read a player's name; whether it can be one is the server's word."""
    if not 1 <= len(text) <= 4 * MAX_NAME:
        raise argparse.ArgumentTypeError(f"a name has {MIN_NAME} to {MAX_NAME} characters")
    return text


def code(text: str) -> str:
    """Read a join code, in either case."""
    try:
        return _CODE.validate_python(text.upper())
    except ValidationError:
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is no join code: 4 to 8 letters and digits without 0, O, 1 and I"
        ) from None


def race_id(text: str) -> str:
    """Read the id of a race."""
    try:
        return _RACE.validate_python(text)
    except ValidationError:
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is no race id: 16 small letters and digits"
        ) from None


def race_or_code(text: str) -> str:
    """Read the id of a race, or a join code in either case."""
    try:
        return race_id(text)
    except argparse.ArgumentTypeError:
        return code(text)


def link_code(text: str) -> str:
    """Read a code that lets a device into an account, in either case."""
    try:
        return _LINK.validate_python(text.upper())
    except ValidationError:
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is no link code: {LINK_LETTERS} letters and digits without 0, O, 1, I"
        ) from None


def server(text: str) -> str:
    """Read the address of a server, or several with commas between."""
    try:
        addresses(text)
    except CannotConnect as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def add_server(parser: argparse.ArgumentParser, *, is_below: bool = False) -> None:
    """Add the option that says which server a command talks to.

    `is_below`: the parser belongs to a command that has the option too; not given, that one counts.
    """
    usual = os.environ.get("SAMEDEAL_SERVER", DEFAULT_SERVER)
    shown = usual.replace("%", "%%")
    parser.add_argument(
        "--server",
        type=server,
        default=argparse.SUPPRESS if is_below else usual,
        metavar="URL[,URL...]",
        help=f"server, or several nodes of one service ({shown}; SAMEDEAL_SERVER sets it)",
    )
