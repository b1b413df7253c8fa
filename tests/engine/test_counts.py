"""Numbers of things in words."""

import pytest

from samedeal.engine.counts import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 moves"), (1, "1 move"), (2, "2 moves"), (21, "21 moves")]
)
def test_one_is_not_many(number: int, said: str) -> None:
    assert counted(number, "move") == said
    assert counted(number, "move", 4) == f"{said:>{len(said) + 4 - len(str(number))}}"
