"""MESSAGES.md says what the models say."""

from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from samedeal.protocol import docs
from samedeal.protocol.client_messages import ClientMessage
from samedeal.protocol.server_messages import ServerMessage


def test_messages_md_is_current() -> None:
    written = Path(docs.__file__).with_name("MESSAGES.md").read_text(encoding="utf-8")
    assert written == docs.messages_md(), (
        "write it again: python -m samedeal.protocol.docs > MESSAGES.md"
    )


@pytest.mark.parametrize("model", [*get_args(ClientMessage), *get_args(ServerMessage)])
def test_every_message_and_field_is_in_messages_md(model: type[BaseModel]) -> None:
    tag = model.model_fields["type"].default
    _, section = docs.messages_md().split(f"### `{tag}` ({model.__name__})\n")
    section = section.split("\n#")[0]
    for name in model.model_fields.keys() - {"type"}:
        assert f"| `{name}` |" in section
