"""Hostile bytes: whatever is not exactly one message is BadFrame with a sentence, nothing else."""

import math
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from samedeal.protocol import limits
from samedeal.protocol.client_messages import CLIENT_MESSAGE, ClientMessage
from samedeal.protocol.codec import decode_client, decode_server, pack, unpack
from samedeal.protocol.errors import BadFrame, UnknownMessage
from samedeal.protocol.server_messages import SERVER_MESSAGE

FRAMES = {
    name: bytes.fromhex(frame)
    for name, frame in (
        line.split() for line in Path(__file__).with_name("golden.txt").read_text().splitlines()
    )
}
ASKED = {model.__name__ for model in get_args(ClientMessage)}
PING = pack({"type": "ping", "id": 7})

Place = tuple[str | int, ...]


def leaves(value: object, path: Place = ()) -> Iterator[tuple[Place, object]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value


def replaced(fields: dict[str, Any], path: Place, value: object) -> dict[str, Any]:
    changed = deepcopy(fields)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def decode(name: str, frame: bytes) -> object:
    return decode_client(frame) if name in ASKED else decode_server(frame)


NUMBERS = [
    pytest.param(name, path, id=f"{name}-{'.'.join(map(str, path))}")
    for name, frame in FRAMES.items()
    for path, value in leaves(unpack(frame))
    if type(value) is int
]
FLAGS = [
    pytest.param(name, path, id=f"{name}-{'.'.join(map(str, path))}")
    for name, frame in FRAMES.items()
    for path, value in leaves(unpack(frame))
    if type(value) is bool
]


@pytest.mark.parametrize(("name", "path"), NUMBERS)
def test_p23_a_number_field_takes_nothing_but_whole_numbers_in_range(
    name: str, path: Place
) -> None:
    fields = unpack(FRAMES[name])
    for hostile in (True, 1.0, 1.5, "1", math.inf, -math.inf, math.nan, 2**64 - 1, -(2**63)):
        with pytest.raises(BadFrame):
            decode(name, pack(replaced(fields, path, hostile)))


@pytest.mark.parametrize(("name", "path"), NUMBERS)
def test_a_number_field_refuses_what_msgpack_cannot_even_carry(name: str, path: Place) -> None:
    adapter = CLIENT_MESSAGE if name in ASKED else SERVER_MESSAGE
    with pytest.raises(ValidationError):
        adapter.validate_python(replaced(unpack(FRAMES[name]), path, 2**80))


@pytest.mark.parametrize(("name", "path"), FLAGS)
def test_a_flag_takes_nothing_but_true_and_false(name: str, path: Place) -> None:
    fields = unpack(FRAMES[name])
    for hostile in (0, 1, 1.0, "true", ""):
        with pytest.raises(BadFrame):
            decode(name, pack(replaced(fields, path, hostile)))


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        pytest.param("ping", "frames are binary msgpack; this one is text", id="text"),
        pytest.param(b"", "the frame is not msgpack: it ends too early", id="empty"),
        pytest.param(PING[:-1], "the frame is not msgpack: it ends too early", id="cut short"),
        pytest.param(
            PING + b"\x00", "the frame is not msgpack: there are bytes after its end", id="trailing"
        ),
        pytest.param(
            PING + PING, "the frame is not msgpack: there are bytes after its end", id="two"
        ),
        pytest.param(b"\xc1", "the frame is not msgpack: it has a reserved byte", id="reserved"),
        pytest.param(b"\x81\xa2id\xa1\xff", "a text in the frame is not UTF-8", id="not UTF-8"),
        pytest.param(
            b"\x81\xa2id\xa3\xed\xa0\x80", "a text in the frame is not UTF-8", id="surrogate"
        ),
        pytest.param(b"\x81\xa1\xff\x01", "a text in the frame is not UTF-8", id="key not UTF-8"),
        pytest.param(b"\x90", "a frame holds one map", id="list"),
        pytest.param(b"\xc0", "a frame holds one map", id="nil"),
        pytest.param(b"\x07", "a frame holds one map", id="number"),
        pytest.param(b"\x81\xc4\x01a\x01", "the keys of a map are text", id="key of bytes"),
        pytest.param(b"\x82\xa2id\x01\xa2id\x02", "the field 'id' stands twice", id="duplicate"),
        pytest.param(
            b"\x81\xa1a\x82\xa1b\x01\xa1b\x02", "the field 'b' stands twice", id="inner duplicate"
        ),
        pytest.param(b"\x81\xa2id\xc7\x00\x05", "ext types are not used here", id="empty ext"),
    ],
)
def test_a_frame_that_is_not_one_map_is_refused_with_its_reason(
    frame: bytes | str, sentence: str
) -> None:
    for decoder in (decode_client, decode_server):
        with pytest.raises(BadFrame) as caught:
            decoder(frame)
        assert caught.value.sentence == sentence
        assert caught.value.request_id is None


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b"\x81\xa2id\xd4\x05\x00", id="fixext"),
        pytest.param(b"\x81\xa2id\xd6\xff\x00\x00\x00\x00", id="timestamp"),
        pytest.param(b"\x81\xa2id\xc7\x00\xff", id="empty timestamp"),
        pytest.param(b"\x81\xa2id\xc9\xff\xff\xff\xff\x05", id="huge ext"),
        pytest.param(b"\x81\x01\x02", id="number as key"),
        pytest.param(b"\x81\xc0\x02", id="nil as key"),
        pytest.param(b"\x81\x91\x01\x02", id="list as key"),
        pytest.param(b"\xdd\xff\xff\xff\xff", id="list that says it is huge"),
        pytest.param(b"\xdf\xff\xff\xff\xff", id="map that says it is huge"),
        pytest.param(b"\x81\xa2id\xdb\xff\xff\xff\xff", id="text that says it is huge"),
    ],
)
def test_msgpack_beyond_plain_maps_is_refused(frame: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_client(frame)


@pytest.mark.parametrize("opening", [b"\x91", b"\x81\xa1a"], ids=["lists", "maps"])
@pytest.mark.parametrize("levels", [limits.MAX_DEPTH + 1, 1000, 100_000])
def test_deep_nesting_is_refused(opening: bytes, levels: int) -> None:
    frame = b"\x81\xa1a" + opening * (levels - 1) + b"\xc0"
    with pytest.raises(BadFrame, match="nested too deeply"):
        decode_server(frame)


def test_nesting_as_deep_as_the_limit_is_read() -> None:
    frame = b"\x81\xa1a" + b"\x91" * (limits.MAX_DEPTH - 1) + b"\xc0"
    assert list(unpack(frame)) == ["a"]


def test_a_client_frame_over_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadFrame, match=f"may have {limits.MAX_CLIENT_FRAME} bytes"):
        decode_client(b"\xc1" * (limits.MAX_CLIENT_FRAME + 1))


