"""The picture of the README shows the terminal client as it is."""

from picture import PICTURE, drawn


async def test_the_picture_is_the_one_the_client_draws_now() -> None:
    assert await drawn() == PICTURE.read_text("utf-8")
