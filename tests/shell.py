"""`samedeal ... --json` as a process with its input open, for tests of the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from support import PATIENCE_S

__all__ = ["Shell"]


class Shell:
    """`samedeal ... --json` with its input open."""

    def __init__(self, state: Path, server: str, *words: str) -> None:
        self._command = [sys.executable, "-m", "samedeal_client.cli.main", *words, "--json"]
        self._env = {**os.environ, "XDG_STATE_HOME": str(state), "SAMEDEAL_SERVER": server}

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self._command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=self._env
        )
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()

    def type(self, *lines: str) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        """Return the next object of that type; pytest's own limit ends a wait in vain."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said: dict[str, Any] = json.loads(line)
            if said["type"] == kind:
                return said
        assert self.process.stderr is not None
        raise AssertionError(f"it ended without saying {kind!r}: {self.process.stderr.read()}")

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        """End the input and wait. Return exit code, what was said since, and stderr."""
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        # Not communicate(): it knows nothing of what the reading of lines has buffered.
        said = [json.loads(line) for line in process.stdout]
        err = process.stderr.read()
        return process.wait(PATIENCE_S), said, err
