"""Error codes: none is dead, and none travels without a sentence."""

import ast
from pathlib import Path

import pytest
from pydantic import ValidationError

import samedeal_server
from samedeal.protocol.docs import messages_md
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.server_messages import SERVER_MESSAGE

USED = {
    node.attr
    for path in Path(samedeal_server.__file__).parent.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Attribute)
    and isinstance(node.value, ast.Name)
    and node.value.id == "ErrorCode"
}


@pytest.mark.parametrize("code", ErrorCode)
def test_the_server_uses_every_error_code(code: ErrorCode) -> None:
    assert code.name in USED


@pytest.mark.parametrize("code", ErrorCode)
def test_an_error_code_says_in_a_sentence_what_it_means(code: ErrorCode) -> None:
    (row,) = [line for line in messages_md().splitlines() if line.startswith(f"| `{code}` |")]
    assert row.removesuffix(" |").endswith(".")


@pytest.mark.parametrize("code", ErrorCode)
def test_a_refusal_without_a_sentence_is_no_message(code: ErrorCode) -> None:
    with pytest.raises(ValidationError, match="sentence"):
        SERVER_MESSAGE.validate_python({"type": "refused", "id": 1, "code": code.value})
