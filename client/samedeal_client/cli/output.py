"""Exit codes and the one way to complain: a sentence on stderr."""

import argparse
import sys
from typing import NoReturn

__all__ = ["BAD_INPUT", "FINE", "NO", "Parser", "complain"]

FINE, NO, BAD_INPUT = 0, 1, 2


def complain(sentence: object) -> int:
    """Say what was wrong with the input. Return the exit code for it."""
    print(f"samedeal: {sentence}", file=sys.stderr)
    return BAD_INPUT


class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"samedeal: {message} (samedeal --help explains)\n")
