"""What a client's calls raise.

ClientError
├── Refused            the server said no: a code and a sentence
├── CannotConnect      no samedeal server answers at that address
├── ConnectionLost     the connection is gone for good, or was closed by this client
├── Unanswered         no answer came in time; a move is kept and goes on being sent
│   └── Uncertain      (people) nobody can say whether the token was replaced
├── BadReplay          (replays) a replay cannot be read or does not hold
├── ServerFailed       a server process that this program started does not run
├── BadAccounts        the file of account tokens cannot be read or written
└── BadSettings        a settings file of the terminal client cannot be read or written
"""

from samedeal.protocol.errors import ErrorCode

__all__ = [
    "BadAccounts",
    "BadSettings",
    "CannotConnect",
    "ClientError",
    "ConnectionLost",
    "Refused",
    "ServerFailed",
    "Unanswered",
]


class ClientError(Exception):
    """Root of what this package raises."""


class Refused(ClientError):
    """The server answered no."""

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


class CannotConnect(ClientError):
    """Nothing that speaks this protocol answers there."""


class ConnectionLost(ClientError):
    """The connection is gone and will not come back by itself."""


class Unanswered(ClientError):
    """The server has not answered in time."""


class ServerFailed(ClientError):
    """A server process that this program started does not run."""


class BadAccounts(ClientError):
    """The account file is damaged or cannot be written."""


class BadSettings(ClientError):
    """A settings file says what cannot be meant, or cannot be read or written."""
