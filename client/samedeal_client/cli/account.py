"""The account that a command of the shell plays under."""

import argparse
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from samedeal.protocol.errors import ErrorCode
from samedeal_client.accounts import guest_name, recall_any
from samedeal_client.cli.play import wants_screen
from samedeal_client.connection import Client
from samedeal_client.errors import ClientError, Refused
from samedeal_client.sign_in import last_name, signed_in
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
    """The account of the name given, or who the user was last; else a guest that is not kept.

    Who only looks on leaves no account behind, and stays who is usual. Raise ClientError if no
    account of the name given is kept here.
    """
    seen_as = name or last_name(server)
    token = recall_any(addresses(server), seen_as) if seen_as else None
    if name and token is None:
        raise ClientError(f"no account of the name {name} is kept here; play once, or say me use")
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(Client(server, name=guest_name(), token=token))
        except Refused as refusal:
            if name or refusal.code is not ErrorCode.BAD_TOKEN:
                raise
            client = await stack.enter_async_context(Client(server, name=guest_name()))
        yield client
