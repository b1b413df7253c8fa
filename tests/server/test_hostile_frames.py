"""Frames no client of ours would send: one typed answer each, and nothing changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgpack
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.protocol import server_messages as say
from samedeal.protocol.client_messages import Hello, Ping, PlayMove, Resume
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.limits import MAX_BAD_FRAMES, SUBPROTOCOL
from samedeal_client.connection import Client
from support import PATIENCE_S

HOSTILE: dict[str, bytes | str] = {
    "text": "hello",
    "empty": b"",
    "not a map": b"\x90",
    "reserved byte": b"\xc1",
    "cut short": b"\x82\xa4type",
    "trailing bytes": encode(Ping(id=1)) + b"\x00",
    "ext type": b"\x82\xa4type\xa4ping\xa2id\xd4\x01\x01",
    "deep nesting": b"\x81\xa1a" + b"\x91" * 3000 + b"\xc0",
    "duplicate key": b"\x83\xa4type\xa4ping\xa2id\x01\xa2id\x02",
    "invalid UTF-8": b"\x82\xa4type\xa4ping\xa2id\xa2\xff\xfe",
    "number as key": msgpack.packb({"type": "ping", 1: 1}),
    "true for a number": msgpack.packb({"type": "ping", "id": True}),
    "float for a number": msgpack.packb({"type": "ping", "id": 1.0}),
    "text for a number": msgpack.packb({"type": "ping", "id": "1"}),
    "NaN": msgpack.packb({"type": "ping", "id": float("nan")}),
    "infinity": msgpack.packb({"type": "ping", "id": float("inf")}),
    "2 to the 63": msgpack.packb({"type": "ping", "id": 2**63}),
    "negative": msgpack.packb({"type": "ping", "id": -1}),
    "unknown field": msgpack.packb({"type": "ping", "id": 1, "more": 1}),
    "unknown type": msgpack.packb({"type": "pong", "id": 1}),
    "no type": msgpack.packb({"id": 1}),
}


@asynccontextmanager
async def greeted(url: str) -> AsyncIterator[ClientConnection]:
    """A bare connection that has said hello."""
    async with connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as socket:
        await socket.send(encode(Hello(id=0, name="mallory", or_like=True)))
        assert isinstance(decode_server(await socket.recv()), say.Welcome)
        yield socket


@pytest.mark.parametrize("frame", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_hostile_frame_gets_one_typed_answer(server_url: str, frame: bytes | str) -> None:
    async with greeted(server_url) as socket:
        await socket.send(frame)
        answer = decode_server(await socket.recv())
        assert isinstance(answer, say.Refused)
        assert answer.code is ErrorCode.BAD_FRAME
        assert answer.sentence
        await socket.send(encode(Ping(id=7)))
        assert decode_server(await socket.recv()) == say.Pong(id=7)


async def test_p19_an_oversize_frame_gets_an_answer_that_says_so(server_url: str) -> None:
    async with greeted(server_url) as socket:
        await socket.send(b"\x81" * 5000)
        answer = decode_server(await socket.recv())
        assert isinstance(answer, say.Refused)
        assert answer.code is ErrorCode.TOO_LARGE


async def test_repeated_abuse_closes_the_socket(server_url: str) -> None:
    async with greeted(server_url) as socket:
        for _ in range(MAX_BAD_FRAMES):
            await socket.send(b"\xc1")
        with suppress(ConnectionClosed):
            async with asyncio.timeout(PATIENCE_S):
                async for _ in socket:
                    pass
        assert socket.close_code == 1008


async def test_p25_a_silent_socket_is_closed(server_url: str) -> None:
    async with connect(server_url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1008


async def test_nothing_is_done_before_hello(server_url: str) -> None:
    async with connect(server_url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as socket:
        await socket.send(encode(Ping(id=3)))
        answer = decode_server(await socket.recv())
        assert isinstance(answer, say.Refused)
        assert (answer.id, answer.code) == (3, ErrorCode.HELLO_FIRST)


async def test_p07_a_double_click_plays_once(server_url: str) -> None:
    """The same seq again gets the same ack, another action a conflict, a later seq the gap."""
    async with (
        Client(server_url, name="ada") as a,
        Client(server_url, name="ivo") as b,
        connect(server_url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as socket,
    ):
        first = await a.create_race("lanes", countdown_s=0)
        second = await b.join(first.code)
        await second.ready()
        await first.ready()
        await first.until_go()
        await socket.send(encode(Hello(id=0, token=a.token)))
        await socket.recv()
        await socket.send(encode(Resume(id=1, race=first.id)))
        answers: dict[int, say.ServerMessage] = {}

        async def answer(request: int) -> say.ServerMessage:
            while request not in answers:
                message = decode_server(await socket.recv())
                number = getattr(message, "id", None)
                if isinstance(number, int):
                    answers[number] = message
            return answers[request]

        assert isinstance(await answer(1), say.Seated)
        for request, seq, move in ((2, 1, "draw"), (3, 1, "draw"), (4, 1, "W>T1"), (5, 3, "draw")):
            await socket.send(encode(PlayMove(id=request, race=first.id, seq=seq, move=move)))
        one, same, other, gap = [await answer(request) for request in (2, 3, 4, 5)]
        assert isinstance(one, say.Ack)
        assert isinstance(same, say.Ack)
        assert one.model_copy(update={"id": 0}) == same.model_copy(update={"id": 0})
        assert isinstance(other, say.Refused)
        assert other.code is ErrorCode.SEQ_CONFLICT
        assert isinstance(gap, say.Refused)
        assert (gap.code, gap.expected) == (ErrorCode.SEQ_GAP, 2)
