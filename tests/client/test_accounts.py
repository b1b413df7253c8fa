"""Tokens of this user: kept private, whole, and apart."""

import stat
from pathlib import Path

import pytest

from samedeal_client.accounts import guest_name, keep, recall
from samedeal_client.errors import BadAccounts

SERVER = "ws://127.0.0.1:8750"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def files(state: Path) -> list[Path]:
    return [path for path in state.rglob("*") if path.is_file()]


def test_a_token_comes_back_under_its_server_and_name() -> None:
    keep(SERVER, "ada", "token")
    assert recall(SERVER, "ada") == "token"
    assert recall(SERVER, "Ada") is None
    assert recall("ws://elsewhere:1", "ada") is None


def test_a_later_token_takes_the_place_of_the_earlier() -> None:
    keep(SERVER, "ada", "old")
    keep(SERVER, "ada", "new")
    assert recall(SERVER, "ada") == "new"


@pytest.mark.parametrize("name", ["..", ".", "a" * 24, "名前"])
def test_any_name_can_be_kept(name: str, state: Path) -> None:
    keep(SERVER, name, "token")
    assert recall(SERVER, name) == "token"
    assert [path.parent.parent for path in files(state)] == [state / "samedeal"]


def test_only_the_user_may_read_the_file(state: Path) -> None:
    keep(SERVER, "ada", "token")
    [path] = files(state)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"token": 1}', b"[" * 100_000, b"\xff"])
def test_a_damaged_file_is_moved_aside_and_named_in_one_sentence(
    damage: bytes, state: Path
) -> None:
    keep(SERVER, "ada", "token")
    [path] = files(state)
    path.write_bytes(damage)
    with pytest.raises(BadAccounts) as caught:
        recall(SERVER, "ada")
    [aside] = files(state)
    assert aside.read_bytes() == damage
    assert str(aside) in str(caught.value)
    assert recall(SERVER, "ada") is None


def test_a_second_damaged_file_does_not_replace_the_first(state: Path) -> None:
    for damage in (b"one", b"two"):
        keep(SERVER, "ada", "token")
        next(path for path in files(state) if path.suffix == ".json").write_bytes(damage)
        with pytest.raises(BadAccounts):
            recall(SERVER, "ada")
    assert {path.read_bytes() for path in files(state)} == {b"one", b"two"}


def test_a_folder_that_cannot_be_made_is_one_sentence(state: Path) -> None:
    (state / "samedeal").write_text("in the way")
    with pytest.raises(BadAccounts, match="cannot keep the account"):
        keep(SERVER, "ada", "token")


def test_a_guest_gets_a_readable_name() -> None:
    how, who, number = guest_name().split("-")
    assert how.isalpha()
    assert who.isalpha()
    assert number.isdecimal()
