"""Saying hello under a name, with the account that was kept for it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from samedeal.protocol.errors import ErrorCode
from samedeal_client.accounts import guest_name, keep, keep_usual, recall_any, usual_name
from samedeal_client.connection import Client
from samedeal_client.errors import ClientError, Refused
from samedeal_client.wire import addresses

__all__ = ["LOCAL", "last_name", "signed_in"]

LOCAL = "local"
"""What the accounts of the private server of this machine are kept for: its address changes."""


def last_name(server: str, *, is_local: bool = False) -> str | None:
    """The name that was played under as usual, the last time on a server."""
    return next(filter(None, map(usual_name, _kept_for(server, is_local=is_local))), None)


def _kept_for(server: str, *, is_local: bool) -> tuple[str, ...]:
    return (LOCAL,) if is_local else tuple(addresses(server))


@asynccontextmanager
async def signed_in(
    server: str,
    name: str | None,
    *,
    is_bot: bool = False,
    as_usual: bool = False,
    like: str | None = None,
    is_local: bool = False,
) -> AsyncIterator[Client]:
    """The account of the name given, or a new guest; kept, so that its name brings it back.

    Who plays `as_usual` is remembered, and without a name has the one of last time; the first time
    on a server the name `like`, or a free one like it. Raise
    ClientError if the name is one of the other kind's, a bot's or a person's.
    """
    is_chosen = name is not None
    nodes = _kept_for(server, is_local=is_local)
    given = name
    if as_usual and given is None:
        given = last_name(server, is_local=is_local) or like
    own_name = given or guest_name()
    token = recall_any(nodes, own_name) if given else None
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(
                Client(server, name=own_name, token=token, bot=is_bot, exact=is_chosen)
            )
        except Refused as refusal:
            if refusal.code is not ErrorCode.BAD_TOKEN:
                raise
            # The server has forgotten the account, its data being new, say: the name starts anew.
            client = await stack.enter_async_context(
                Client(server, name=own_name, bot=is_bot, exact=is_chosen)
            )
        if client.is_bot is not is_bot:
            # A bot must not play under a person's account, where nobody would see what it is.
            whose = "a bot's" if client.is_bot else "a person's"
            raise ClientError(f"{own_name} is {whose} account here; use another --name")
        kept_as = own_name if is_chosen else client.name
        for node in nodes:
            if client.token:
                keep(node, kept_as, client.token)
            if as_usual:
                keep_usual(node, kept_as)
        yield client
