"""Frames however the network cuts them: one answer each, in order; oddities close."""

from __future__ import annotations

import asyncio

import pytest
from websockets.frames import Frame, Opcode

from raw import Raw, binary, opened, raw
from samedeal.protocol import server_messages as say
from samedeal.protocol.client_messages import Ping
from samedeal.protocol.codec import encode
from samedeal_server.wire import framed
from support import PATIENCE_S


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


@pytest.mark.parametrize(("marker", "length_bytes"), [(126, 2), (127, 8)])
async def test_the_beginning_of_a_long_frame_is_not_taken_for_a_short_one(
    server_url: str, marker: int, length_bytes: int
) -> None:
    async with raw(server_url) as client:
        length, no_mask, payload = 300, b"\0\0\0\0", b"\xc1" * 300
        head = bytes([0x82, 0x80 + marker]) + length.to_bytes(length_bytes, "big") + no_mask
        # As much as a frame would have of which the marker is the length.
        cut = 6 + marker
        await client.write((head + payload)[:cut])
        await client.apart()
        await client.write((head + payload)[cut:] + client.frames(*pings(1)))
        assert await answers(client, 2) == [None, 1]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_frames_made_by_hand_are_those_of_the_library(size: int) -> None:
    payload = b"x" * size
    assert framed(payload) == Frame(Opcode.BINARY, payload).serialize(mask=False)


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
    reader, writer = await opened(server_url)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 426 ")
    writer.close()
