"""The commands in groups, one line each: what `samedeal --help` shows."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from samedeal_client.cli.output import Parser

__all__ = ["GROUPS", "Commands"]

GROUPS: Final = (
    ("play", ("play", "race", "join", "match", "lobby")),
    ("the daily and the boards", ("daily", "board")),
    ("watch and replay", ("watch", "live", "replay", "ghost", "chart", "card", "verify")),
    ("people", ("me", "friend")),
    ("host", ("serve", "demo", "bot", "bench")),
    ("the engine, for scripts", ("games", "deal", "moves", "check", "apply")),
)


# It has no public name, and is generic for type checkers alone.
if TYPE_CHECKING:
    _Parsers = argparse._SubParsersAction[Parser]
else:
    _Parsers = argparse._SubParsersAction


class Commands(_Parsers):
    """Parsers of commands; what each is for is kept for the groups."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._about: dict[str, str] = {}

    def add_parser(self, name: str, **kwargs: Any) -> Parser:
        """Add the parser of a command."""
        self._about[name] = kwargs.pop("help")
        parser = super().add_parser(name, **kwargs)
        # What no parser knows is left for the first one, whose help is no help with it.
        parser.set_defaults(parser=parser)
        return parser

    def listed(self) -> str:
        """All commands by group, as lines."""
        lines: list[str] = []
        for title, names in GROUPS:
            lines += ["", f"{title}:"]
            lines += [f"  {name:<8}{self._about[name]}" for name in names]
        return "\n".join(lines)
