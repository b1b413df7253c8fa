"""Frames however the network cuts them: one answer each, in order; oddities close."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import Event
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from samedeal.protocol import server_messages as say
from samedeal.protocol.client_messages import Hello, Ping
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.limits import SUBPROTOCOL


class Raw:
    """A WebSocket client that decides which bytes leave in which write."""

    def __init__(self, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.protocol = ClientProtocol(parse_uri(url), subprotocols=[Subprotocol(SUBPROTOCOL)])
        self.reader, self.writer = reader, writer
        self._events: list[Event] = []

    def frames(self, *frames: Frame) -> bytes:
        return b"".join(frame.serialize(mask=True) for frame in frames)

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def event(self) -> Event:
        async with asyncio.timeout(5):
            while not self._events:
                data = await self.reader.read(65536)
                if data:
                    self.protocol.receive_data(data)
                else:
                    self.protocol.receive_eof()
                self._events += self.protocol.events_received()
                for reply in self.protocol.data_to_send():
                    if reply:
                        await self.write(reply)
        return self._events.pop(0)

    async def answer(self) -> say.ServerMessage:
        frame = await self.event()
        assert isinstance(frame, Frame)
        assert frame.opcode is Opcode.BINARY
        return decode_server(bytes(frame.data))

    async def close_code(self) -> int:
        frame = await self.event()
        assert isinstance(frame, Frame)
        assert frame.opcode is Opcode.CLOSE
        return Close.parse(bytes(frame.data)).code

    async def apart(self) -> None:
        """Let what was written leave before more is: the server reads it by itself."""
        await asyncio.sleep(0.02)


@asynccontextmanager
async def raw(url: str) -> AsyncIterator[Raw]:
    """A connection that has said hello."""
    host, _, port = url.removeprefix("ws://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    client = Raw(url, reader, writer)
    client.protocol.send_request(client.protocol.connect())
    await client.write(b"".join(client.protocol.data_to_send()))
    assert isinstance(await client.event(), Response)
    await client.write(client.frames(binary(Hello(id=0, name="raw"))))
    assert isinstance(await client.answer(), say.Welcome)
    try:
        yield client
    finally:
        writer.close()


def binary(message: Hello | Ping) -> Frame:
    return Frame(Opcode.BINARY, encode(message))


def pings(count: int) -> list[Frame]:
    return [binary(Ping(id=number)) for number in range(1, count + 1)]


async def answers(client: Raw, count: int) -> list[int | None]:
    return [getattr(await client.answer(), "id", None) for _ in range(count)]


async def test_frames_that_arrive_together_are_answered_in_order(server_url: str) -> None:
    async with raw(server_url) as client:
        await client.write(client.frames(*pings(40)))
        assert await answers(client, 40) == list(range(1, 41))


@pytest.mark.parametrize("size", [1, 2, 7, 13])
async def test_frames_cut_anywhere_are_put_together(server_url: str, size: int) -> None:
    async with raw(server_url) as client:
        data = client.frames(*pings(5))
        for at in range(0, len(data), size):
            await client.write(data[at : at + size])
            await asyncio.sleep(0)
        assert await answers(client, 5) == [1, 2, 3, 4, 5]


async def test_a_frame_inside_the_payload_of_another_is_payload(server_url: str) -> None:
    async with raw(server_url) as client:
        inner = client.frames(binary(Ping(id=2)))
        no_mask = b"\0\0\0\0"
        await client.write(bytes([0x82, 0x80 | len(inner) + 1]) + no_mask + b"\xc1")
        await client.apart()
        await client.write(inner)
        assert isinstance(await client.answer(), say.Refused)


async def test_a_message_in_fragments_is_one_message(server_url: str) -> None:
    async with raw(server_url) as client:
        whole = encode(Ping(id=9))
        parts = [
            Frame(Opcode.BINARY, whole[:3], fin=False),
            Frame(Opcode.CONT, b"", fin=False),
            Frame(Opcode.PING, b"between"),
            Frame(Opcode.CONT, whole[3:]),
        ]
        for part in parts:
            await client.write(client.frames(part))
            await client.apart()
        pong = await client.event()
        assert isinstance(pong, Frame)
        assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"between")
        assert await answers(client, 1) == [9]


async def test_a_new_message_inside_fragments_breaks_the_protocol(server_url: str) -> None:
    async with raw(server_url) as client:
        await client.write(client.frames(Frame(Opcode.BINARY, b"\x81", fin=False)))
        await client.apart()
        await client.write(client.frames(binary(Ping(id=1))))
        assert await client.close_code() == 1002


async def test_an_unmasked_frame_breaks_the_protocol(server_url: str) -> None:
    async with raw(server_url) as client:
        await client.write(binary(Ping(id=1)).serialize(mask=False))
        assert await client.close_code() == 1002


async def test_a_frame_beyond_what_is_read_closes_with_1009(server_url: str) -> None:
    async with raw(server_url) as client:
        await client.write(client.frames(Frame(Opcode.BINARY, b"x" * 70_000)))
        assert await client.close_code() == 1009


async def test_fragments_beyond_what_is_read_close_with_1009(server_url: str) -> None:
    async with raw(server_url) as client:
        part = Frame(Opcode.CONT, b"x" * 8000, fin=False)
        await client.write(client.frames(Frame(Opcode.BINARY, b"x" * 8000, fin=False), *[part] * 9))
        assert await client.close_code() == 1009


async def test_a_close_is_answered_with_its_code(server_url: str) -> None:
    async with raw(server_url) as client:
        client.protocol.send_close(1000, "bye")
        await client.write(b"".join(client.protocol.data_to_send()))
        assert await client.close_code() == 1000


async def test_plain_http_is_told_to_use_a_websocket(server_url: str) -> None:
    host, _, port = server_url.removeprefix("ws://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(5):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 426 ")
    writer.close()
