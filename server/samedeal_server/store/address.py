"""Where the store is: what `--redis URL` says, for redis-py and for the commit link."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

from samedeal_server.errors import CannotServe

__all__ = ["StoreAddress"]

CONNECT_S = 5.0
MAX_CONNECTIONS = 32
"""Of redis-py; when a crowd comes back at once the rest waits its turn, up to WAIT_S."""
WAIT_S = 20.0
ANSWER_S = 5.0
"""No script of ours takes milliseconds; a store silent for so long is as good as gone."""


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """One Redis or Valkey: its URL with what it says."""

    url: str
    host: str
    port: int
    path: str
    """Unix socket; empty for TCP."""
    username: str | None
    password: str | None
    database: int
    tls: bool

    @classmethod
    def parse(cls, url: str) -> "StoreAddress":
        """Read a URL. Raise CannotServe, naming what is wrong with it."""
        url = url.replace("valkeys://", "rediss://", 1) if url.startswith("valkeys:") else url
        url = url.replace("valkey://", "redis://", 1) if url.startswith("valkey:") else url
        if urlsplit(url).scheme not in ("redis", "rediss", "unix"):
            raise CannotServe(
                "--redis is not a store's address; "
                "write redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH"
            )
        try:
            parts: dict[str, Any] = dict(parse_url(url))
            return cls(
                url=url,
                host=str(parts.get("host", "localhost")),
                port=int(parts.get("port", 6379)),
                path=str(parts.get("path", "")),
                username=parts.get("username"),
                password=parts.get("password"),
                database=int(parts.get("db", 0)),
                tls=url.startswith("rediss:"),
            )
        except (ValueError, TypeError) as error:
            raise CannotServe(f"--redis cannot be read: {error}") from None

    @property
    def shown(self) -> str:
        """The address without its password, for logs."""
        return self.path or f"{self.host}:{self.port}"

    def client(self) -> Redis:
        """A redis-py client for everything but commits.

        Every write of ours may be repeated: scripts check first, the rest are plain sets. So a
        lost reply is answered by asking again, a few times and not for long.
        """
        retry = Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.05), retries=3)
        pool = BlockingConnectionPool.from_url(
            self.url,
            decode_responses=True,
            socket_timeout=ANSWER_S,
            socket_connect_timeout=CONNECT_S,
            retry=retry,
            max_connections=MAX_CONNECTIONS,
            timeout=WAIT_S,
        )
        return Redis.from_pool(pool)

    async def connect(
        self, protocol: Callable[[], asyncio.Protocol]
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Open a connection of one's own. Raise OSError or TimeoutError if there is none."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_S):
            if self.path:
                return await loop.create_unix_connection(protocol, self.path)
            context = ssl.create_default_context() if self.tls else None
            return await loop.create_connection(protocol, self.host, self.port, ssl=context)
