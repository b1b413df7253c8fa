"""The short way to read moves and undos: it takes nothing that the models would not take."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import Fuzz
from samedeal.protocol import limits
from samedeal.protocol.client_messages import PlayMove, PlayUndo
from samedeal.protocol.codec import ActionRequest, decode_action, decode_client, encode, pack
from samedeal.protocol.errors import BadFrame

RACE = "0123456789abcdef"
HOSTILE: list[Any] = [
    *(None, True, False, 1.0, -1, 2**31, 2**53, 2**64 - 1, "", "1", "undo", "move", b"move"),
    *(RACE.upper(), RACE + "0", RACE + "\n", RACE[1:] + "\u0660", b"0" * 16),
    *("T1>T2 ", "T1>\u2660", "T1>T2\n", "x" * (limits.MAX_MOVE + 1), [], {}, [1], {"a": 1}),
]


def by_the_models(frame: bytes) -> ActionRequest | None:
    try:
        message = decode_client(frame)
    except BadFrame:
        return None
    return ActionRequest.of(message) if isinstance(message, PlayMove | PlayUndo) else None


@given(
    request=st.integers(0, 2**31 - 1),
    race=st.from_regex("[0-9a-z]{16}", fullmatch=True),
    seq=st.integers(0, limits.MAX_INT),
    move=st.from_regex("draw|(W|[FTR][1-9](:[2-9])?)>[FTR][1-9]", fullmatch=True),
)
def test_every_move_and_undo_that_our_clients_encode_goes_the_short_way(
    request: int, race: str, seq: int, move: str
) -> None:
    played = PlayMove(id=request, race=race, seq=seq, move=move)
    assert decode_action(encode(played), {race}) == ActionRequest(request, race, seq, move)
    undone = PlayUndo(id=request, race=race, seq=seq)
    assert decode_action(encode(undone), {race}) == ActionRequest(request, race, seq, "undo")


@pytest.mark.parametrize("kind", ["move", "undo"])
@given(data=st.data())
def test_what_it_takes_means_the_same_to_the_models(kind: str, data: st.DataObject) -> None:
    fields: dict[Any, Any] = {"type": kind, "id": 1, "race": RACE, "seq": 2}
    if kind == "move":
        fields["move"] = "T1>T2"
    names = data.draw(st.permutations(list(fields)))
    fields = {name: fields[name] for name in names}
    for name in data.draw(st.lists(st.sampled_from(names), max_size=2)):
        change = data.draw(st.sampled_from(["value", "name", "drop", "more"]))
        if change == "value":
            fields[name] = data.draw(st.sampled_from(HOSTILE))
        elif change == "name" and name in fields:
            fields[data.draw(st.sampled_from([name + "s", name.upper(), name.encode()]))] = (
                fields.pop(name)
            )
        elif change == "drop":
            fields.pop(name, None)
        else:
            fields[data.draw(st.sampled_from(["t_ms", "move", "hash"]))] = 1
    frame = pack(fields)
    if data.draw(st.booleans()) and len(fields) < 15:
        # A field twice, as only a hand can write it.
        name = data.draw(st.sampled_from(names))
        twice = pack({name: data.draw(st.sampled_from([*HOSTILE, fields.get(name)]))})
        frame = bytes([frame[0] + 1]) + frame[1:] + twice[1:]
    if data.draw(st.booleans()):
        frame = data.draw(st.sampled_from([frame[:-1], frame + b"\0", frame + frame]))
    assert decode_action(frame, {RACE}) in (None, by_the_models(frame))


@pytest.mark.parametrize("kind", ["move", "undo"])
@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_out_of_bounds_is_out_of_bounds_in_every_field(kind: str, value: object) -> None:
    plain: dict[str, Any] = {"type": kind, "id": 1, "race": RACE, "seq": 2}
    if kind == "move":
        plain["move"] = "T1>T2"
    for name in plain:
        frame = pack(plain | {name: value})
        assert decode_action(frame, {RACE}) in (None, by_the_models(frame)), name


def test_what_is_no_action_is_left_to_the_models() -> None:
    fuzz = Fuzz(random.Random(5).randrange(2**32))
    for _ in range(3000):
        payload = fuzz.payload()
        if isinstance(payload, str):
            assert decode_action(payload, {"0" * 16}) is None
        else:
            assert decode_action(payload, {"0" * 16}) in (None, by_the_models(payload))


def test_a_field_that_stands_twice_is_in_doubt() -> None:
    frame = pack({"type": "undo", "id": 1, "race": RACE, "seq": 2})
    twice = b"\x85" + frame[1:] + pack({"seq": 3})[1:]
    assert decode_action(twice, {RACE}) is None
    # Five fields of which one is another's second: what is left are the four of an undo.
    assert decode_action(b"\x84" + pack({"id": 9})[1:] + frame[1:], {RACE}) is None
