"""What goes wrong inside the server, by kind.

ServerError
├── CannotServe          the server cannot start: settings, port or store
├── SeedUsed             a seed drawn for a day is another day's: randomness is broken
├── StoreUnavailable     the store does not answer; whether the last write happened is unknown
├── NameTaken            somebody has the name, or one that reads like it
├── Refusal              a request is answered no: an ErrorCode and a sentence for the player
└── of one module alone: Fenced (runs), CannotBePlayed, JudgeGone (judge), CannotDo (admin)
"""

from samedeal.protocol.errors import ErrorCode

__all__ = [
    "CannotServe",
    "NameTaken",
    "Refusal",
    "SeedUsed",
    "ServerError",
    "StoreUnavailable",
]


class ServerError(Exception):
    """Root of what this package raises."""


class CannotServe(ServerError):
    """The server cannot start; the text says what to do."""


class SeedUsed(ServerError):
    """A seed that was drawn for a day is another day's: the source of randomness is broken."""


class StoreUnavailable(ServerError):
    """The store did not answer in time. The outcome of a write is unknown until it is read back."""


class NameTaken(ServerError):
    """Somebody has the name, or one that reads like it."""


class Refusal(ServerError):
    """A request is answered no."""

    def __init__(
        self,
        code: ErrorCode,
        sentence: str,
        *,
        expected: int | None = None,
        retry_ms: int | None = None,
    ) -> None:
        self.code = code
        self.sentence = sentence
        self.expected = expected
        self.retry_ms = retry_ms
        super().__init__(sentence)
