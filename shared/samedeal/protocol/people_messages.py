"""Accounts on the wire: what a player asks about the own one, and what an operator has to say."""

from typing import Annotated, Literal

from pydantic import Field

from samedeal.protocol.fields import (
    Count,
    Flag,
    FromServer,
    Hex32,
    LinkCode,
    Message,
    Ms,
    Name,
    NameText,
    PlayerId,
    RaceId,
    RequestId,
    Sentence,
)

__all__ = [
    "AccountGet",
    "AccountView",
    "Announcement",
    "Delete",
    "Dismissed",
    "Export",
    "ExportPart",
    "LinkMade",
    "LinkMake",
    "Rename",
    "Rotate",
]


class AccountGet(Message):
    """Ask about the own account."""

    type: Literal["account_get"] = "account_get"
    id: RequestId


class Rename(Message):
    """Take another name. Races that are over keep the old one."""

    type: Literal["rename"] = "rename"
    id: RequestId
    name: NameText


class Rotate(Message):
    """Have one token only, with this secret: every other one of the account is dead at once.

    The client draws the secret, so that a lost answer locks nobody out.
    """

    type: Literal["rotate"] = "rotate"
    id: RequestId
    secret: Hex32


class LinkMake(Message):
    """Ask for a code by which a second device gets a token of its own."""

    type: Literal["link_make"] = "link_make"
    id: RequestId


class Export(Message):
    """Ask for what is stored about the account; with `race`, about the own run in that race."""

    type: Literal["export"] = "export"
    id: RequestId
    race: RaceId | None = None


class Delete(Message):
    """Delete the account: off the boards, out of past races, its name free. It cannot be undone."""

    type: Literal["delete"] = "delete"
    id: RequestId


class AccountView(FromServer):
    """Answer to `account_get` and `rename`."""

    type: Literal["account"] = "account"
    id: RequestId
    player: PlayerId
    name: Name
    bot: Flag
    since_ms: Ms = 0
    """When it was made, since 1970; 0 if nobody remembers."""
    devices: Count = 1
    """Devices with a token of their own."""


class LinkMade(FromServer):
    """Answer to `link_make`: the code works once, for so long."""

    type: Literal["link_made"] = "link_made"
    id: RequestId
    code: LinkCode
    lasts_ms: Ms


class ExportPart(FromServer):
    """Answer to `export`: one JSON object as text. The account's names its `races`."""

    type: Literal["export_part"] = "export_part"
    id: RequestId
    text: Annotated[str, Field(strict=True, max_length=4_000_000)]


class Announcement(FromServer):
    """Event: the operator of this server has something to say to everybody."""

    type: Literal["announcement"] = "announcement"
    sentence: Sentence


class Dismissed(FromServer):
    """Event: this connection ends, for its account or its token is no longer good."""

    type: Literal["dismissed"] = "dismissed"
    sentence: Sentence
