"""`samedeal`: the one program of players and hosts."""

import argparse
import logging
import os
import sys

from samedeal import __version__
from samedeal.engine.errors import EngineError
from samedeal_client.cli import engine
from samedeal_client.cli.groups import Commands
from samedeal_client.cli.output import FAULT, Parser, complain
from samedeal_client.errors import ClientError

__all__ = ["main"]


def main() -> int:
    """Run the command line. Return the exit code: 0 fine, 1 a no, 2 bad input."""
    argv = sys.argv[1:]
    if argv[:1] == ["serve"]:
        # The server is a package of its own; this process becomes it, signals and all.
        os.execv(sys.executable, [sys.executable, "-m", "samedeal_server", *argv])
    argv = _with_command(argv)
    args, unknown = _parser(argv[0] if argv else "").parse_known_args(argv)
    if unknown:
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    is_debugging = bool(os.environ.get("SAMEDEAL_DEBUG"))
    logging.basicConfig(level=logging.INFO if is_debugging else logging.CRITICAL + 1)
    try:
        code: int = args.run(args)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (EngineError, ClientError) as error:
        return complain(error)
    except BrokenPipeError:
        # Whoever read our output has enough; what is left must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("samedeal: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        if is_debugging:
            raise
        complain(f"a fault of this program: {error!r}; SAMEDEAL_DEBUG=1 shows where")
        return FAULT
    return code


def _with_command(argv: list[str]) -> list[str]:
    """Name the command that `samedeal` without one means: the terminal client.

    Without any words that is so only where there is a terminal.
    """
    if not argv:
        from samedeal_client.cli.play import can_draw

        return ["play"] if can_draw() else []
    is_own = any(own.startswith(argv[0]) for own in ("-h", "--help", "--version"))
    return ["play", *argv] if argv[0].startswith("-") and not is_own else argv


def _parser(command: str) -> argparse.ArgumentParser:
    parser = Parser(
        prog="samedeal",
        usage="samedeal [-h] [--version] COMMAND ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="samedeal COMMAND --help explains a command.\n"
        "Exit codes: 0 fine, 1 a no (illegal, does not verify, lost), 2 bad input,\n"
        "70 a fault of the program.",
    )
    parser.add_argument("--version", action="version", version=f"samedeal {__version__}")
    commands = parser.add_subparsers(
        dest="command",
        required=True,
        metavar="COMMAND",
        prog="samedeal",
        parser_class=Parser,
        action=Commands,
        help=argparse.SUPPRESS,
    )
    assert isinstance(commands, Commands)
    engine.add_parsers(commands)
    if command not in commands.choices:
        # Only here: scripts ask the engine often, and the rest takes five times as long to load as
        # the answer does.
        from samedeal_client.cli import others

        others.add_parsers(commands)
        about = "Patience races: everyone gets the identical deal."
        parser.description = f"{about}\n{commands.listed()}"
    return parser


if __name__ == "__main__":
    sys.exit(main() or 0)
