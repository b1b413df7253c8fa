"""MESSAGES.md from the models: `python -m samedeal.protocol.docs > MESSAGES.md`."""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter

from samedeal.protocol import fields, limits
from samedeal.protocol.client_messages import ClientMessage
from samedeal.protocol.server_messages import ServerMessage

__all__ = ["messages_md"]


def messages_md() -> str:
    """Return the text of MESSAGES.md: every message, part, closed set and scalar of the wire."""
    asked, said = get_args(ClientMessage), get_args(ServerMessage)
    met = list(dict.fromkeys(kind for model in (*asked, *said) for kind in _reached(model)))
    parts = [kind for kind in met if issubclass(kind, BaseModel) and kind not in (*asked, *said)]
    blocks = [
        "# Messages",
        f"Made from the models by `samedeal.protocol.docs`. Subprotocol `{limits.SUBPROTOCOL}`: "
        "one binary WebSocket frame holds one msgpack map, which is one message. `type` names it. "
        "Fields at their default are left out.",
        "## What a client says",
        *(block for model in asked for block in _model(model)),
        "## What a server says",
        *(block for model in said for block in _model(model)),
        "## Parts",
        *(block for model in parts for block in _model(model)),
        "## Closed sets",
        *(block for kind in met if issubclass(kind, StrEnum) for block in _enum(kind)),
        "## Scalars",
        "\n".join(_scalars()),
    ]
    return "\n\n".join(blocks) + "\n"


def _reached(kind: Any) -> Iterator[type]:
    """Yield every model and enum that `kind` is made of, itself first."""
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        yield kind
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for hint in get_type_hints(kind).values():
            yield from _reached(hint)
    else:
        for part in get_args(kind):
            yield from _reached(part)


def _model(model: type[BaseModel]) -> list[str]:
    tag = model.model_fields.get("type")
    title = f"### {model.__name__}" if tag is None else f"### `{tag.default}` ({model.__name__})"
    node = _class(model)
    spelled = {
        part.target.id: part.annotation
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    notes = _notes(node.body)
    schemas = model.model_json_schema()["properties"]
    rows = ["| Field | Type | Default | |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        if name == "type":
            continue
        kind = _spell(spelled[name], schemas[name])
        default = "required" if field.is_required() else _value(field.default)
        rows.append(_row(f"`{name}`", kind, default, notes.get(name, "")))
    blocks = [title, ast.get_docstring(node) or "", "\n".join(rows) if len(rows) > 2 else ""]
    return [block for block in blocks if block]


def _enum(kind: type[StrEnum]) -> list[str]:
    node = _class(kind)
    notes = _notes(node.body)
    rows = ["| Value | |", "|---|---|"]
    rows += [_row(f"`{member.value}`", notes.get(member.name, "")) for member in kind]
    return [f"### {kind.__name__}", ast.get_docstring(node) or "", "\n".join(rows)]


def _scalars() -> Iterator[str]:
    notes = _notes(_tree(fields).body)
    yield "| Name | Values | |"
    yield "|---|---|---|"
    for name, value in vars(fields).items():
        if get_origin(value) is Annotated:
            yield _row(name, _describe(TypeAdapter(value).json_schema()), notes.get(name, ""))


def _spell(node: ast.expr, schema: dict[str, Any]) -> str:
    """Return a type as prose: named types by name, types written in place by their range."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=None):
            return "null"
        case ast.BinOp(left=left, right=right) if "Annotated" not in ast.unparse(node):
            return f"{_spell(left, schema)} or {_spell(right, schema)}"
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[part, last])):
            if isinstance(last, ast.Constant) and last.value is ...:
                return f"list of ({_spell(part, schema)})"
            return f"{_spell(part, schema)}, {_spell(last, schema)}"
        case _:
            return _describe(schema)


def _describe(schema: dict[str, Any]) -> str:
    match schema:
        case {"anyOf": choices}:
            return " or ".join(_describe(choice) for choice in choices)
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"type": "integer", "minimum": least, "maximum": most}:
            return f"integer {least} to {most}"
        case {"type": "string", "pattern": pattern}:
            return f"text `{pattern}`"
        case {"type": "string", "maxLength": most}:
            return f"text of {schema.get('minLength', 0)} to {most} characters"
        case _:
            return str(schema["type"])


def _value(default: object) -> str:
    match default:
        case None:
            return "null"
        case bool():
            return f"`{str(default).lower()}`"
        case BaseModel():
            return "`{}`"
        case ():
            return "`[]`"
        case _:
            return f"`{default}`"


def _row(*cells: str) -> str:
    escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(escaped) + " |"


def _notes(body: Iterable[ast.stmt]) -> dict[str, str]:
    """Return the text under each attribute by the attribute's name."""
    notes: dict[str, str] = {}
    for above, below in pairwise(body):
        match above, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(note))),
            ):
                notes[name] = note
    return notes


def _class(kind: type) -> ast.ClassDef:
    for node in _tree(sys.modules[kind.__module__]).body:
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
            return node
    raise LookupError(kind)


@cache
def _tree(module: ModuleType) -> ast.Module:
    # From the source, because attribute docstrings exist nowhere else.
    return ast.parse(inspect.getsource(module))


if __name__ == "__main__":
    sys.stdout.write(messages_md())
