"""Which day is it, by the store's clock, and when does it end?"""

from dataclasses import dataclass

from samedeal.protocol import days

__all__ = ["Calendar"]


@dataclass(slots=True)
class Calendar:
    """The days at times of the store's clock."""

    ahead_ms: int = 0
    """How far the days are ahead of that clock."""

    def day_at(self, now_ms: int) -> int:
        """Return the number of the day."""
        return days.number_at(now_ms + self.ahead_ms)

    def ends_at_ms(self, day: int) -> int:
        """Return when a day ends and the next begins, by the store's clock."""
        return days.begins_at_ms(day + 1) - self.ahead_ms

    def closes_at_ms(self, day: int) -> int:
        """Return when the last runs of a day end."""
        return self.ends_at_ms(day) + days.GRACE_MS

    def open_from(self, now_ms: int) -> int:
        """Return the first day that is not closed: yesterday in the hour after midnight."""
        today = self.day_at(now_ms)
        return today - int(now_ms < self.closes_at_ms(today - 1))
