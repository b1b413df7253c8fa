"""Where the primaries are: what sentinels and the nodes of a cluster say when asked."""

import asyncio
import binascii
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hiredis

from samedeal_server.store.address import Login, Node, StoreAddress

__all__ = ["SLOTS", "Sentinels", "SlotRange", "pack", "read_slots", "sign_in", "slot_of"]

SLOTS = 16384
_ANSWER_S = 1.0
"""Who is silent for so long is passed over."""


@dataclass(frozen=True, slots=True)
class SlotRange:
    """Slots of a cluster that one primary serves, the last one included."""

    first: int
    last: int
    primary: Node


def slot_of(key: str) -> int:
    """Return the slot of a key in a cluster: by its hash tag, if it has one."""
    _, brace, rest = key.partition("{")
    tag, closed, _ = rest.partition("}")
    return binascii.crc_hqx((tag if brace and closed and tag else key).encode(), 0) % SLOTS


def pack(*args: str | int | bytes) -> bytes:
    """Return a command as it goes over the wire."""
    packed: bytes = hiredis.pack_command(args)  # type: ignore[arg-type] # its stub wants one item
    return packed


def head(*words: str | int | bytes, more: int) -> bytes:
    """Return the beginning of a command of which `more` words are still to come.

    They come as `pack` gives them, less the line that counts them.
    """
    return b"*%d\r\n" % (len(words) + more) + pack(*words).partition(b"\n")[2]


def sign_in(login: Login) -> list[bytes]:
    """Return the commands that sign in, packed: one, or none where no password is asked."""
    if login.password is None:
        return []
    user = [login.username] if login.username else []
    return [pack("AUTH", *user, login.password)]


class Sentinels:
    """The sentinels of a store, each asked in its turn."""

    def __init__(self, address: StoreAddress) -> None:
        self._address = address
        self._order = deque(address.nodes)

    async def primary(self) -> Node:
        """Return the primary that the first sentinel with an answer names. Raise OSError."""
        service = self._address.service
        why = ""
        for _ in range(len(self._order)):
            # Whoever named a primary that turned out to be none is asked last the next time.
            sentinel = self._order[0]
            self._order.rotate(-1)
            try:
                primary = await self._named_by(sentinel)
            except OSError as error:
                why = why or f"the sentinel {sentinel} does not answer: {error}"
                continue
            if primary is not None:
                return primary
            why = f"no sentinel knows a service {service}"
        raise ConnectionError(why)

    async def agreed(self) -> Node | None:
        """Return the primary that all sentinels with an answer name; None if they do not agree."""
        answers = await asyncio.gather(
            *map(self._named_by, self._address.nodes), return_exceptions=True
        )
        primaries = {answer for answer in answers if isinstance(answer, Node)}
        return primaries.pop() if len(primaries) == 1 else None

    async def _named_by(self, sentinel: Node) -> Node | None:
        command = pack("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._address.service)
        reply = await _ask(self._address, sentinel, self._address.sentinel_login, command)
        return None if reply is None else Node(reply[0].decode(), int(reply[1]))


async def read_slots(address: StoreAddress, nodes: Sequence[Node]) -> list[SlotRange]:
    """Return who serves what, by the first node with an answer. Raise OSError if none has one."""
    why = "no node of the cluster is known"
    for node in nodes:
        try:
            reply = await _ask(address, node, address.login, pack("CLUSTER", "SLOTS"))
        except OSError as error:
            why = f"{node} does not answer: {error}"
            continue
        if reply:
            # An entry is: first slot, last slot, primary (host, port, more), replicas.
            return [
                SlotRange(first, last, named(primary[0], primary[1], node))
                for first, last, primary, *_ in reply
            ]
        why = f"{node} serves no slot of a cluster"
    raise ConnectionError(why)


def named(host: bytes | None, port: int, teller: Node) -> Node:
    """Return a node as another one calls it; no name means the teller's own host."""
    known = host.decode() if host else ""
    return Node(teller.host if known in ("", "?") else known, port)


async def _ask(address: StoreAddress, node: Node, login: Login, command: bytes) -> Any:
    """Ask one question on a connection of its own. Raise OSError if there is no answer."""
    reader = asyncio.StreamReader()
    commands = [*sign_in(login), command]
    replies = hiredis.Reader()
    transport: asyncio.Transport | None = None
    reply: Any = None
    try:
        async with asyncio.timeout(_ANSWER_S):
            transport, _ = await address.connect(node, lambda: asyncio.StreamReaderProtocol(reader))
            transport.write(b"".join(commands))
            for _ in commands:
                while (reply := replies.gets()) is False:
                    data = await reader.read(65536)
                    if not data:
                        raise ConnectionError("the connection was closed")
                    replies.feed(data)
                if isinstance(reply, hiredis.ReplyError):
                    raise ConnectionError(str(reply))
    except TimeoutError:
        raise ConnectionError("no answer in time") from None
    except hiredis.ProtocolError as error:
        raise ConnectionError(f"not the protocol of a store: {error}") from None
    finally:
        if transport is not None:
            transport.abort()
    return reply
