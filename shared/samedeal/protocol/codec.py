"""Bytes to messages and back: one function each way, one error. The only user of msgpack."""

from collections import Counter
from collections.abc import Callable, Container
from typing import Any, NamedTuple, NoReturn

import msgpack
from pydantic import ValidationError

from samedeal.engine.errors import EngineError
from samedeal.engine.moves import Move
from samedeal.protocol import limits
from samedeal.protocol.client_messages import (
    CLIENT_MESSAGE,
    ClientMessage,
    PlayMove,
    PlayUndo,
)
from samedeal.protocol.errors import BadFrame, UnknownMessage
from samedeal.protocol.server_messages import SERVER_MESSAGE, ServerMessage

__all__ = [
    "ActionRequest",
    "decode_action",
    "decode_client",
    "decode_server",
    "encode",
    "pack",
    "unpack",
]


_ACTIONS: dict[object, str] = {b"\x85": "move", b"\x84": "undo"}
"""Which action a frame may ask for, by its first byte: a map of five fields or of four."""
_CONTAINERS = (dict, list)
_USUAL = 256
"""Bytes that nearly every frame fits into."""
_validate_client = CLIENT_MESSAGE.validator.validate_python
_validate_server = SERVER_MESSAGE.validator.validate_python


def encode(message: ClientMessage | ServerMessage) -> bytes:
    """Return the bytes of one frame. Fields at their default stay out, `type` stays in."""
    fields = message.model_dump(mode="json", exclude_defaults=True)
    fields["type"] = message.type
    return pack(fields)


class ActionRequest(NamedTuple):
    """What a `PlayMove` or a `PlayUndo` asks for."""

    id: int
    race: str
    seq: int
    text: str
    """The move, or `undo`."""

    @classmethod
    def of(cls, message: PlayMove | PlayUndo) -> "ActionRequest":
        """Take it from a message."""
        text = message.move if isinstance(message, PlayMove) else message.type
        return cls(message.id, message.race, message.seq, text)


def decode_action(frame: bytes | str, races: Container[str]) -> ActionRequest | None:
    """Read the frame of a move or an undo in one of `races`; None for every other frame.

    Most frames are one of these two, and the model of a message costs more than the move. What is
    taken here `decode_client` takes, too, and means the same by it; what is not may be anything.
    """
    if (kind := _ACTIONS.get(frame[:1])) is None or len(frame) > _USUAL:
        return None
    try:
        # As many names as there are fields: none stands twice, and none is unknown.
        fields = msgpack.unpackb(frame)
        said, request, race, seq = fields["type"], fields["id"], fields["race"], fields["seq"]
        text = kind if kind == "undo" else fields["move"]
        if said != kind or race not in races:
            return None
        if kind == "move":
            Move.parse(text)
    except (ValueError, TypeError, KeyError, RecursionError, EngineError, msgpack.UnpackException):
        return None
    if type(request) is type(seq) is int and 0 <= request < 2**31 and 0 <= seq <= limits.MAX_INT:
        return ActionRequest(request, race, seq, text)
    return None


def decode_client(frame: bytes | str) -> ClientMessage:
    """Read one frame of a client. Raise BadFrame if it is not exactly one message."""
    if isinstance(frame, bytes) and len(frame) > limits.MAX_CLIENT_FRAME:
        raise BadFrame(
            f"a frame may have {limits.MAX_CLIENT_FRAME} bytes; this one has {len(frame)}"
        )
    fields = unpack(frame)
    try:
        message: ClientMessage = _validate_client(fields)
    except ValidationError as error:
        raise _explained(error, fields) from None
    return message


def decode_server(frame: bytes | str) -> ServerMessage:
    """Read one frame of a server. Raise BadFrame if it is not exactly one message.

    Fields that are not known are let go, those of parts too.
    """
    fields = unpack(frame)
    try:
        message: ServerMessage = _validate_server(fields)
    except ValidationError as error:
        raise _explained(error, fields) from None
    return message


# One for all: packb() makes one with 256 KiB each time. It is fit for use after an error, too.
pack: Callable[[dict[str, object]], bytes] = msgpack.Packer(buf_size=_USUAL).pack
"""Return plain fields as msgpack."""


def unpack(frame: bytes | str) -> dict[str, Any]:
    """Return the map in a frame. Raise BadFrame for anything but one map with text keys.

    A frame is decoded in one go, never by a decoder that outlives it: msgpack's streaming
    decoder must not be used again after an error.
    """
    if isinstance(frame, str):
        raise BadFrame("frames are binary msgpack; this one is text")
    try:
        fields = msgpack.unpackb(
            frame,
            strict_map_key=True,
            object_pairs_hook=_without_duplicates,
            ext_hook=_no_ext,
            max_ext_len=0,
        )
    except BadFrame:
        raise
    except RecursionError:
        raise BadFrame("the frame is nested too deeply") from None
    except UnicodeDecodeError:
        raise BadFrame("a text in the frame is not UTF-8") from None
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise BadFrame(f"the frame is not msgpack: {_reason(error)}") from None
    if not isinstance(fields, dict):
        raise BadFrame("a frame holds one map")
    if _too_deep(fields, limits.MAX_DEPTH):
        raise BadFrame("the frame is nested too deeply")
    return fields


def _reason(error: Exception) -> str:
    if isinstance(error, msgpack.ExtraData):
        return "there are bytes after its end"
    if isinstance(error, msgpack.StackError):
        return "it is nested too deeply"
    if isinstance(error, msgpack.FormatError):
        return "it has a reserved byte"
    return {"Unpack failed: incomplete input": "it ends too early"}.get(
        str(error), "it has a part that is not allowed"
    )


def _without_duplicates(pairs: list[tuple[object, object]]) -> dict[object, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        # Counted in one go: a frame of thousands of fields must not take their square.
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise BadFrame(f"the field {str(twice)[:40]!r} stands twice")
    for key in fields:
        if type(key) is not str:
            raise BadFrame("the keys of a map are text")
    return fields


def _no_ext(_code: int, _payload: bytes) -> NoReturn:
    raise BadFrame("ext types are not used here")


def _too_deep(container: dict[str, Any] | list[Any], room: int) -> bool:
    """Whether containers lie more than `room` deep in one another."""
    for part in container.values() if isinstance(container, dict) else container:
        if isinstance(part, _CONTAINERS) and (room == 1 or _too_deep(part, room - 1)):
            return True
    return False


def _explained(error: ValidationError, fields: dict[str, Any]) -> BadFrame:
    """Turn pydantic's first complaint into a sentence that names the field."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    request_id = fields.get("id")
    if type(request_id) is not int or not 0 <= request_id < 2**31:
        request_id = None
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        sentence = "the field 'type' does not name a message"
        return UnknownMessage(sentence, request_id=request_id)
    place = ".".join(str(part)[:40] for part in first["loc"][1:])
    sentence = f"the field {place!r} does not fit: {first['msg']}"
    return BadFrame(sentence[:300], request_id=request_id)
