"""redis-py for everything but commits: one client for each way a store can be set up.

Every write of ours may be repeated: scripts check first, the rest are plain sets. So a lost reply,
or the reply of a store that cannot serve now, is answered by leaving the connection and asking
again, a few times, with growing pauses, and not for long.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
)
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import ClusterDownError, ConnectionError, ReadOnlyError, TimeoutError

__all__ = ["CONNECT_S", "cluster_client", "sentinel_client", "single_client"]

CONNECT_S = 5.0
MAX_CONNECTIONS = 32
"""When a crowd comes back at once the rest waits its turn, up to WAIT_S."""
MAX_CLUSTER_CONNECTIONS = 1000
"""To each node. redis-py's cluster client has nobody wait: one too many would be refused."""
WAIT_S = 20.0
ANSWER_S = 5.0
"""No script of ours takes milliseconds; a store silent for so long is as good as gone."""
SENTINEL_S = 1.0
"""A sentinel that is silent for so long is passed over."""
ATTEMPTS = 3

_ELSEWHERE = (ReadOnlyError, ClusterDownError)
"""Besides a broken connection: a demoted primary; a replica or a cluster that lost its head."""


def _retry() -> Retry:
    backoff = ExponentialWithJitterBackoff(cap=0.5, base=0.05)
    return Retry(backoff, ATTEMPTS, (ConnectionError, TimeoutError, *_ELSEWHERE))


def _settings(login: Mapping[str, object], tls: Mapping[str, object]) -> dict[str, Any]:
    return {
        **login,
        **tls,
        "decode_responses": True,
        "socket_timeout": ANSWER_S,
        "socket_connect_timeout": CONNECT_S,
        "retry": _retry(),
    }


def single_client(
    host: str, port: int, path: str, login: Mapping[str, object], tls: Mapping[str, object]
) -> Redis:
    """A client of one store, on TCP or on a unix socket."""
    kind = SSLConnection if tls else Connection
    where: dict[str, Any] = {"connection_class": kind, "host": host, "port": port}
    if path:
        where = {"connection_class": UnixDomainSocketConnection, "path": path}
    pool = BlockingConnectionPool(
        max_connections=MAX_CONNECTIONS, timeout=WAIT_S, **where, **_settings(login, tls)
    )
    return Redis.from_pool(pool)


class _Sentinels(Sentinel):
    """Asks for the address of the primary, not for the state of the one that is being replaced.

    The state names the old primary until the sentinel that leads a failover is done with it all.
    """

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        for at, sentinel in enumerate(self.sentinels):
            try:
                named: Any = await sentinel.sentinel_get_master_addr_by_name(service_name)
            except (ConnectionError, TimeoutError):
                continue
            if named is not None:
                # Whoever answered is asked first from now on, as redis-py has it.
                self.sentinels[0], self.sentinels[at] = sentinel, self.sentinels[0]
                return str(named[0]), int(named[1])
        raise MasterNotFoundError(f"no sentinel names a primary of {service_name}")


class _PrimaryConnection(SentinelManagedConnection):
    """A connection that asks the sentinels each time it is made, within a command's retries too.

    redis-py alone goes back to the host it had, which for a demoted primary is the wrong one.
    """

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        if not self.is_connected:
            await self.connect()  # type: ignore[no-untyped-call] # as all of redis-py here
        await super().send_packed_command(command, check_health)


class _PrimaryTlsConnection(_PrimaryConnection, SSLConnection):
    """The same over TLS."""


class _PrimaryPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary that the sentinels name; a crowd waits its turn."""

    async def aclose(self) -> None:
        await super().aclose()
        await self.sentinel_manager.aclose()


def sentinel_client(
    sentinels: Sequence[tuple[str, int]],
    service: str,
    asked: Mapping[str, object],
    login: Mapping[str, object],
    tls: Mapping[str, object],
) -> Redis:
    """A client of the primary of a service; `asked` is the login of the sentinels."""
    secure: dict[str, Any] = {"ssl": True} if tls else {}
    watch = _Sentinels(  # type: ignore[no-untyped-call] # redis-py says nothing of its types
        sentinels,
        sentinel_kwargs={
            **asked,
            **tls,
            **secure,
            "decode_responses": True,
            "socket_timeout": SENTINEL_S,
            "socket_connect_timeout": SENTINEL_S,
            "retry": Retry(NoBackoff(), 0),
        },
    )
    client: Redis = watch.master_for(
        service,
        connection_pool_class=_PrimaryPool,
        connection_class=_PrimaryTlsConnection if tls else _PrimaryConnection,
        max_connections=MAX_CONNECTIONS,
        timeout=WAIT_S,
        **_settings(login, tls),
    )
    return client


def cluster_client(
    nodes: Sequence[tuple[str, int]], login: Mapping[str, object], tls: Mapping[str, object]
) -> Redis:
    """A client of a cluster that is found through any of `nodes`."""
    client = RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in nodes],
        require_full_coverage=False,
        max_connections=MAX_CLUSTER_CONNECTIONS,
        ssl=bool(tls),
        **_settings(login, tls),
    )
    # It has the commands of Redis that we use, and the same words for them, without being one.
    return cast("Redis", client)
