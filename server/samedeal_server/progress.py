"""Progress on its way to one member: with an ack that is near anyway, or by itself.

A write costs as much as all the rest of a move. Whoever moves several times a second gets what is
new of the others along with an ack, and needs no write of its own for it.
"""

__all__ = ["PATIENCE_S", "Progress"]

_QUICK_S = 0.25
"""Whoever had an ack so lately is about to have another one."""
PATIENCE_S = 0.15
"""How long what is new waits for it."""


class Progress:
    """What a member has yet to be told, framed; all times in seconds of one clock."""

    __slots__ = ("_acked_at", "_due_at", "_framed")

    def __init__(self) -> None:
        self._framed = b""
        self._due_at = self._acked_at = float("-inf")

    def add(self, framed: bytes, now: float) -> float | None:
        """Put a frame behind what waits. Return when it is due, if nothing has waited before."""
        if self._framed:
            self._framed += framed
            return None
        self._framed = framed
        is_quick = now - self._acked_at < _QUICK_S
        self._due_at = now + PATIENCE_S if is_quick else now
        return self._due_at

    def with_ack(self, now: float) -> bytes:
        """Note that an ack goes out. Return what goes along with it."""
        self._acked_at = now
        return self.take()

    def due(self, now: float) -> bytes:
        """Return what need not wait any longer."""
        return b"" if now < self._due_at else self.take()

    def take(self) -> bytes:
        """Return all that waits."""
        framed, self._framed = self._framed, b""
        return framed
