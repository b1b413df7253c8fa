"""What a row of a leaderboard says, on the screen and in lines."""

import pytest

from samedeal.protocol.board_messages import BoardRow
from samedeal_client.model.standings import result_of


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"wins": 3, "races": 7}, "3 won of 7"),
        ({"won": True, "moves": 88, "t_ms": 125_250}, "won, 88 moves, 2:05.25"),
        (
            {"won": False, "best": 9, "opened": 4, "moves": 5, "t_ms": 900},
            "best 9, opened 4 after 5 moves, 0:00.90",
        ),
        ({"won": True, "moves": 1, "t_ms": 10}, "won, 1 move, 0:00.01"),
        ({"rating": 1642}, "rated 1642"),
        ({"days": 12}, "12 days"),
        ({"days": 1}, "1 day"),
        ({"percent": 6250}, "62.50 %"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_row_tells_its_numbers(numbers: dict[str, int], said: str) -> None:
    row = BoardRow(place=1, player="a" * 16, name="ada", at_ms=1, **numbers)
    assert result_of(row) == said
