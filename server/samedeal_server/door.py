"""Who may come in, how many may stand there silent, and how fast each may ask."""

import ipaddress
import itertools
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from websockets.datastructures import Headers
from websockets.typing import Origin

from samedeal_server.buckets import Bucket, Buckets, Limits, Rate
from samedeal_server.errors import CannotServe

__all__ = ["Door", "Proxies", "Visitor", "origins"]

Guest = TypeVar("Guest", bound=Hashable)
"""Whatever stands for a connection."""
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def origins(listed: tuple[str, ...]) -> list[Origin | None]:
    """What a handshake may name as its Origin: nothing, as programs do, or a page that is listed.

    Raise CannotServe for what cannot be an origin.
    """
    for origin in listed:
        scheme, found, host = origin.partition("://")
        if scheme not in ("http", "https") or not found or not host or "/" in host:
            raise CannotServe(f"{origin!r} is not an origin: write https://play.example")
    return [None, *map(Origin, listed)]


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies whose word on a client's address is taken."""

    networks: tuple[Network, ...]

    @classmethod
    def parse(cls, text: str) -> "Proxies":
        """Read addresses and networks, separated by commas. Raise CannotServe if one is neither."""
        networks = []
        for part in filter(None, (part.strip() for part in text.split(","))):
            try:
                networks.append(ipaddress.ip_network(part, strict=False))
            except ValueError:
                raise CannotServe(
                    f"{part!r} in the trusted proxies is neither an address nor a network"
                ) from None
        return cls(tuple(networks))

    def client(self, peer: str, headers: Headers) -> str:
        """Return the address of the client: the last one named that is not a trusted proxy.

        Of IPv6 it is the /64 network: that is what one subscriber has, address by address.
        """
        return _household(self._last_named(peer, headers))

    def _last_named(self, peer: str, headers: Headers) -> str:
        address = peer
        hops = ",".join(headers.get_all("X-Forwarded-For")).split(",") if self.networks else []
        for hop in reversed(hops):
            if not self._trusts(address):
                break
            try:
                address = str(ipaddress.ip_address(hop.strip()))
            except ValueError:
                break
        return address

    def _trusts(self, address: str) -> bool:
        try:
            parsed = _parsed(address)
        except ValueError:
            # A unix socket: only a proxy on this machine can be behind it.
            return not address
        return any(parsed in network for network in self.networks)


class Door(Generic[Guest]):
    """The connections that have not said who they are: not too many, and not for long.

    Where there are too many the one that stood longest has to go, not the one that comes: a player
    says hello at once, so a crowd of silent sockets keeps nobody out.
    """

    def __init__(self, limits: Limits, *, most: int = 1000, most_of_address: int = 512) -> None:
        self._limits = limits
        self._most, self._most_of_address = most, most_of_address
        self._hellos = _each(limits.hellos)
        self._requests = _each(limits.requests)
        self._since: OrderedDict[Guest, float] = OrderedDict()
        self._of_address: dict[str, OrderedDict[Guest, None]] = {}

    def arrived(self, guest: Guest, now: float) -> Guest | None:
        """A connection is there. Return one that has to go for it."""
        self._since[guest] = now
        return next(iter(self._since)) if len(self._since) > self._most else None

    def came_from(self, guest: Guest, address: str) -> Guest | None:
        """Its handshake says from where. Return one of the same address that has to go for it."""
        same = self._of_address.setdefault(address, OrderedDict())
        same[guest] = None
        return next(iter(same)) if len(same) > self._most_of_address else None

    def passed(self, guest: Guest, address: str) -> None:
        """It has said hello, or is gone."""
        self._since.pop(guest, None)
        same = self._of_address.get(address)
        if same is not None:
            same.pop(guest, None)
            if not same:
                del self._of_address[address]

    def overdue(self, now: float, within_s: float) -> list[Guest]:
        """Return who has been silent for too long."""
        late = itertools.takewhile(lambda item: item[1] + within_s <= now, self._since.items())
        return [guest for guest, _ in late]

    def hello_wait_s(self, address: str, now: float) -> float:
        """Count a hello that proves nothing. Return 0, or the seconds to wait."""
        return 0.0 if self._hellos is None else self._hellos.take(address, now)

    def request_wait_s(self, player: str, now: float) -> float:
        """Count a request of an account. Return 0, or the seconds to wait."""
        return 0.0 if self._requests is None else self._requests.take(player, now)

    def actions(self, now: float) -> Bucket | None:
        """Give the bucket for the moves of a new connection."""
        rate = self._limits.actions
        return None if rate is None else Bucket(rate, now)


class Visitor(Generic[Guest]):
    """One connection as the door sees it: what its session asks before it does something."""

    __slots__ = ("_actions", "_address", "_door", "_free", "_guest")

    def __init__(self, door: Door[Guest], guest: Guest, address: str, now: float) -> None:
        self._door, self._guest, self._address = door, guest, address
        self._actions = door.actions(now)
        self._free: Bucket | None = None

    def passed(self) -> None:
        """It has said who it is."""
        self._door.passed(self._guest, self._address)

    def hello_wait_s(self, now: float) -> float:
        """Count a hello for a new account, or with a token that nobody holds."""
        return self._door.hello_wait_s(self._address, now)

    def request_wait_s(self, player: str, now: float) -> float:
        """Count a request other than an action."""
        return self._door.request_wait_s(player, now)

    def is_hasty(self, now: float) -> bool:
        """Count what is never refused, as a ping, by the rate of actions: is it too fast?"""
        if self._free is None and (bucket := self._door.actions(now)) is not None:
            self._free = bucket
        return self._free is not None and self._free.take(now) > 0

    def action_wait_s(self, now: float) -> float:
        """Count a move or an undo."""
        return 0.0 if self._actions is None else self._actions.take(now)


def _parsed(text: str) -> Address:
    """Read an address. IPv4 is IPv4 in either notation: a socket for both says ::ffff:192.0.2.1."""
    address = ipaddress.ip_address(text)
    return getattr(address, "ipv4_mapped", None) or address


def _household(text: str) -> str:
    try:
        address = _parsed(text)
    except ValueError:
        return text
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def _each(rate: Rate | None) -> Buckets[str] | None:
    return None if rate is None else Buckets(rate)
