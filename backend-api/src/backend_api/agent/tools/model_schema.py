"""The schema of a tool's arguments for the model: their names, types and meaning, without what only the check needs.

The tool checks everything, and reports what does not fit: a bound that hardly any call meets is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_LEFT_OUT = frozenset({"title", "pattern", "minLength", "additionalProperties"})
_BOUNDS = frozenset({"maxLength", "maximum", "minimum", "minItems"})
_LEAST_TOLD, _MOST_TOLD = 1, 1_000
"""Bounds outside of this range are left out."""
_REFERENCE = "#/$defs/"

Schema = Mapping[str, Any]


def model_schema(schema: Schema) -> dict[str, Any]:
    """The model's form of the JSON Schema of one of our own objects. An optional field loses its null, and references
    are replaced by what they refer to."""
    told = _slim(schema, cast("Schema", schema.get("$defs", {})))
    required: dict[str, Any] = {"required": told["required"]} if told.get("required") else {}
    return {"type": "object", "properties": told.get("properties", {}), **required}


def _slim(schema: Schema, definitions: Schema) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, value in _resolved(schema, definitions).items():
        if name in _LEFT_OUT or name == "$defs" or (name == "default" and value in (None, "", False, [])):
            continue
        if name in _BOUNDS and not _LEAST_TOLD < value <= _MOST_TOLD:
            continue
        if name == "properties":
            told[name] = {key: _slim(part, definitions) for key, part in value.items()}
        elif name == "items":
            told[name] = _slim(value, definitions)
        elif name in ("anyOf", "oneOf", "allOf"):
            told[name] = [_slim(part, definitions) for part in value]
        else:
            told[name] = value
    return told


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    """The schema with its reference resolved, and without the null of an optional field."""
    if isinstance(reference := schema.get("$ref"), str):
        named = cast("Schema", definitions[reference.removeprefix(_REFERENCE)])
        # The description of a class is dropped: the field that uses it has its own.
        own = {name: value for name, value in named.items() if name != "description"}
        return {**_resolved(own, definitions), **{name: value for name, value in schema.items() if name != "$ref"}}
    options = cast("list[Schema]", schema.get("anyOf", ()))
    some = [option for option in options if option.get("type") != "null"]
    if len(options) == len(some) or len(some) != 1 or schema.get("default", ...) is not None:
        return schema
    outer = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return {**_resolved(some[0], definitions), **outer}
