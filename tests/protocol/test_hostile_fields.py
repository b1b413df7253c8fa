"""Every field of every client message against values that do not belong there."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from fuzz import SCHEMAS, Fuzz, hostile_numbers
from samedeal.engine.games import GAMES
from samedeal.engine.run import parse_action
from samedeal.engine.table import Table
from samedeal.protocol import limits
from samedeal.protocol.client_messages import CLIENT_MESSAGE
from samedeal.protocol.codec import decode_client, pack
from samedeal.protocol.errors import BadFrame
from samedeal.protocol.fields import BoardView, Card, MoveText

ROOT = Path(__file__).parents[2]
Schema = dict[str, Any]


def numbers(schema: Schema, defs: Schema, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where whole numbers stand in what a schema describes."""
    for name, part in schema.get("properties", {}).items():
        for option in part.get("anyOf", [part]):
            inner = defs[option["$ref"].rpartition("/")[2]] if "$ref" in option else option
            if inner.get("type") == "integer":
                yield (*path, name)
            yield from numbers(inner, defs, (*path, name))


def complete(schema: Schema) -> Schema:
    """A message of this kind that is read."""
    fuzz = Fuzz(1)
    while True:
        fields = fuzz.message(schema)
        with suppress(BadFrame):
            decode_client(pack(fields))
            return fields


def may_be_left_out(schema: Schema, name: str) -> bool:
    return {"type": "null"} in schema["properties"][name].get("anyOf", [])


PLACES = [
    pytest.param(schema, path, id=f"{schema['title']}-{'.'.join(path)}")
    for schema in SCHEMAS
    for path in numbers(schema, schema.get("$defs", {}))
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema["title"])
def test_the_fuzz_knows_a_good_value_of_every_field(schema: Schema) -> None:
    fuzz, filled = Fuzz(1), set()
    for _ in range(300):
        fields = fuzz.message(schema)
        with suppress(BadFrame):
            decode_client(pack(fields))
            filled |= {name for name, value in fields.items() if value is not None}
    assert filled == {*schema["properties"]}


def test_the_numbers_of_all_messages_are_found() -> None:
    found = {
        (schema["title"], path)
        for schema in SCHEMAS
        for path in numbers(schema, schema.get("$defs", {}))
    }
    assert len(found) >= len(SCHEMAS)
    assert ("PlayMove", ("seq",)) in found
    assert ("Create", ("options", "time_limit_s")) in found


@pytest.mark.parametrize(("schema", "path"), PLACES)
def test_p23_what_is_no_number_in_range_is_refused_by_the_name_of_its_field(
    schema: Schema, path: tuple[str, ...]
) -> None:
    for hostile in hostile_numbers():
        if hostile is None and (path[0] == "options" or may_be_left_out(schema, path[0])):
            # None is what stands where nothing is said.
            continue
        fields = complete(schema)
        part = fields
        for name in path[:-1]:
            part = part.setdefault(name, {})
        part[path[-1]] = hostile
        with pytest.raises(BadFrame, match=rf"the field '{re.escape('.'.join(path))}'"):
            decode_client(pack(fields))
        part[path[-1]] = 2**80
        with pytest.raises(ValidationError, match=path[-1]):
            CLIENT_MESSAGE.validate_python(fields)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema["title"])
def test_p23_an_unknown_field_is_refused_by_its_name(schema: Schema) -> None:
    with pytest.raises(BadFrame, match="'t_ms' does not fit"):
        decode_client(pack({**complete(schema), "t_ms": 1}))


def outcome(payload: bytes | str) -> object:
    try:
        return decode_client(payload)
    except BadFrame as error:
        return type(error), error.sentence, error.request_id


@pytest.mark.parametrize("frames", [3000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_p21_malformed_frames_change_no_answer(frames: int) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    fuzz = Fuzz(seed)
    sample = [fuzz.payload() for _ in range(200)]
    before = [outcome(payload) for payload in sample]
    for _ in range(frames):
        outcome(fuzz.payload())
    assert [outcome(payload) for payload in sample] == before


def test_p21_no_decoder_outlives_its_frame() -> None:
    sources = [
        path for part in ("shared", "server", "client") for path in (ROOT / part).rglob("*.py")
    ]
    assert any("msgpack.unpackb(" in path.read_text() for path in sources)
    assert not [path for path in sources if "Unpacker" in path.read_text()]


@pytest.mark.parametrize("over", [1, 2, 100])
def test_p19_a_frame_over_the_cap_is_refused_though_its_start_is_a_message(over: int) -> None:
    ping = pack({"type": "ping", "id": 7})
    with pytest.raises(BadFrame, match=f"this one has {limits.MAX_CLIENT_FRAME + over}"):
        decode_client(ping.ljust(limits.MAX_CLIENT_FRAME + over, b"\0"))


def test_p31_a_card_has_one_byte_form() -> None:
    cards = TypeAdapter(Card)
    for card in range(52):
        assert pack({"": cards.validate_python(card)})[-1:] == bytes([card])
    for other in (-1, 52, True, 5.0, "5", "AC", "\u200b5", None):
        with pytest.raises(ValidationError):
            cards.validate_python(other)


@pytest.mark.parametrize("game", GAMES)
def test_p31_a_hidden_card_is_counted_and_has_no_id(game: str) -> None:
    table = Table.deal(GAMES[game], bytes(range(32)))
    board = BoardView(piles=tuple(table.piles()), base=table.base, passes=table.passes)
    hidden = sum(count for count, _ in board.piles)
    visible = sum(len(cards) for _, cards in board.piles)
    assert hidden > 0
    assert (hidden + visible) % 52 == 0


@pytest.mark.parametrize(
    "text", ["draw\u200b", "T1\u200b>T2", "\uff341>T2", "T1 >T2", "draw\n", "dr\u0430w", ""]
)
def test_p31_a_move_with_what_cannot_be_seen_is_no_move(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(MoveText).validate_python(text)


@pytest.mark.parametrize("text", ["draw", "undo", "T1>T2", "T1:2>T2", "W>F1"])
def test_p31_a_move_reads_back_as_it_was_written(text: str) -> None:
    assert str(parse_action(text)) == text
