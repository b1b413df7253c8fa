"""The list of commands: all of them, in groups, and what a word that is missing is told."""

from __future__ import annotations

import re

import pytest

from samedeal_client.cli.groups import GROUPS
from support import run_cli


def test_help_lists_each_command_once_in_its_group_on_one_line() -> None:
    code, out, _ = run_cli("--help")
    assert code == 0
    listed = re.findall(r"^  ([a-z]+) +\S", out, re.MULTILINE)
    assert [name for _, names in GROUPS for name in names] == [
        name for name in listed if name != "h"
    ]
    assert all(f"\n{title}:\n" in out for title, _ in GROUPS)
    assert max(map(len, out.splitlines())) <= 80
    # What the parser takes is what is listed.
    _, _, wrong = run_cli("no-such-command")
    assert set(re.findall(r"'([a-z]+)'", wrong.partition("choose from")[2])) == set(listed)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--server", "ws://127.0.0.1:1"], "this needs a terminal; in a pipe use samedeal race"),
        (["--local"], "this needs a terminal; in a pipe use samedeal race"),
        (["--server", "nowhere"], "argument --server: 'nowhere' is no address of a server"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_options_without_a_command_are_those_of_the_terminal_client(
    words: list[str], wrong: str
) -> None:
    code, out, told = run_cli(*words)
    assert (code, out) == (2, "")
    assert told.startswith(f"samedeal: {wrong}")
    assert told.count("\n") == 1


def test_friend_without_a_word_names_its_words() -> None:
    code, out, wrong = run_cli("friend")
    assert (code, out) == (2, "")
    assert wrong == (
        "samedeal: say what to do: friend add NAME, friend remove NAME, or friend list\n"
    )


def test_bad_words_of_a_command_point_to_its_own_help() -> None:
    for words in (["board", "--limit", "0"], ["board", "--limits"], ["deal", "lanes", "sally"]):
        code, out, wrong = run_cli(*words)
        assert (code, out) == (2, "")
        assert wrong.endswith(f"(samedeal {words[0]} --help explains)\n")
