"""Where the store is: what `--redis URL` says, and how to connect to a node of it."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio import Redis

from samedeal_server.errors import CannotServe
from samedeal_server.store.client import CONNECT_S, cluster_client, sentinel_client, single_client

__all__ = ["Node", "StoreAddress", "Topology"]

_SCHEMES = (
    "redis://HOST:PORT, unix:///PATH, redis+sentinel://HOST:PORT,HOST:PORT/SERVICE or "
    "redis+cluster://HOST:PORT,HOST:PORT (rediss for TLS)"
)
_PORT, _SENTINEL_PORT = 6379, 26379
_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Topology(Enum):
    """How the store is set up."""

    SINGLE = "redis"
    SENTINEL = "redis+sentinel"
    CLUSTER = "redis+cluster"


@dataclass(frozen=True, slots=True)
class Node:
    """One process that listens: on TCP or, where `path` is not empty, on a unix socket."""

    host: str
    port: int
    path: str = ""

    def __str__(self) -> str:
        return self.path or (f"[{self.host}]" if ":" in self.host else self.host) + f":{self.port}"


@dataclass(frozen=True, slots=True)
class Login:
    """How to sign in; without a password nobody does."""

    username: str | None = None
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Tls:
    """How to check the other side, and what to show it."""

    ca_certs: str | None = None
    certfile: str | None = None
    keyfile: str | None = None
    verify: bool = True
    check_hostname: bool = True

    def context(self) -> ssl.SSLContext:
        """Read the files. Raise OSError if one is missing or is none."""
        context = ssl.create_default_context(cafile=self.ca_certs)
        context.check_hostname = self.check_hostname and self.verify
        if not self.verify:
            context.verify_mode = ssl.CERT_NONE
        if self.certfile is not None:
            context.load_cert_chain(self.certfile, self.keyfile)
        return context


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A Redis or Valkey, alone or several: what its URL says."""

    topology: Topology
    nodes: tuple[Node, ...]
    """The store, or the sentinels, or some nodes of the cluster."""
    service: str
    """What the sentinels call the store; empty without them."""
    login: Login
    sentinel_login: Login
    database: int
    tls: Tls | None

    @classmethod
    def parse(cls, url: str) -> "StoreAddress":
        """Read a URL. Raise CannotServe, naming what is wrong with it."""
        try:
            return cls._parse(url)
        except ValueError as error:
            raise CannotServe(f"--redis cannot be read: {error}") from None
        except OSError as error:
            raise CannotServe(f"--redis: the TLS files cannot be read: {error}") from None

    @classmethod
    def _parse(cls, url: str) -> "StoreAddress":
        parts = urlsplit(url)
        family, plus, kind = parts.scheme.partition("+")
        if parts.scheme == "unix":
            topology = Topology.SINGLE
        elif family in ("redis", "rediss", "valkey", "valkeys") and (
            kind in ("sentinel", "cluster") or not plus
        ):
            topology = Topology(f"redis{plus}{kind}")
        else:
            raise CannotServe(f"--redis is not a store's address; write {_SCHEMES}")
        options = _Options(parts.query)
        userinfo, _, hosts = parts.netloc.rpartition("@")
        username, _, password = (unquote(part) for part in userinfo.partition(":"))
        login = options.login("", username, password)
        service, database = "", ""
        if parts.scheme == "unix":
            nodes: tuple[Node, ...] = (Node("", 0, unquote(parts.path)),)
            if not nodes[0].path:
                raise ValueError("the path of the socket is missing")
        else:
            port = _SENTINEL_PORT if topology is Topology.SENTINEL else _PORT
            nodes = tuple(_node(text, port) for text in hosts.split(","))
            if topology is Topology.SINGLE and len(nodes) > 1:
                raise ValueError("one host, please, or redis+sentinel:// or redis+cluster://")
            database = parts.path.strip("/")
        if topology is Topology.SENTINEL:
            service, _, database = database.partition("/")
            service = unquote(service)
            if not service:
                raise ValueError("say which service the sentinels watch: HOST:PORT/SERVICE")
        number = options.take("db") or database or "0"
        if not number.isascii() or not number.isdecimal():
            raise ValueError(f"{number} is not the number of a database")
        if topology is Topology.CLUSTER and int(number):
            raise ValueError("a cluster has one database only, number 0")
        tls = options.tls() if family in ("rediss", "valkeys") else None
        sentinel_login = Login()
        if topology is Topology.SENTINEL:
            sentinel_login = options.login("sentinel_", "", "")
        options.done()
        if tls is not None:
            tls.context()
        return cls(topology, nodes, service, login, sentinel_login, int(number), tls)

    @property
    def shown(self) -> str:
        """The address without its password, for logs."""
        nodes = ",".join(map(str, self.nodes))
        return f"{nodes}/{self.service}" if self.service else nodes

    def client(self) -> Redis:
        """A redis-py client for everything but commits."""
        settings: dict[str, object] = {
            "username": self.login.username,
            "password": self.login.password,
        }
        tls = _redis_py_tls(self.tls)
        hosts = [(node.host, node.port) for node in self.nodes]
        match self.topology:
            case Topology.SINGLE:
                return single_client(
                    *hosts[0], self.nodes[0].path, {**settings, "db": self.database}, tls
                )
            case Topology.SENTINEL:
                asked = {
                    "username": self.sentinel_login.username,
                    "password": self.sentinel_login.password,
                }
                settings["db"] = self.database
                return sentinel_client(hosts, self.service, asked, settings, tls)
            case Topology.CLUSTER:
                return cluster_client(hosts, settings, tls)

    async def connect(
        self, node: Node, protocol: Callable[[], asyncio.Protocol]
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Open a connection of one's own. Raise OSError or TimeoutError if there is none."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_S):
            if node.path:
                return await loop.create_unix_connection(protocol, node.path)
            context = self.tls.context() if self.tls is not None else None
            return await loop.create_connection(protocol, node.host, node.port, ssl=context)


class _Options:
    """What follows the question mark of a URL; what nobody takes is refused."""

    def __init__(self, query: str) -> None:
        self._left = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))

    def take(self, name: str) -> str | None:
        return self._left.pop(name, None)

    def login(self, prefix: str, username: str, password: str) -> Login:
        user = self.take(f"{prefix}username") or username or None
        secret = self.take(f"{prefix}password") or password or None
        if user is not None and secret is None:
            raise ValueError(f"a user without a password; write {user}:PASSWORD@HOST")
        return Login(user, secret)

    def tls(self) -> Tls:
        verify = self.take("ssl_cert_reqs") or "required"
        if verify not in ("required", "none"):
            raise ValueError("ssl_cert_reqs is required or none")
        flag = self.take("ssl_check_hostname") or "yes"
        if flag.lower() not in _FLAGS:
            raise ValueError("ssl_check_hostname is yes or no")
        return Tls(
            ca_certs=self.take("ssl_ca_certs"),
            certfile=self.take("ssl_certfile"),
            keyfile=self.take("ssl_keyfile"),
            verify=verify == "required",
            check_hostname=_FLAGS[flag.lower()],
        )

    def done(self) -> None:
        if self._left:
            raise ValueError(f"nothing is known of {', '.join(sorted(self._left))}")


def _node(text: str, port: int) -> Node:
    """Read HOST, HOST:PORT or [IPV6]:PORT."""
    try:
        parts = urlsplit(f"//{text}")
        named = parts.port
    except ValueError:
        raise ValueError(f"{text} is not HOST:PORT") from None
    if named == 0 or (not parts.hostname and text):
        raise ValueError(f"{text} is not HOST:PORT")
    return Node(parts.hostname or "localhost", named or port)


def _redis_py_tls(tls: Tls | None) -> dict[str, object]:
    """The words that redis-py has for the same."""
    if tls is None:
        return {}
    return {
        "ssl_ca_certs": tls.ca_certs,
        "ssl_certfile": tls.certfile,
        "ssl_keyfile": tls.keyfile,
        "ssl_cert_reqs": "required" if tls.verify else "none",
        "ssl_check_hostname": tls.check_hostname and tls.verify,
    }