def test_a_client_frame_at_the_limit_is_read() -> None:
    frame = PING + b"\x00" * (limits.MAX_CLIENT_FRAME - len(PING))
    with pytest.raises(BadFrame, match="bytes after its end"):
        decode_client(frame)


@pytest.mark.parametrize("name", sorted(ASKED))
def test_an_unknown_field_of_a_client_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadFrame, match="'surplus' does not fit"):
        decode_client(pack({**unpack(FRAMES[name]), "surplus": 1}))


@pytest.mark.parametrize("name", sorted(FRAMES.keys() - ASKED))
def test_an_unknown_field_of_a_server_is_read_past(name: str) -> None:
    fields = unpack(FRAMES[name])
    assert decode_server(pack({**fields, "surplus": 1})) == decode_server(FRAMES[name])


@pytest.mark.parametrize("name", sorted(FRAMES.keys() - ASKED))
def test_an_unknown_field_of_a_part_of_a_servers_message_is_read_past(name: str) -> None:
    assert decode_server(pack(with_surplus(unpack(FRAMES[name])))) == decode_server(FRAMES[name])


def with_surplus(part: Any) -> Any:
    """Add an unknown field to every map in a message."""
    if isinstance(part, dict):
        return {**{name: with_surplus(value) for name, value in part.items()}, "surplus": 1}
    return [with_surplus(value) for value in part] if isinstance(part, list) else part


