"""Hostile bytes, all from one seed: messages gone wrong in every way, and frames that are none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, get_args

import msgpack
from websockets.frames import Frame, Opcode

from samedeal.engine.games import GAMES
from samedeal.protocol import limits
from samedeal.protocol.client_messages import ClientMessage
from samedeal.protocol.fields import Message

__all__ = ["HANDSHAKE", "SCHEMAS", "Fuzz", "hostile_numbers"]

MODELS: tuple[type[Message], ...] = get_args(ClientMessage)
SCHEMAS = [model.model_json_schema() for model in MODELS]
HANDSHAKE = (
    "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Protocol: {limits.SUBPROTOCOL}\r\n\r\n"
).encode()


def hostile_numbers() -> list[object]:
    """What stands where a number should, and is none; 2**80 is more than msgpack can carry."""
    return [True, "7", 7.0, -1, 2**53, 2**64 - 1, math.inf, -math.inf, math.nan, None, b"7", [7]]


def hostile_values() -> list[object]:
    """What may stand anywhere."""
    ext, time = msgpack.ExtType(5, b"x"), msgpack.Timestamp(1)
    texts = ["", "x" * 300, "\u202e", "a\0b", "draw\n", "../..", "{r:1}"]
    return [
        *hostile_numbers(),
        *texts,
        False,
        0,
        2**31,
        -(2**63),
        b"",
        {},
        [],
        {"a": {}},
        ext,
        time,
    ]


class Fuzz:
    """A stream of hostile input. The same seed and the same words give the same stream."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.words: dict[str, list[str]] = {
            "race": ["0" * 16],
            "code": ["ABCDE", "22222222"],
            "secret": ["0" * 64],
            "link": ["ABCDEFGH23"],
            "token": ["0" * 16 + "." + "0" * 64],
            "game": [*GAMES, "sally", "nosuch"],
            "day": [
                "2026-11-30",
                "2024-02-29",
                "2026-02-30",
                "0000-01-01",
                "0001-01-01",
                "9999-12-31",
            ],
            "page": ["a" + "f" * 60, "b0", "b" + "z" * 100, "a." + "0" * 40],
            "name": ["mo", "x", "e\u0301va", "adm\u0456n", "\u202eada", "a\u200db", "housebot"],
            "move": [
                "draw",
                "W>T1",
                "T1>T2",
                "T2>F1",
                "T3:2>T4",
                "F1>T1",
                "S>W",
                "no!move",
                "undo",
            ],
        }
        """Texts that mean something in a field of that name; what the server gives may be added."""

    # Messages

    def valid(self) -> dict[str, Any]:
        """A message as the models have it, with whatever values."""
        return self.message(self.rng.choice(SCHEMAS))

    def message(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A message of one model, by its JSON Schema."""
        return self._object(schema, schema.get("$defs", {}))

    def payload(self) -> bytes | str:
        """One message: as it should be, more often than not."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.6:
            packed: bytes = msgpack.packb(self.valid())
            return packed
        if draw < 0.95:
            return self._broken()
        if draw < 0.97:
            return rng.randbytes(rng.randrange(60))
        if draw < 0.98:
            return rng.choice(["", "hello", '{"type":"ping","id":1}', "\u2660" * 100])
        sizes = [limits.MAX_CLIENT_FRAME + extra for extra in (-1, 0, 1, 2)]
        return rng.choice([b"\x81\xa1a", b"\x91", b"\0", b"\xc1"]).ljust(rng.choice(sizes), b"\x91")

    def _broken(self) -> bytes:
        """A message with a fault or two."""
        rng = self.rng
        fields = self.valid()
        for _ in range(rng.choice((1, 1, 2))):
            rng.choice((self._replace, self._drop, self._add, self._swap, self._nest))(fields)
        packed: bytes = msgpack.packb(fields)
        draw = rng.random()
        if draw < 0.1:
            return packed[: rng.randrange(len(packed))]
        if draw < 0.2:
            return packed + rng.choice((packed, b"\0", b"\xc1"))
        if draw < 0.3:
            at = rng.randrange(len(packed))
            return packed[:at] + rng.randbytes(1) + packed[at + 1 :]
        if draw < 0.35 and 0x80 <= packed[0] < 0x8F:
            # One field twice.
            return bytes([packed[0] + 1]) + packed[1:] + b"\xa2id\x01"
        return packed

    def _place(self, fields: dict[str, Any]) -> tuple[dict[str, Any], str]:
        inner = fields.get("options")
        if isinstance(inner, dict) and inner and self.rng.random() < 0.5:
            fields = inner
        return fields, self.rng.choice(list(fields) or ["type"])

    def _replace(self, fields: dict[str, Any]) -> None:
        part, name = self._place(fields)
        part[name] = self.rng.choice(hostile_values())

    def _drop(self, fields: dict[str, Any]) -> None:
        part, name = self._place(fields)
        part.pop(name, None)

    def _add(self, fields: dict[str, Any]) -> None:
        part, _ = self._place(fields)
        name = self.rng.choice(["extra", "t_ms", "seat", "", "__class__", "Id", "race ", "hash"])
        part[name] = self.rng.choice(hostile_values())

    def _swap(self, fields: dict[str, Any]) -> None:
        pairs = list(fields.items())
        self.rng.shuffle(pairs)
        fields.clear()
        fields.update(pairs)

    def _nest(self, fields: dict[str, Any]) -> None:
        part, name = self._place(fields)
        value = part.get(name)
        for _ in range(self.rng.choice((1, 2, limits.MAX_DEPTH, 60))):
            value = self.rng.choice(([value], {"a": value}))
        part[name] = value

    # Values from the schema, so that messages to come are covered

    def _object(self, schema: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
        needed = {*schema.get("required", ()), "type"}
        return {
            name: self._value(name, part, defs)
            for name, part in schema["properties"].items()
            if name in needed or self.rng.random() < 0.4
        }

    def _value(self, name: str, schema: dict[str, Any], defs: dict[str, Any]) -> Any:
        rng = self.rng
        if "$ref" in schema:
            return self._value(name, defs[schema["$ref"].rpartition("/")[2]], defs)
        if "anyOf" in schema:
            return self._value(name, rng.choice(schema["anyOf"]), defs)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kind = schema["type"]
        if kind == "object":
            return self._object(schema, defs)
        if kind == "integer":
            least, most = schema.get("minimum", 0), schema.get("maximum", 2**31)
            near = rng.randint(least, min(most, least + 20))
            return near if name != "id" and rng.random() < 0.9 else rng.randint(least, most)
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "null":
            return None
        return rng.choice(self.words.get(name, ["x"]))

    # Frames

    def wired(self, payloads: list[bytes | str]) -> list[bytes]:
        """Masked frames of these messages, in fragments at times, and the writes they leave in."""
        rng = self.rng
        frames: list[bytes] = []
        for payload in payloads:
            if isinstance(payload, str):
                frames.append(_masked(Opcode.TEXT, payload.encode()))
            elif rng.random() < 0.1:
                at = rng.randint(0, len(payload))
                frames.append(_masked(Opcode.BINARY, payload[:at], fin=False))
                if rng.random() < 0.5:
                    frames.append(_masked(Opcode.PING, b"between"))
                frames.append(_masked(Opcode.CONT, payload[at:]))
            else:
                frames.append(_masked(Opcode.BINARY, payload))
        style = rng.randrange(3)
        if style == 0:
            return frames
        whole = b"".join(frames)
        if style == 1:
            return [whole]
        cuts = sorted(rng.randrange(len(whole) + 1) for _ in range(rng.randrange(1, 8)))
        return [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    def violation(self) -> bytes:
        """Bytes after which a server has to close: they break WebSocket itself."""
        rng = self.rng
        code = rng.choice((0, 1, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535))
        some = rng.randbytes(rng.randrange(20))
        breaks: list[bytes] = [
            # Reserved opcodes and bits, a frame without a mask, a start where none may be.
            bytes([0x80 | rng.choice((3, 4, 5, 6, 7, 11, 12, 13, 14, 15)), 0x80]) + b"\0\0\0\0",
            bytes([0x82 | rng.choice((0x10, 0x20, 0x40, 0x70)), 0x80]) + b"\0\0\0\0",
            Frame(Opcode.BINARY, some).serialize(mask=False),
            _masked(Opcode.CONT, some),
            _masked(Opcode.BINARY, some, fin=False) + _masked(Opcode.BINARY, some),
            _masked(Opcode.TEXT, some, fin=False) + _masked(Opcode.TEXT, some),
            # Control frames in fragments, too long, with bad codes and reasons.
            bytes([rng.choice((0x08, 0x09, 0x0A)), 0x80]) + b"\0\0\0\0",
            bytes([rng.choice((0x88, 0x89, 0x8A)), 0xFE, 0, 126]) + bytes(4 + 126),
            _masked(Opcode.CLOSE, code.to_bytes(2, "big")),
            _masked(Opcode.CLOSE, b"\x03"),
            _masked(Opcode.CLOSE, b"\x03\xe8\xff\xfe"),
            # Longer than is read: said, sent, and in fragments.
            b"\x82\xff" + (2**63 - 1).to_bytes(8, "big") + bytes(4),
            b"\x82\xff" + (2**16 * 9).to_bytes(8, "big") + bytes(4),
            _masked(Opcode.BINARY, bytes(65 * 1024)),
            _masked(Opcode.BINARY, bytes(60_000), fin=False) + _masked(Opcode.CONT, bytes(9000)),
        ]
        return rng.choice(breaks)

    def stump(self) -> bytes:
        """The start of something whose rest never comes."""
        rng = self.rng
        whole = _masked(Opcode.BINARY, rng.randbytes(rng.choice((1, 100, 4096, 60_000))))
        empty = _masked(Opcode.BINARY, b"", fin=False) + _masked(Opcode.CONT, b"", fin=False) * 50
        return rng.choice((whole[: rng.randrange(1, len(whole))], empty))

    def no_handshake(self) -> bytes:
        """What is no opening handshake, or none that can be taken, or one with too much after."""
        rng = self.rng
        lines = HANDSHAKE.split(b"\r\n")
        cut: list[Callable[[], bytes]] = [
            lambda: rng.randbytes(rng.randrange(1, 400)) + b"\r\n\r\n",
            lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(200),
            lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            lambda: HANDSHAKE.replace(b"GET", rng.choice((b"POST", b"get", b"", b"\0"))),
            lambda: HANDSHAKE.replace(b"13", rng.choice((b"12", b"-1", b"x", b""))),
            lambda: HANDSHAKE.replace(b"AAAA", rng.choice((b"A", b"\xff\xfe", b"====", b""))),
            lambda: HANDSHAKE.replace(b"samedeal.1", rng.choice((b"samedeal.2", b",,", b'"'))),
            lambda: b"\r\n".join([*lines[:1], *(b"X: y" for _ in range(300)), *lines[1:]]),
            lambda: HANDSHAKE.replace(b"Host: x", b"Host: " + b"x" * 20_000),
            lambda: b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
            lambda: b"\r\n".join(line for line in lines if rng.random() < 0.7) + b"\r\n\r\n",
            lambda: HANDSHAKE.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\nsome body"),
            lambda: HANDSHAKE + self.violation(),
            lambda: HANDSHAKE + b"".join(self.wired([self.payload() for _ in range(5)])),
            lambda: HANDSHAKE + _masked(Opcode.CLOSE, b"") + _masked(Opcode.PING, b""),
            lambda: HANDSHAKE[: rng.randrange(1, len(HANDSHAKE))],
        ]
        return rng.choice(cut)()


def _masked(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin=fin).serialize(mask=True)
