"""Many cheap watchers in a process of their own, so that reading does not hold the racers up.

`python -m samedeal_client.bench.gallery URL COUNT [RACE]` connects, says `open`, and then answers
each line of its input: `watch` and `leave` with `done`, `count` with the frames and bytes so far.
Without a race they only listen.
"""

import asyncio
import base64
import os
import secrets
import struct
import sys
from collections.abc import Iterable
from typing import cast
from urllib.parse import urlsplit

from websockets.frames import Frame, Opcode

from samedeal.protocol.codec import pack
from samedeal.protocol.limits import SUBPROTOCOL
from samedeal_client.bench.loop import loop_factory

__all__: list[str] = []

AT_ONCE = 50
WITHIN_S = 60.0


class _Listener(asyncio.Protocol):
    """Counts frames; it looks at their lengths only."""

    def __init__(self) -> None:
        self.frames = self.bytes = 0
        self._rest = b""
        self._is_open = False
        self._waiting: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A stream's transport; uvloop's does not inherit from asyncio's class.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._rest += data
        if not self._is_open:
            head, end, self._rest = self._rest.partition(b"\r\n\r\n")
            if not end:
                self._rest = head
                return
            self._is_open = True
            self._wake()
        while (size := _size(self._rest)) is not None and len(self._rest) >= size:
            frame, self._rest = self._rest[:size], self._rest[size:]
            if frame[0] == 0x89:
                # A ping, answered with what it says under a mask of zeros.
                payload = frame[2:]
                self._transport.write(b"\x8a%c\0\0\0\0%b" % (0x80 | len(payload), payload))
                continue
            self.frames += 1
            self.bytes += size
            self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionError("a watcher was closed"))

    async def shake_hands(self, address: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET / HTTP/1.1",
            f"Host: {address}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
            "\r\n",
        ]
        await self._after("\r\n".join(lines).encode())

    async def ask(self, fields: dict[str, object]) -> None:
        """Send a request, and wait for a frame."""
        await self._after(Frame(Opcode.BINARY, pack(fields)).serialize(mask=True))

    async def _after(self, data: bytes) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(data)
        async with asyncio.timeout(WITHIN_S):
            await self._waiting

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _size(data: bytes) -> int | None:
    """Return how many bytes the first frame has, if that is known yet (RFC 6455, 5.2)."""
    if len(data) < 2:
        return None
    length = data[1]
    if length < 126:
        return 2 + length
    head = 4 if length == 126 else 10
    if len(data) < head:
        return None
    number: int = struct.unpack("!H" if length == 126 else "!Q", data[2:head])[0]
    return head + number


async def _sit(url: str, count: int, race: str | None) -> None:
    where = urlsplit(url)
    loop, room = asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE)

    async def listener() -> _Listener:
        async with room:
            host, port = where.hostname or "", where.port or 80
            _, made = await loop.create_connection(_Listener, host, port)
            await made.shake_hands(where.netloc)
            if race is not None:
                name = f"eye-{secrets.token_hex(6)}"
                await made.ask({"type": "hello", "id": 0, "name": name})
            return made

    async def ask(made: _Listener, fields: dict[str, object]) -> None:
        async with room:
            await made.ask(fields)

    listeners = await asyncio.gather(*(listener() for _ in range(count)))
    print("open", flush=True)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := (await reader.readline()).decode().strip():
        if line == "count":
            print(*_sums((made.frames, made.bytes) for made in listeners), flush=True)
            continue
        kind = {"watch": "watch", "leave": "unwatch"}[line]
        fields: dict[str, object] = {"type": kind, "id": 1, "race": race}
        await asyncio.gather(*(ask(made, fields) for made in listeners))
        print("done", flush=True)


def _sums(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    frames, size = zip(*pairs, strict=True)
    return sum(frames), sum(size)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_sit(sys.argv[1], int(sys.argv[2]), sys.argv[3] if sys.argv[3:] else None))