def test_a_type_that_is_not_known_yet_is_told_from_a_message_that_is_broken() -> None:
    with pytest.raises(UnknownMessage):
        decode_server(pack({"type": "applause", "race": "a" * 16}))
    with pytest.raises(BadFrame) as caught:
        decode_server(pack({"type": "notice", "race": 7}))
    assert not isinstance(caught.value, UnknownMessage)


@pytest.mark.parametrize("kind", [None, 1, "", "PING", "pong", b"ping", ["ping"], {"ping": 1}])
def test_a_type_that_names_no_message_of_a_client_is_refused(kind: object) -> None:
    with pytest.raises(BadFrame, match="'type' does not name a message") as caught:
        decode_client(pack({"type": kind, "id": 7}))
    assert caught.value.request_id == 7


def test_a_message_without_type_is_refused() -> None:
    with pytest.raises(BadFrame, match="'type' does not name a message"):
        decode_client(pack({"id": 7}))


@pytest.mark.parametrize("request_id", [True, -1, 2**31, 7.0, "7", None])
def test_a_bad_frame_names_no_request_that_is_not_a_request_id(request_id: object) -> None:
    with pytest.raises(BadFrame) as caught:
        decode_client(pack({"type": "ping", "id": request_id}))
    assert caught.value.request_id is None


def test_a_bad_field_names_the_request_it_came_with() -> None:
    with pytest.raises(BadFrame, match="'code' does not fit") as caught:
        decode_client(pack({"type": "join", "id": 7, "code": "O0"}))
    assert caught.value.request_id == 7


def test_a_refusal_of_a_long_field_name_fits_in_a_sentence() -> None:
    with pytest.raises(BadFrame) as caught:
        decode_client(pack({"type": "ping", "id": 7, "\n" * 3000: 1}))
    assert len(caught.value.sentence) <= 300


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_bad_frame(frame: bytes) -> None:
    for decoder in (decode_client, decode_server):
        with suppress(BadFrame):
            decoder(frame)


@given(
    st.sampled_from(sorted(FRAMES)),
    st.integers(min_value=0),
    st.integers(min_value=0, max_value=255),
)
def test_a_golden_frame_with_one_byte_changed_is_a_message_or_a_bad_frame(
    name: str, at: int, byte: int
) -> None:
    frame = bytearray(FRAMES[name])
    frame[at % len(frame)] = byte
    with suppress(BadFrame):
        decode(name, bytes(frame))


def test_an_option_by_name_is_text_and_not_bytes() -> None:
    frame = pack({"type": "create", "id": 1, "game": "lanes", "options": {"undo": b"safe"}})
    with pytest.raises(BadFrame, match=r"options\.undo"):
        decode_client(frame)


def test_a_move_has_no_control_characters() -> None:
    fields = {"type": "move", "id": 1, "race": "a" * 16, "seq": 1, "move": "draw\n"}
    with pytest.raises(BadFrame, match="move"):
        decode_client(pack(fields))


@pytest.mark.parametrize(
    "odd", [object(), 2**70, {"deep": [object()]}], ids=["kind", "size", "deep"]
)
def test_what_cannot_be_packed_leaves_nothing_behind(odd: object) -> None:
    with pytest.raises((TypeError, OverflowError)):
        pack({"type": "ping", "text": "x" * 1000, "odd": odd})
    assert pack({"type": "ping", "id": 7}) == PING
