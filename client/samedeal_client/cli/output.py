"""What the program says: exit codes, results for people or programs, complaints on stderr."""

import argparse
import json
import sys
from pathlib import Path
from typing import NoReturn

from samedeal.printable import MAX_SENTENCE, printable
from samedeal_client.errors import ClientError

__all__ = ["BAD_INPUT", "FAULT", "FINE", "NO", "Parser", "Voice", "complain", "write"]

FINE, NO, BAD_INPUT, FAULT = 0, 1, 2, 70


def complain(sentence: object, *, code: int = BAD_INPUT) -> int:
    """Say on one line what is wrong, whatever the input was that it names. Return the exit code."""
    print(f"samedeal: {printable(str(sentence), MAX_SENTENCE)}", file=sys.stderr)
    return code


class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message} ({self.prog} --help explains)"))


class Voice:
    """Says things on standard output: as text, or as one JSON object a line."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def say(self, kind: str, text: str, **facts: object) -> None:
        """Say `text`; the facts are for programs."""
        if self.as_json:
            text = json.dumps({"type": kind, "text": text, **facts})
        print(text, flush=True)


def write(path: Path, text: str) -> None:
    """Write a file. Raise ClientError if that is not possible."""
    try:
        path.write_text(text, "utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ClientError(f"cannot write {path}: {reason}") from None
