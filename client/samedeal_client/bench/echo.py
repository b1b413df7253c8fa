"""`python -m samedeal_client.bench.echo`: what a WebSocket server costs that does nothing else."""

import asyncio
import signal

from websockets.asyncio.server import ServerConnection, serve

from samedeal_client.bench.loop import loop_factory

__all__: list[str] = []


async def _echo(connection: ServerConnection) -> None:
    async for frame in connection:
        await connection.send(frame)


async def _serve() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with serve(_echo, "127.0.0.1", 0, compression=None, close_timeout=2) as server:
        port: int = next(iter(server.sockets)).getsockname()[1]
        print(f"echo serving on ws://127.0.0.1:{port}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve())
