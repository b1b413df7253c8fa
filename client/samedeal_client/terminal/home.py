"""What home offers, and the lists that are opened from there."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from samedeal_client.accounts import guest_name
from samedeal_client.connection import Client
from samedeal_client.model.ink import clipped
from samedeal_client.model.keys import Action
from samedeal_client.model.menu import Item
from samedeal_client.model.watching import live_items, room_items
from samedeal_client.sign_in import last_name
from samedeal_client.terminal.aside import Aside

__all__ = ["home_items", "live_races", "name_question", "rooms"]

LIVE_EVERY_S: Final = 3.0
_HOME = (
    Item(Action.QUICK, "quick race", "a bot and you, at once"),
    Item(Action.FIND, "find an opponent", "whoever waits for one too; ranked"),
    Item(Action.OPEN_ROOMS, "open rooms", "rooms that wait for players"),
    Item(Action.WATCH, "watch", "races of others, live"),
    Item(Action.MAKE, "make a room", "for two to eight, all options"),
    Item(Action.JOIN, "join by code", "somebody told you one"),
    Item(Action.DAILY, "daily", "the deal of today, the same for everybody"),
    Item(Action.BOARDS, "boards", "who is best"),
    Item(Action.REPLAYS, "replay", "a finished race again, by its code or file"),
    Item(Action.GHOST, "race a ghost", "your last run, or any other, on its deal"),
    Item(Action.PRACTICE, "practice a seed", "a deal of your choice, never ranked"),
    Item(Action.NAME, "name", "play under another name"),
    Item(Action.SERVER, "server address", "play somewhere else"),
    Item(Action.EXIT, "exit", ""),
)


def home_items(aside: Aside | None = None) -> tuple[Item, ...]:
    """All there is to do, the race that was left with a result first."""
    if aside is None:
        return _HOME
    about = clipped(aside.about(), 52).rstrip()
    return (Item(Action.LAST_RACE, "last race", about), *_HOME)


def name_question(remembered: str, server: str, *, is_local: bool) -> tuple[str, str]:
    """What to ask who comes here, and the likely answer: also who has played from the shell."""
    if not remembered and (known := last_name(server, is_local=is_local)) is not None:
        return f"You have played here as {known}: Enter goes on so, or type another name.", known
    return (
        "Under which name do you play? Others see it, and it is yours alone.",
        remembered or guest_name(),
    )


async def rooms(client: Client) -> AsyncGenerator[Sequence[Item]]:
    """The open rooms, and again when they change."""
    async with aclosing(client.lobby()) as lists:
        async for rooms in lists:
            yield room_items(rooms)


async def live_races(client: Client) -> AsyncGenerator[Sequence[Item]]:
    """The races that run, asked for every few seconds."""
    while True:
        yield live_items(await client.live())
        await asyncio.sleep(LIVE_EVERY_S)
