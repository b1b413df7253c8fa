"""Lua scripts as package data: loaded once, run by their SHA-1."""

import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError

__all__ = ["Script", "run"]

_FOLDER = resources.files("samedeal_server.store") / "lua"
_ALONE = (
    *("account", "beat", "commit", "open", "recode"),
    *("friend", "put_deal", "deals", "claim", "day_played"),
    *("hold", "release", "seen", "change", "rotate", "device", "link_note", "link_use"),
    *("seated", "watched_deal"),
)
"""Scripts that do without the prelude: commit is the hot path, the others are about no race."""


class Script:
    """One file of store/lua, with the prelude of all race or all board scripts in front."""

    def __init__(self, name: str) -> None:
        self.name = name
        body = (_FOLDER / f"{name}.lua").read_text("utf-8")
        if name not in _ALONE:
            prelude = "board.lua" if name.startswith("board_") else "prelude.lua"
            body = (_FOLDER / prelude).read_text("utf-8") + body
        self.source = body
        self.sha = hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()


async def run(redis: Redis, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
    """Run a script. It is sent whole where the store does not know it (a restart, a failover)."""
    try:
        return await _execute(redis, "EVALSHA", script.sha, len(keys), *keys, *args)
    except NoScriptError:
        return await _execute(redis, "EVAL", script.source, len(keys), *keys, *args)


async def _execute(redis: Redis, *command: str | int) -> Any:
    # Not eval(): in a cluster redis-py routes only this form by the keys of a script.
    return await redis.execute_command(*command)  # type: ignore[no-untyped-call]
