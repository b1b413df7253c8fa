"""Account tokens of this user, by server and name, in one private file."""

import json
import os
import secrets
import tempfile
from pathlib import Path

from samedeal_client.errors import BadAccounts

__all__ = ["guest_name", "keep", "recall"]

_HOW = ("quick", "calm", "bold", "keen", "merry", "quiet", "swift", "wise")
_WHO = ("heron", "otter", "lynx", "wren", "marten", "finch", "badger", "hare")


def guest_name() -> str:
    """A readable name for who gave none."""
    return f"{secrets.choice(_HOW)}-{secrets.choice(_WHO)}-{secrets.randbelow(90) + 10}"


def recall(server: str, name: str) -> str | None:
    """Return the token kept for a name on a server. Raise BadAccounts for a damaged file."""
    token = _read().get(f"{server} {name}")
    return token if isinstance(token, str) else None


def keep(server: str, name: str, token: str) -> None:
    """Keep a token. Raise BadAccounts if the file is damaged or cannot be written."""
    accounts = {**_read(), f"{server} {name}": token}
    path = _path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump(accounts, file)
        os.replace(temporary, path)
    except OSError as error:
        raise BadAccounts(f"cannot keep the account in {path}: {error.strerror}") from None


def _path() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "samedeal" / "accounts.json"


def _read() -> dict[str, object]:
    path = _path()
    try:
        accounts = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadAccounts(
            f"the account file {path} cannot be read ({error}); move it away to start anew"
        ) from None
    if not isinstance(accounts, dict):
        raise BadAccounts(f"the account file {path} is damaged; move it away to start anew")
    return accounts
