"""The load itself: raw connections that send planned frames and time the answers."""

import asyncio
import itertools
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.engine.run import Action
from samedeal.protocol import limits
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.errors import ErrorCode
from samedeal_client.bench.plan import SEED, frames
from samedeal_client.errors import ConnectionLost, Refused

__all__ = ["Line", "Measured", "echo_line", "go", "run_slice", "seated_pair"]

DRAIN_S = 30.0
"""How long answers may take to come in after the last frame of a slice was sent."""
_now_s = time.perf_counter
"""Finer than the clock of uvloop, which counts in ms."""
_ACK = pack({"type": "ack"})[1:]


@dataclass(slots=True)
class Line:
    """A connection, the frames to send on it, and how to know the answers among what comes."""

    socket: ClientConnection
    frames: Iterator[bytes]
    is_answer: Callable[[bytes], bool]
    race_id: str


@dataclass(slots=True)
class Measured:
    """What slices of load added up to."""

    answers_ms: list[float] = field(default_factory=list)
    """From sending a frame to its answer."""
    late_ms: list[float] = field(default_factory=list)
    """How much later than planned a frame was sent: the load generator's own lag."""
    wall_s: float = 0.0


async def seated_pair(
    stack: AsyncExitStack, url: str, game: str, plans: Sequence[Sequence[Action]]
) -> list[Line]:
    """Connect two players and seat them in a race of their own, not ready yet. Raise Refused."""
    lines: list[Line] = []
    code = ""
    for number, actions in enumerate(plans):
        socket = await _connected(stack, url, limits.SUBPROTOCOL)
        await _ask(socket, {"type": "hello", "name": f"bench-{secrets.token_hex(5)}"})
        if number == 0:
            options = {
                "undo": "free",
                "countdown_s": 0,
                "time_limit_s": 24 * 3600,
                "auto_start": True,
            }
            wish: dict[str, object] = {
                "type": "create",
                "game": game,
                "seed": SEED,
                "options": options,
            }
            seated = await _ask(socket, wish)
            code = seated["race"]["code"]
        else:
            seated = await _ask(socket, {"type": "join", "code": code})
        race_id = seated["race"]["id"]
        lines.append(Line(socket, frames(race_id, actions), _is_ack, race_id))
    return lines


async def go(line: Line) -> None:
    """Say ready and wait for GO. Raise Refused."""
    await line.socket.send(pack({"type": "ready", "id": 0, "race": line.race_id}))
    while (fields := await _next(line.socket))["type"] != "go":
        _complain(fields)


async def echo_line(
    stack: AsyncExitStack, url: str, race_id: str, actions: Sequence[Action]
) -> Line:
    """Connect to the echo server, to send it the same frames."""
    socket = await _connected(stack, url, None)
    return Line(socket, frames(race_id, actions), lambda _frame: True, race_id)


async def run_slice(lines: Sequence[Line], rate: float, seconds: float, into: Measured) -> None:
    """Load `lines` for a while, `rate` frames a second each; 0 sends as fast as answers come.

    Raise Refused if the server refuses an action, ConnectionLost if answers stay out.
    """
    if rate > 0:
        count = max(1, round(rate * seconds))
        ready = [list(itertools.islice(line.frames, count)) for line in lines]
    start_s = _now_s()
    try:
        async with asyncio.timeout(seconds + DRAIN_S), asyncio.TaskGroup() as tasks:
            for number, line in enumerate(lines):
                if rate > 0:
                    # Spread evenly: real players do not move on the same tick.
                    first_s = start_s + number / len(lines) / rate
                    sent: deque[float] = deque()
                    dues = [first_s + at / rate for at in range(count)]
                    tasks.create_task(_send(line, ready[number], dues, sent, into))
                    tasks.create_task(_receive(line, count, sent, into))
                else:
                    tasks.create_task(_in_turn(line, start_s + seconds, into))
    except TimeoutError:
        raise ConnectionLost(f"answers stayed out for {DRAIN_S:g} s") from None
    except ExceptionGroup as group:
        first = _first(group)
        if isinstance(first, ConnectionClosed):
            raise ConnectionLost(f"a connection ended under load: {first}") from None
        raise first from None
    into.wall_s += _now_s() - start_s


async def _send(
    line: Line, ready: Sequence[bytes], dues: Sequence[float], sent: deque[float], into: Measured
) -> None:
    for frame, due_s in zip(ready, dues, strict=True):
        if (wait_s := due_s - _now_s()) > 0:
            await asyncio.sleep(wait_s)
        sent_s = _now_s()
        sent.append(sent_s)
        into.late_ms.append((sent_s - due_s) * 1000)
        await line.socket.send(frame)


async def _receive(line: Line, count: int, sent: deque[float], into: Measured) -> None:
    for _ in range(count):
        await _answer(line)
        into.answers_ms.append((_now_s() - sent.popleft()) * 1000)


async def _in_turn(line: Line, until_s: float, into: Measured) -> None:
    while (sent_s := _now_s()) < until_s:
        await line.socket.send(next(line.frames))
        await _answer(line)
        into.answers_ms.append((_now_s() - sent_s) * 1000)


async def _answer(line: Line) -> None:
    receive, is_answer = line.socket.recv, line.is_answer
    while not is_answer(await receive(decode=False)):
        pass


def _is_ack(frame: bytes) -> bool:
    """Tell an ack, mostly without decoding: the server writes the type last."""
    if frame.endswith(_ACK):
        return True
    fields = unpack(frame)
    _complain(fields)
    return bool(fields["type"] == "ack")


async def _connected(stack: AsyncExitStack, url: str, subprotocol: str | None) -> ClientConnection:
    return await stack.enter_async_context(
        connect(
            url,
            subprotocols=[Subprotocol(subprotocol)] if subprotocol else None,
            compression=None,
            ping_interval=None,
            max_queue=None,
            open_timeout=30,
            close_timeout=2,
        )
    )


async def _ask(socket: ClientConnection, fields: dict[str, object]) -> dict[str, Any]:
    await socket.send(pack(fields | {"id": 0}))
    while (answer := await _next(socket)).get("id") != 0:
        pass
    _complain(answer)
    return answer


async def _next(socket: ClientConnection) -> dict[str, Any]:
    try:
        return unpack(await socket.recv(decode=False))
    except ConnectionClosed as error:
        raise ConnectionLost(f"a connection ended before the load began: {error}") from None


def _complain(fields: dict[str, Any]) -> None:
    if fields["type"] == "refused":
        raise Refused(ErrorCode(fields["code"]), fields["sentence"])


def _first(group: ExceptionGroup[Exception]) -> Exception:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
