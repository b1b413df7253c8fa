"""What can go wrong between a player and a server.

ClientError
├── CannotConnect         nothing answers there
├── NotASamedealServer    something answers, but it does not speak this protocol
├── ConnectionLost        the link broke, and did not come back in time or broke a request in two
├── Refused               the server, or the race as it stands here, says no: a code and a sentence
├── SeatLost              another connection holds the seat now, or the race is gone
├── OutOfStep             client and server differ in the rules: one of them has to be updated
├── ServerFailed          a server started from here did not get up
└── AccountDamaged        a saved account cannot be read; it was moved aside
"""

from pathlib import Path

from samedeal.protocol.errors import ErrorCode

__all__ = [
    "AccountDamaged",
    "CannotConnect",
    "ClientError",
    "ConnectionLost",
    "NotASamedealServer",
    "OutOfStep",
    "Refused",
    "SeatLost",
    "ServerFailed",
]


class ClientError(Exception):
    """Root of what this package raises. Its text is a sentence for the player."""


class CannotConnect(ClientError):
    """Nothing answers at `url`."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(url, reason)

    def __str__(self) -> str:
        return f"no server answers at {self.url} ({self.reason}); samedeal serve starts one"


class NotASamedealServer(ClientError):
    """What answers at `url` is something else."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(url, reason)

    def __str__(self) -> str:
        return f"{self.url} is not a samedeal server: {self.reason}"


class ConnectionLost(ClientError):
    """The link is gone for good, or went before it was known whether a request was done."""


class Refused(ClientError):
    """A request is answered no. Nothing was done."""

    def __init__(self, code: ErrorCode, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(code, sentence)

    def __str__(self) -> str:
        return self.sentence


class SeatLost(ClientError):
    """This connection plays no more in the race."""


class OutOfStep(ClientError):
    """The table here is not the server's, even when it is played again from the deal."""

    def __str__(self) -> str:
        return "client and server do not agree on the table; one of them has to be updated"


class ServerFailed(ClientError):
    """The server process ended or stayed silent. The text says what it said."""


class AccountDamaged(ClientError):
    """The file of a saved account makes no sense."""

    def __init__(self, path: Path, moved_to: Path) -> None:
        self.path = path
        self.moved_to = moved_to
        super().__init__(path, moved_to)

    def __str__(self) -> str:
        return (
            f"the saved account {self.path} cannot be read and was moved to {self.moved_to}; "
            "the same command again plays as a new guest"
        )
