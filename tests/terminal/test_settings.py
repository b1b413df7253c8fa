"""What the terminal client remembers is what it reads at the next start."""

import pytest

from samedeal_client.errors import BadSettings
from samedeal_client.terminal.palette import Palette
from samedeal_client.terminal.settings import Settings, folder, load, save

pytestmark = pytest.mark.usefixtures("new_here")


@pytest.mark.parametrize("name", ["ada", "zoë", "\U00020bb7田", 'a"b\\c', "a\tb\x00c\x7fd"])
def test_any_name_is_remembered(name: str) -> None:
    settings = Settings(name, "wss://play.example", Palette.MONO, True, "race000000000001.1")
    save(settings)
    assert load() == settings


def test_nothing_is_remembered_before_the_first_time() -> None:
    assert load() == Settings()


@pytest.mark.parametrize("text", ["name = 3", 'colours = "red"', "ascii = 1", "name =", "\udc80"])
def test_what_cannot_be_meant_is_told_with_the_file(text: str) -> None:
    folder().mkdir(parents=True)
    path = folder() / "settings.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BadSettings, match=r"settings\.toml"):
        load()
