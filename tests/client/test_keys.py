"""Which key does what, by default and by a player's file."""

import re

import pytest

from samedeal_client.errors import BadSettings
from samedeal_client.model.keys import DEFAULT_KEYS, Action, Keys


def test_no_key_has_two_meanings() -> None:
    every = [key for keys in DEFAULT_KEYS.values() for key in keys]
    assert len(every) == len(set(every))
    assert set(DEFAULT_KEYS) == set(Action)


def test_no_default_needs_alt_a_function_key_or_a_mouse() -> None:
    every = [key for keys in DEFAULT_KEYS.values() for key in keys]
    assert not [key for key in every if key.startswith("alt") or re.fullmatch(r"f\d+", key)]


def test_the_unshifted_row_of_a_french_keyboard_names_columns() -> None:
    assert [Keys().action(key) for key in "&é\"'("] == [Action(f"pile-{n}") for n in range(1, 6)]


def test_what_is_printed_is_read_back_the_same() -> None:
    keys = Keys.parse('[keys]\nundo = ["z"]\ndraw = "d"')
    assert Keys.parse(keys.toml()).toml() == keys.toml()
    assert keys.action("z") is Action.UNDO
    assert keys.action("d") is Action.DRAW
    assert keys.action("u") is None


def test_a_key_given_away_leaves_its_old_action() -> None:
    keys = Keys.parse('[keys]\nhint = ["u"]')
    assert keys.action("u") is Action.HINT
    assert keys.name(Action.UNDO) == "ctrl+z"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("keys = [", "not TOML"),
        ("[keys]\nfly = ['a']", "no action 'fly'"),
        ("[keys]\nundo = [1]", "needs a list of keys"),
        ("[keys]\nundo = ['a']\nhint = ['a']", "stands for undo and for hint"),
        ("[colours]\nx = 1", "one table, keys"),
        ("keys = 3", "keys is a table"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadSettings, match=sentence):
        Keys.parse(text)
