"""Skills: what an order does to them, what is shown of them, how they are written down."""

from __future__ import annotations

import pytest

from samedeal_server.skill import NEW, PROVISIONAL_RACES, Shown, Skill, rate


def numbers(skills: list[Skill]) -> list[int]:
    return [skill.shown.number for skill in skills]


def test_everyone_begins_in_the_middle_and_provisionally() -> None:
    assert str(NEW.shown) == "1500?"


def test_the_winner_rises_as_the_loser_falls() -> None:
    first, second = rate([NEW, NEW], [1, 2])
    assert first.shown.number > 1500 > second.shown.number
    assert (first.sigma < NEW.sigma, second.sigma < NEW.sigma) == (True, True)


@pytest.mark.parametrize("players", range(2, 9))
def test_of_equals_the_order_of_up_to_eight_is_the_order_of_their_ratings(players: int) -> None:
    rated = numbers(rate([NEW] * players, list(range(1, players + 1))))
    assert rated == sorted(rated, reverse=True)
    assert len(set(rated)) == players


def test_who_shares_a_place_moves_alike_and_between_the_others() -> None:
    first, second, third, fourth = numbers(rate([NEW] * 4, [1, 2, 2, 4]))
    assert first > second == third > fourth


def test_to_beat_the_stronger_is_worth_more() -> None:
    strong = Skill(32.0, 3.0, 40)
    (upset, _), (expected, _) = rate([NEW, strong], [1, 2]), rate([NEW, NEW], [1, 2])
    assert upset.mu > expected.mu


def test_a_rating_is_provisional_for_fifteen_races() -> None:
    skill, other = NEW, NEW
    shown = []
    for _ in range(PROVISIONAL_RACES):
        shown.append(skill.shown.is_provisional)
        skill, other = rate([skill, other], [1, 1])
    assert shown == [True] * 15
    assert not skill.shown.is_provisional


def test_skills_are_written_exactly() -> None:
    skill, _ = rate([NEW, Skill(31.7, 2.9, 3)], [2, 1])
    assert Skill.parse(str(skill)) == skill
    assert [Shown.parse(text) for text in ("1523?", "0")] == [Shown(1523, True), Shown(0, False)]
