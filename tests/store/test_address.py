"""What `--redis URL` may say."""

import pytest

from samedeal_server.errors import CannotServe
from samedeal_server.store.address import StoreAddress


def test_a_full_url_is_read_whole() -> None:
    address = StoreAddress.parse("rediss://ann:s%40fe@store.example:6380/3")
    assert (address.host, address.port, address.tls) == ("store.example", 6380, True)
    assert (address.username, address.password, address.database) == ("ann", "s@fe", 3)


def test_a_socket_is_a_path_with_an_optional_database() -> None:
    address = StoreAddress.parse("unix:///run/store.sock?db=2")
    assert (address.path, address.database, address.tls) == ("/run/store.sock", 2, False)


def test_valkey_is_another_word_for_redis() -> None:
    address = StoreAddress.parse("valkey://127.0.0.1")
    assert (address.host, address.port, address.path) == ("127.0.0.1", 6379, "")


def test_a_log_never_shows_the_password() -> None:
    assert "hush" not in StoreAddress.parse("redis://ann:hush@h:1").shown


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://h", "redis://h:port", "memory://"])
def test_anything_else_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(CannotServe, match="--redis"):
        StoreAddress.parse(url)
