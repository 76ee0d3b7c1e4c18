"""The HTTP API, from the OpenAPI document that the service itself gives at /openapi.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nextlevel.api import create_app
from nextlevel.settings import Settings

from .markdown import PRINTED, table

_HEAD = """\
# The HTTP API

Served by `nextlevel serve` (and `up`), by default at `http://127.0.0.1:7717`, which gives its OpenAPI document at
`/openapi.json`. JSON both ways. Send `Authorization: Bearer <token>`: an installation's token (in its
`$HERMES_HOME/nextlevel/config.json`), which opens its own memory, or the operator's, which opens all.
From Python, `nextlevel.client.Client` does it for you.

An error is `{"error": {"code": "…", "message": "…"}}`, with these statuses: 401 no token · 403 somebody else's memory,
or not enrolled · 404 no such thing · 422 the request or event breaks its contract · 503 come back later.

"""
_NOT_OURS = {"HTTPValidationError", "ValidationError"}
"""FastAPI adds them; our own answer to a wrong request is the one above."""

Schema = Mapping[str, Any]


def page() -> str:
    document = create_app(Settings.model_construct()).openapi()
    shapes = {name: shape for name, shape in document["components"]["schemas"].items() if name not in _NOT_OURS}
    parts = [_HEAD, "\n".join(_endpoint(*each) for each in _operations(document)), "\n## Shapes\n\n"]
    parts.append("\n\n".join(_shape(name, shape) for name, shape in sorted(shapes.items())))
    return PRINTED + "".join(parts) + "\n"


def _operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _endpoint(method: str, path: str, operation: Schema) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    [(status, answer)] = [(status, each) for status, each in operation["responses"].items() if status.startswith("2")]
    gives = _type(answer["content"]["application/json"]["schema"])
    takes = f"Takes {_type(body)}, gives" if body else "Gives"
    parts = [f"## {method} {path}\n", f"{operation['description']}\n", f"{takes} {gives} ({status})."]
    if "security" not in operation:
        parts[-1] += " Needs no token."
    parts[-1] += "\n"
    parameters = [
        (
            f"`{each['name']}`",
            _type(each["schema"]),
            "" if each.get("required") else "optional",
            each.get("description", ""),
        )
        for each in operation.get("parameters", ())
    ]
    if parameters:
        parts.append(table(("parameter", "type", "", ""), parameters) + "\n")
    return "\n".join(parts)


def _shape(name: str, shape: Schema) -> str:
    title = f"### {name}\n\n"
    if description := shape.get("description"):
        title += f"{description}\n\n"
    if "enum" in shape:
        return title + "One of " + ", ".join(f"`{value}`" for value in shape["enum"]) + "."
    required = set(shape.get("required", ()))
    rows = [
        (f"`{field}`", _type(each), "" if field in required else _default(each), each.get("description", ""))
        for field, each in shape.get("properties", {}).items()
    ]
    return title + table(("field", "type", "default", ""), rows)


def _default(schema: Schema) -> str:
    return "none" if schema.get("default") is None else f"`{schema['default']}`"


def _type(schema: Schema) -> str:
    """
    >>> _type({"anyOf": [{"type": "integer", "minimum": 1.0, "maximum": 9.0}, {"type": "null"}]})
    'integer 1 to 9'
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"] if each.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    limits = schema.get("minimum"), schema.get("maximum")
    if None not in limits:
        return f"{schema['type']} {limits[0]:g} to {limits[1]:g}"
    return str(schema.get("format", schema.get("type", "any")))
