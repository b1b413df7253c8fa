"""Bad words for the server's programs get one line that prints."""

import subprocess
import sys

import pytest

SERVE = ("samedeal_server", "serve")
ADMIN = ("samedeal_server.admin.command",)


@pytest.mark.parametrize(
    ("program", "words", "begin"),
    [
        (SERVE, ["--po\nrt"], "samedeal: unrecognized arguments: --po?rt (samedeal --help"),
        (SERVE, ["--port", "70000"], "samedeal: --port 70000 is not from 0 to 65535"),
        (SERVE, ["--limit-actions", "fast"], "samedeal: argument --limit-actions: "),
        (SERVE, ["--data", "/dev/null/\x1b[31m"], "samedeal: --data /dev/null/?[31m: "),
        (ADMIN, ["dance\n\x1b[31m"], "samedeal-admin: argument COMMAND: invalid choice: "),
        (ADMIN, ["log", "--limit", "0"], "samedeal-admin: argument --limit: '0' is not from 1 to"),
        (ADMIN, ["--redis", "a\nb", "log"], "samedeal-admin: "),
    ],
    ids=lambda part: part[-1] if isinstance(part, list) else None,
)
def test_bad_words_get_one_line_that_prints(
    program: tuple[str, ...], words: list[str], begin: str
) -> None:
    command = [sys.executable, "-m", *program, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(begin)
    assert done.stderr.removesuffix("\n").isprintable()
