"""Names: what can be one, which read alike, and what is offered in place of one that is taken."""

from __future__ import annotations

import random

import pytest

from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.limits import MAX_NAME
from samedeal_server.errors import Refusal
from samedeal_server.names import checked, like, skeleton

GOOD = {
    "ada": "ada",
    "Zoë": "Zoe\u0308",
    "full": "\uff46\uff55\uff4c\uff4c",
    "名前": "名前",
    "शतरंज": "शतरंज",
    "אריה": "אריה",
    "a_b.c-d": "a_b.c-d",
    "x" * 20: "x" * 20,
}


@pytest.mark.parametrize(("name", "text"), GOOD.items())
def test_a_name_is_kept_in_its_composed_form(name: str, text: str) -> None:
    assert checked(text) == name


@pytest.mark.parametrize(
    ("text", "why"),
    {
        "a": "this one has 1",
        "x" * 21: "this one has 21",
        "\ufdfa": "cannot be",
        "a b": "' ' cannot be",
        "a\nb": "u\\+000a cannot be|cannot be",
        "a\0b": "cannot be",
        "a\u200db": "zero width joiner cannot be",
        "a\u200bb": "zero width space cannot be",
        "a\u202eb": "right-to-left override cannot be",
        "a\u2066b": "left-to-right isolate cannot be",
        "a\u00adb": "soft hyphen cannot be",
        "a\ufe0fb": "variation selector-16 cannot be",
        "a\U000e0061b": "tag latin small letter a cannot be",
        "\u3164\u3164": "cannot be",
        "a\u05d0b": "cannot be",
        "a😀": "cannot be",
        "a!": "'!' cannot be",
        "a\u0378b": "cannot be",
        "\u0301ab": "belong to no letter",
        "a" + "\u0317" * 6: "belong to no letter",
        "--": "no letter",
    }.items(),
    ids=ascii,
)
def test_what_can_be_no_name_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        checked(text)
    assert refused.value.code is ErrorCode.BAD_NAME
    assert refused.value.sentence.isprintable()


@pytest.mark.parametrize(
    "alike",
    [
        ("ada", "ADA", "\u0430d\u0430", "\u0430DA", "\uff41\uff44\uff41"),
        ("paypal", "paypa1", "paypaI", "PAYPAL", "\u0440aypal"),
        ("o0", "00", "OO", "\u03bf\u043e"),
        ("modern", "rnodern", "MODERN"),
        ("strasse", "straße", "STRASSE"),
        ("ivo", "IVO", "lvo", "1vo", "\u0130VO", "\u0131vo"),
    ],
    ids=lambda names: names[0],
)
def test_names_that_read_alike_have_one_skeleton(alike: tuple[str, ...]) -> None:
    assert {skeleton(checked(name)) for name in alike} == {skeleton(alike[0])}


def test_names_that_do_not_read_alike_have_skeletons_of_their_own() -> None:
    names = [
        "ada",
        "ada2",
        "adá",
        "eva",
        "ivo",
        "\u0430\u0434\u0430",
        "名前",
        "ada-2",
        "ada.2",
        "bench-10",
        "bench-2",
    ]
    assert len({skeleton(name) for name in names}) == len(names)
    numbered = {skeleton(f"bench-{number}") for number in range(2000)}
    assert len(numbered) == 2000


@pytest.mark.parametrize("name", ["ada", "x" * MAX_NAME, "名" * MAX_NAME])
def test_names_like_one_are_names_and_differ_from_it(name: str) -> None:
    others = list(like(name, random.Random(1)))
    assert len(others) >= 5
    for other in others:
        assert checked(other) == other
        assert other.startswith(name[:8])
        assert skeleton(other) != skeleton(name)
