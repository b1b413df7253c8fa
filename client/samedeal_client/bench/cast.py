"""`python -m samedeal_client.bench.cast`: a bare server that broadcasts what it is told to all."""

import asyncio
import signal
from contextlib import suppress

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

from samedeal_client.bench.loop import loop_factory

__all__: list[str] = []

_listeners: set[ServerConnection] = set()


async def _take(connection: ServerConnection) -> None:
    """Keep a listener; what it says goes to all the others."""
    _listeners.add(connection)
    with suppress(ConnectionClosed):
        async for frame in connection:
            broadcast(_listeners - {connection}, frame)
    _listeners.discard(connection)


async def _serve() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with serve(
        _take, "127.0.0.1", 0, compression=None, close_timeout=2, ping_interval=None
    ) as server:
        port: int = next(iter(server.sockets)).getsockname()[1]
        print(f"cast serving on ws://127.0.0.1:{port}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve())
