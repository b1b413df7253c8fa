"""What no person can have played: bursts of moves, and a pace as even as a clock."""

from __future__ import annotations

import random

import pytest

from samedeal_server.suspicion import suspicions

RNG = random.Random(7)


def played(*gaps_ms: int, action: str = "W>T1") -> list[tuple[str, int]]:
    """A run with these pauses before its actions."""
    at, log = 0, []
    for gap in gaps_ms:
        at += gap
        log.append((action, at))
    return log


@pytest.mark.parametrize(
    ("log", "found"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(played(*[90] * 19), [], id="a short burst"),
        pytest.param(played(*[150] * 20), ["20 moves in 2.9 s"], id="a long burst"),
        pytest.param(
            played(*[3000] * 10, *[100 + n % 9 for n in range(20)], 9000),
            ["20 moves in 2.0 s"],
            id="a burst in the midst of thinking",
        ),
        pytest.param(
            played(*[500] * 60), ["59 moves as even as a clock, every 0.50 s"], id="a metronome"
        ),
        pytest.param(
            played(*(int(RNG.lognormvariate(0, 0.5) * 600) for _ in range(150))), [], id="a person"
        ),
        pytest.param(played(*[40] * 300, action="draw"), [], id="a key held down"),
        pytest.param(played(*[40] * 300, action="undo"), [], id="all taken back"),
    ],
)
def test_a_run_is_suspicious_for_its_times_alone(
    log: list[tuple[str, int]], found: list[str]
) -> None:
    assert suspicions(log) == found
