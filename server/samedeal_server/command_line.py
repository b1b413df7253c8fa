"""What the server's programs have in common: how they complain, and where the data is."""

import argparse
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from samedeal.printable import MAX_SENTENCE, printable

__all__ = ["BAD_INPUT", "Parser", "complain", "default_data"]

BAD_INPUT: Final = 2


def complain(sentence: object, program: str = "samedeal") -> int:
    """Say on one line what is wrong, whatever the input was that it names. Return the exit code."""
    print(f"{program}: {printable(str(sentence), MAX_SENTENCE)}", file=sys.stderr)
    return BAD_INPUT


class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        program = self.prog.partition(" ")[0]
        self.exit(complain(f"{message} ({self.prog} --help explains)", program))


def default_data() -> Path:
    """The folder of the private store where none is named."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "samedeal"
