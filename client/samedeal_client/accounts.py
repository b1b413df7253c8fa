"""Account tokens of this user: a private file for each server and name."""

import contextlib
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path

from samedeal_client.errors import BadAccounts

__all__ = ["forget", "guest_name", "keep", "keep_usual", "recall", "recall_any", "usual_name"]

_HOW = ("quick", "calm", "bold", "keen", "merry", "quiet", "swift", "wise")
_WHO = ("heron", "otter", "lynx", "wren", "marten", "finch", "badger", "hare")


def guest_name() -> str:
    """A readable name for who gave none."""
    return f"{secrets.choice(_HOW)}-{secrets.choice(_WHO)}-{secrets.randbelow(900_000) + 100_000}"


def recall(server: str, name: str) -> str | None:
    """Return the token kept for a name on a server.

    Raise BadAccounts for a damaged file, which is moved aside, not lost.
    """
    path = _path(server, name)
    try:
        account = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadAccounts(f"the account file {path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise _moved_aside(path) from None
    match account:
        case {"server": str(of_server), "name": str(of_name), "token": str(token)} if (
            of_server == server and of_name == name
        ):
            return token
        case _:
            raise _moved_aside(path)


def recall_any(servers: Iterable[str], name: str) -> str | None:
    """Return the token kept for a name on the first of these nodes that has one."""
    return next(filter(None, (recall(server, name) for server in servers)), None)


def keep(server: str, name: str, token: str) -> None:
    """Keep a token. Raise BadAccounts if it cannot be written."""
    _write(_path(server, name), {"server": server, "name": name, "token": token})


def forget(server: str, name: str) -> None:
    """Keep no token of a name any more. Raise BadAccounts if it cannot be removed."""
    path = _path(server, name)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BadAccounts(f"cannot remove {path}: {error.strerror}") from None


def usual_name(server: str) -> str | None:
    """Return the name that was played under as usual, the last time on a server."""
    path = _usual_path(server)
    try:
        name = json.loads(path.read_bytes())["name"]
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        # It saves typing a name, no more: who cannot be told it is asked for one.
        return None
    return name if isinstance(name, str) else None


def keep_usual(server: str, name: str) -> None:
    """Remember a name as the usual one. Raise BadAccounts if it cannot be written."""
    _write(_usual_path(server), {"server": server, "name": name})


def _usual_path(server: str) -> Path:
    return _path(server, "").with_suffix(".usual.json")


def _write(path: Path, account: dict[str, str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # mkstemp makes it readable by its owner alone; the name appears whole or not at all.
        number, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                json.dump(account, file)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise BadAccounts(f"cannot keep the account in {path}: {error.strerror}") from None


def _path(server: str, name: str) -> Path:
    """A file for each account: programs that run at the same time do not undo each other's."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    # Names may be ".." or differ in case only, and servers hold slashes: a digest always fits.
    digest = hashlib.sha256(f"{server}\0{name}".encode()).hexdigest()[:32]
    return Path(state) / "samedeal" / "accounts" / f"{digest}.json"


def _moved_aside(path: Path) -> BadAccounts:
    number, aside = 1, path.with_suffix(".damaged")
    while aside.exists():
        number += 1
        aside = path.with_suffix(f".damaged-{number}")
    try:
        path.rename(aside)
    except OSError as error:
        return BadAccounts(f"the account file {path} is damaged: {error.strerror}")
    return BadAccounts(
        f"the account file {path} is damaged and was moved to {aside}; "
        "the same command again plays as a new guest"
    )
