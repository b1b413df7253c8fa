"""Every command but those that ask the engine alone; to load them takes a while."""

import argparse

from samedeal_client.bench import command as bench
from samedeal_client.cli import (
    boards,
    daily,
    demo,
    ghost,
    lobby,
    match,
    me,
    online,
    pictures,
    play,
    replay,
    watch,
)
from samedeal_client.cli.output import Parser

__all__ = ["add_parsers"]


def add_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parsers of these commands."""
    commands.add_parser("serve", help="run the server (samedeal serve --help)")
    play.add_parser(commands)
    online.add_parsers(commands)
    watch.add_parsers(commands)
    daily.add_parser(commands)
    replay.add_parser(commands)
    ghost.add_parser(commands)
    pictures.add_parsers(commands)
    boards.add_parsers(commands)
    me.add_parser(commands)
    lobby.add_parser(commands)
    match.add_parser(commands)
    demo.add_parser(commands)
    bench.add_parser(commands)
