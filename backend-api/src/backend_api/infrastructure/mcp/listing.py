"""What a server lists, made into tools a model can be told of: whatever it says of them is somebody else's word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from backend_api.application.runs.masking import Mask
from backend_api.domain.agent.shortening import shorten
from backend_api.domain.agent.tool_rules import is_named
from backend_api.domain.mcp.entity import MAX_TOOLS, Listing, McpServer, McpTool, public_name
from backend_api.domain.unseen import UNSEEN

MAX_DESCRIPTION_CHARACTERS = 4_000
MAX_SCHEMA_BYTES = 16_000
MAX_LISTING_BYTES = 200_000
MAX_DEPTH = 20
MAX_NAME_CHARACTERS = 200
_MAX_NAMED = 5
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_KEPT = ("properties", "required", "$defs", "definitions", "additionalProperties")
"""Of the outermost object: providers refuse alternatives there."""
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


class ListedTool(NamedTuple):
    """As it came."""

    name: str
    description: str
    schema: dict[str, Any]


class _Unusable(Exception):
    """Why a tool is left out."""


def listing_of(server: McpServer, listed: Iterable[ListedTool], mask: Mask) -> Listing:
    """Those of its tools that are wanted and that every provider takes, each name once."""
    tools: dict[str, McpTool] = {}
    left_out: list[str] = []
    size = 0
    for one in listed:
        if server.tools is not None and not is_named(one.name, server.tools):
            continue
        shown = UNSEEN.sub("", mask.known(one.name))[:60]
        try:
            tool = _tool(server, one, mask)
            added = len(tool.description) + len(json.dumps(tool.parameters))
            if tool.public_name in tools:
                raise _Unusable("its name is there twice")
            if len(tools) >= MAX_TOOLS or size + added > MAX_LISTING_BYTES:
                raise _Unusable("there are too many")
        except _Unusable as error:
            left_out.append(f"{shown} ({error})")
            continue
        size += added
        tools[tool.public_name] = tool
    return Listing(tools=[*tools.values()], left_out=_short(left_out))


def _tool(server: McpServer, listed: ListedTool, mask: Mask) -> McpTool:
    name = listed.name
    if not name or len(name) > MAX_NAME_CHARACTERS:
        raise _Unusable("it has no usable name")
    description = shorten(UNSEEN.sub("", mask.known(listed.description)).strip(), MAX_DESCRIPTION_CHARACTERS)
    return McpTool(
        name=name,
        public_name=public_name(server.name, name),
        description=f"[Of the MCP server {server.name}] {description}",
        parameters=_parameters(listed.schema, mask),
    )


def _parameters(schema: dict[str, Any], mask: Mask) -> dict[str, Any]:
    if schema.get("type", "object") != "object":
        raise _Unusable("its arguments are no object")
    try:
        size = len(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError) as error:
        raise _Unusable("its schema is no JSON") from error
    if size > MAX_SCHEMA_BYTES:
        raise _Unusable(f"its schema has more than {MAX_SCHEMA_BYTES} characters")
    kept: dict[str, Any] = {
        "type": "object",
        "properties": {},
        **{name: schema[name] for name in _KEPT if name in schema},
    }
    _check(kept, kept, 0)
    return cast("dict[str, Any]", _cleaned(kept, mask))


def _check(schema: Any, whole: dict[str, Any], depth: int) -> None:
    """What providers refuse, or can't resolve, ends a run: so it is refused here."""
    if isinstance(schema, bool):
        return
    if depth > MAX_DEPTH or not isinstance(schema, dict):
        raise _Unusable("its schema is none")
    one = cast("dict[str, Any]", schema)
    _check_words(one, whole)
    for word in ("properties", "$defs", "definitions", "patternProperties"):
        below = one.get(word, {})
        if not isinstance(below, dict):
            raise _Unusable("its schema is none")
        for name, what in cast("dict[str, Any]", below).items():
            if word == "properties" and not _PROPERTY.fullmatch(name):
                raise _Unusable("an argument has a name that providers refuse")
            _check(what, whole, depth + 1)
    for word in ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"):
        if word in one:
            _check(one[word], whole, depth + 1)
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if word not in one:
            continue
        parts = one[word]
        if not isinstance(parts, list) or not parts:
            raise _Unusable("its schema is none")
        for part in cast("list[Any]", parts):
            _check(part, whole, depth + 1)


def _check_words(one: dict[str, Any], whole: dict[str, Any]) -> None:
    kinds = one.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list) or not all(
        isinstance(kind, str) and kind in _TYPES for kind in cast("list[Any]", kinds)
    ):
        raise _Unusable("its schema has a type that there is not")
    for word in ("required", "enum", "examples"):
        if not isinstance(one.get(word, []), list):
            raise _Unusable("its schema is none")
    if not all(isinstance(name, str) for name in one.get("required", [])):
        raise _Unusable("its schema is none")
    for word in ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"):
        if word in one and (isinstance(one[word], bool) or not isinstance(one[word], int | float)):
            raise _Unusable("its schema is none")
    if "$ref" in one and not _resolves(one["$ref"], whole):
        raise _Unusable("its schema points to something that is not there")
    if "pattern" in one:
        _check_pattern(one["pattern"])


def _check_pattern(pattern: Any) -> None:
    try:
        if not isinstance(pattern, str) or len(pattern) > 500:
            raise _Unusable("its schema has a pattern that is none")
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise _Unusable("its schema has a pattern that is none") from error


def _resolves(reference: Any, whole: dict[str, Any]) -> bool:
    """Only within itself, to what is no reference: so none leads in a circle of them alone."""
    if not isinstance(reference, str) or not reference.startswith(("#/$defs/", "#/definitions/")):
        return False
    found: Any = whole
    for part in reference[2:].split("/"):
        found = cast("dict[str, Any]", found).get(part) if isinstance(found, dict) else None
    return isinstance(found, dict) and "$ref" not in found


def _cleaned(value: Any, mask: Mask) -> Any:
    if isinstance(value, str):
        return UNSEEN.sub("", mask.known(value))
    if isinstance(value, dict):
        return {UNSEEN.sub("", name): _cleaned(one, mask) for name, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_cleaned(one, mask) for one in cast("list[Any]", value)]
    return value


def _short(left_out: Sequence[str]) -> list[str]:
    more = len(left_out) - _MAX_NAMED
    return [*left_out[:_MAX_NAMED], *([f"{more} more"] if more > 0 else [])]
