"""The account that a command of the shell plays under."""

import argparse
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from samedeal_client.accounts import guest_name, usual_name
from samedeal_client.cli.play import wants_screen
from samedeal_client.connection import Client
from samedeal_client.sign_in import signed_in
from samedeal_client.wire import addresses

__all__ = ["connected", "looking_on"]


def connected(
    args: argparse.Namespace, *, is_bot: bool = False, as_usual: bool = False
) -> AbstractAsyncContextManager[Client]:
    """The account of the name given, or a new guest; see `signed_in`.

    Who plays as usual for the first time on a server has the name of the terminal client.
    """
    # Only here: not every command needs it.
    from samedeal_client.terminal import settings as remembered

    if "plain" in args and wants_screen(args):
        # What is wrong with the file of keys is said before a race, or a day's clock, has begun.
        remembered.load_keys()
    like = remembered.load().name or None if as_usual and args.name is None else None
    return signed_in(args.server, args.name, is_bot=is_bot, as_usual=as_usual, like=like)


@asynccontextmanager
async def looking_on(server: str, name: str | None = None) -> AsyncIterator[Client]:
    """Who the user was last, if anybody; who only looks on leaves no account behind here."""
    is_known = any(usual_name(node) for node in addresses(server))
    if name or is_known:
        async with signed_in(server, name, as_usual=True) as client:
            yield client
    else:
        async with Client(server, name=guest_name()) as client:
            yield client
