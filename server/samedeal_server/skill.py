"""How strong a player is: an estimate with its uncertainty, moved by the order of a race."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce

__all__ = ["NEW", "PROVISIONAL_RACES", "Shown", "Skill", "rate"]

PROVISIONAL_RACES: Final = 15
_MODEL: Final = PlackettLuce()
_MIDDLE, _STEP, _MOST = 1500, 40, 9999
"""What is shown of an estimate: mu 25 is 1500, and one sigma of a new player 333."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What people see of a skill; as text `1523`, or `1523?` while it is provisional."""

    number: int
    is_provisional: bool

    @classmethod
    def parse(cls, text: str) -> "Shown":
        return cls(int(text.rstrip("?")), text.endswith("?"))

    def __str__(self) -> str:
        return f"{self.number}{'?' if self.is_provisional else ''}"


@dataclass(frozen=True, slots=True)
class Skill:
    """The estimate of one player in one game, exact as text."""

    mu: float
    sigma: float
    races: int
    """Ranked races it rests on."""

    @classmethod
    def parse(cls, text: str) -> "Skill":
        mu, sigma, races = text.split()
        return cls(float(mu), float(sigma), int(races))

    def __str__(self) -> str:
        return f"{self.mu!r} {self.sigma!r} {self.races}"

    @property
    def shown(self) -> Shown:
        number = round(_MIDDLE + _STEP * (self.mu - _MODEL.mu))
        return Shown(max(0, min(_MOST, number)), self.races < PROVISIONAL_RACES)


NEW: Final = Skill(_MODEL.mu, _MODEL.sigma, 0)
"""Everyone's before the first ranked race."""


def rate(skills: Sequence[Skill], places: Sequence[int]) -> list[Skill]:
    """Return the skills after a race in which they took these places; places may be shared."""
    teams = [[_MODEL.rating(skill.mu, skill.sigma)] for skill in skills]
    moved = _MODEL.rate(teams, ranks=[float(place) for place in places])
    return [
        Skill(rating.mu, rating.sigma, skill.races + 1)
        for (rating,), skill in zip(moved, skills, strict=True)
    ]
