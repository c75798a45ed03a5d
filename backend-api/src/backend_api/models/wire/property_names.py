"""Renames arguments for a provider that accepts only some characters in their names.

Anthropic refuses a request with a property whose name does not match `^[a-zA-Z0-9_.-]{1,64}$`, such as OData's
`$filter`. It gets an alias, and the tool receives the model's argument under the original name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from backend_api.agent.model import ToolCallPart
from backend_api.agent.tool import ToolSpec
from backend_api.models.wire.surrogates import json_of

_TAKEN = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_MAX_CHARACTERS = 50
_BY_NAME = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_BY_PROPERTY = ("properties", "dependentSchemas")
_ONE_BELOW = (
    *("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_MANY_BELOW = ("anyOf", "oneOf", "allOf", "prefixItems")
Json = dict[str, Any]


class PropertyNames:
    """The argument names of one request's tools: as they are declared, and back."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._originals: dict[str, Mapping[str, str]] = {}
        self.tools = [self._declared(tool) for tool in tools]

    def restored(self, part: ToolCallPart) -> ToolCallPart:
        """The call with the tool's own names. What the model wrote is kept, since its thinking is bound to it."""
        call = part.request
        originals = self._originals.get(call.name)
        if originals is None or call.arguments is None:
            return part
        given = call.arguments
        arguments = cast("Json", _with_names(given, originals))
        if arguments == given:
            return part
        opaque = json_of({"name": call.name, "input": given}).decode()
        return replace(part, request=replace(call, arguments=arguments, raw=json_of(arguments).decode(), opaque=opaque))

    def _declared(self, tool: ToolSpec) -> ToolSpec:
        taken = {*_names_in(tool.parameters)}
        refused = sorted(name for name in taken if not _TAKEN.fullmatch(name))
        if not refused:
            return tool
        aliases: dict[str, str] = {}
        for name in refused:
            aliases[name] = _alias(name, taken)
            taken.add(aliases[name])
        self._originals[tool.name] = {alias: name for name, alias in aliases.items()}
        return replace(tool, parameters=cast("Json", _renamed(tool.parameters, aliases)))


def _alias(name: str, taken: Collection[str]) -> str:
    """An alias that no model uses by chance: arguments under it are renamed at any depth, even where a tool accepts any
    names."""
    clean = re.sub(r"[^a-zA-Z0-9_.-]", "_", name)[:_MAX_CHARACTERS]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass"))
    while (alias := f"{clean}_{digest.hexdigest()[:8]}") in taken:
        digest.update(b"again")
    return alias


def _below(schema: Json) -> Iterator[Any]:
    for word in _BY_NAME:
        if isinstance(found := schema.get(word), dict):
            yield from cast("Json", found).values()
    yield from (schema[word] for word in _ONE_BELOW if word in schema)
    for word in _MANY_BELOW:
        if isinstance(found := schema.get(word), list):
            yield from cast("list[Any]", found)


def _names_in(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    one = cast("Json", schema)
    if isinstance(properties := one.get("properties"), dict):
        yield from cast("Json", properties)
    for below in _below(one):
        yield from _names_in(below)


def _renamed(schema: Any, aliases: Mapping[str, str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    one: Json = {**cast("Json", schema)}
    for word in _BY_NAME:
        if isinstance(found := one.get(word), dict):
            is_named = word in _BY_PROPERTY
            one[word] = {
                aliases.get(name, name) if is_named else name: _renamed(below, aliases)
                for name, below in cast("Json", found).items()
            }
    for word in _ONE_BELOW:
        if word in one:
            one[word] = _renamed(one[word], aliases)
    for word in _MANY_BELOW:
        if isinstance(found := one.get(word), list):
            one[word] = [_renamed(below, aliases) for below in cast("list[Any]", found)]
    if isinstance(required := one.get("required"), list):
        one["required"] = [aliases.get(name, name) for name in cast("list[str]", required)]
    if isinstance(dependent := one.get("dependentRequired"), dict):
        one["dependentRequired"] = {
            aliases.get(name, name): [aliases.get(other, other) for other in others]
            for name, others in cast("dict[str, list[str]]", dependent).items()
        }
    if isinstance(reference := one.get("$ref"), str):
        one["$ref"] = _pointer(reference, aliases)
    return one


def _pointer(reference: str, aliases: Mapping[str, str]) -> str:
    parts = reference.split("/")
    for at in range(1, len(parts)):
        if parts[at - 1] in _BY_PROPERTY:
            parts[at] = aliases.get(parts[at].replace("~1", "/").replace("~0", "~"), parts[at])
    return "/".join(parts)


def _with_names(value: Any, originals: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {originals.get(name, name): _with_names(below, originals) for name, below in cast("Json", value).items()}
    if isinstance(value, list):
        return [_with_names(below, originals) for below in cast("list[Any]", value)]
    return value
