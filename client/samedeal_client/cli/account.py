"""The account that a command of the shell plays under."""

import argparse
from contextlib import AbstractAsyncContextManager

from samedeal_client.connection import Client
from samedeal_client.sign_in import signed_in

__all__ = ["connected"]


def connected(
    args: argparse.Namespace, *, is_bot: bool = False, as_usual: bool = False
) -> AbstractAsyncContextManager[Client]:
    """The account of the name given, or a new guest; see `signed_in`."""
    return signed_in(args.server, args.name, is_bot=is_bot, as_usual=as_usual)
