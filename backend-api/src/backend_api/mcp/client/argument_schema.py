"""Reduces a tool's schema to one outermost object, as providers require: references, parts and alternatives are merged
into an object with all their properties."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

MAX_PARTS = 100
"""The most parts of a schema that are read; further ones count as empty."""
MAX_POINTER_CHARACTERS = 1_000
NO_SCHEMA = "its schema is invalid"
_MAY_BE_NULL = ("required", "properties", "description", "enum", "additionalProperties", "type")
"""Keywords that some programs write as null when they mean nothing."""


class UnusableError(Exception):
    """The reason a tool is left out."""


class Arguments(NamedTuple):
    """The arguments of a tool; `required` are those each call must have, whichever alternative it uses."""

    properties: dict[str, Any]
    required: list[str]


def flat_arguments(whole: dict[str, Any]) -> Arguments:
    """The arguments of a schema. Raises `UnusableError` if it is not an object."""
    found = _Composer(whole).arguments(whole)
    if found is None:
        raise UnusableError("its arguments are not an object")
    return found


def drop_nulls(schema: dict[str, Any]) -> None:
    """Removes keywords that are null: they count as missing."""
    for word in _MAY_BE_NULL:
        if word in schema and schema[word] is None:
            del schema[word]


def found_at(reference: str, whole: dict[str, Any]) -> Any:
    """The value a pointer (RFC 6901) within the schema refers to, or None."""
    if not (reference == "#" or reference.startswith("#/")):
        return None
    found: Any = whole
    for part in reference.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = cast("dict[str, Any]", found).get(key)
        elif isinstance(found, list):
            found = _at(cast("list[Any]", found), key)
        else:
            return None
    return found


def are_texts(value: Any) -> bool:
    """Whether the value is a list of distinct strings."""
    texts = cast("list[Any]", value)
    return isinstance(value, list) and all(isinstance(one, str) for one in texts) and len(set(texts)) == len(texts)


class _Composer:
    def __init__(self, whole: dict[str, Any]) -> None:
        self._whole = whole
        self._parts = 0

    def arguments(self, schema: Any) -> Arguments | None:
        """The arguments of a schema, or None if it is not an object."""
        self._parts += 1
        if self._parts > MAX_PARTS or schema is True:
            return Arguments({}, [])
        if not isinstance(schema, dict):
            return None
        one = cast("dict[str, Any]", schema)
        drop_nulls(one)
        if not _is_object(one.get("type", "object")):
            return None
        made = _own(one)
        parts = [*([self._target(one["$ref"])] if "$ref" in one else ()), *_listed(one, "allOf")]
        for part in parts:
            found = self.arguments(part)
            if found is None:
                return None
            made = _both(made, found)
        for word in ("anyOf", "oneOf"):
            found = [each for part in _listed(one, word) if (each := self.arguments(part)) is not None]
            made = _both(made, _any_of(found))
        return made

    def _target(self, reference: Any) -> Any:
        is_pointer = isinstance(reference, str) and len(reference) <= MAX_POINTER_CHARACTERS
        found = found_at(reference, self._whole) if is_pointer else None
        if found is None:
            raise UnusableError("its schema refers to something that does not exist")
        return found


def _is_object(kind: Any) -> bool:
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _own(schema: dict[str, Any]) -> Arguments:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not are_texts(required):
        raise UnusableError(NO_SCHEMA)
    return Arguments(dict(cast("dict[str, Any]", properties)), list(required))


def _listed(schema: dict[str, Any], word: str) -> list[Any]:
    parts = schema.get(word)
    return cast("list[Any]", parts) if isinstance(parts, list) else []


def _both(one: Arguments, other: Arguments) -> Arguments:
    """Merges two sets of arguments; the first one's schema is used for a property that both have."""
    return Arguments({**other.properties, **one.properties}, _each_once([*one.required, *other.required]))


def _any_of(alternatives: list[Arguments]) -> Arguments:
    if not alternatives:
        return Arguments({}, [])
    ways: dict[str, dict[str, Any]] = {}
    for one in alternatives:
        for name, schema in one.properties.items():
            ways.setdefault(name, {})[json.dumps(schema, sort_keys=True)] = schema
    properties = {
        name: next(iter(found.values())) if len(found) == 1 else {"anyOf": list(found.values())}
        for name, found in ways.items()
    }
    needed = set(alternatives[0].required).intersection(*(one.required for one in alternatives))
    return Arguments(properties, [name for name in alternatives[0].required if name in needed])


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _at(values: list[Any], key: str) -> Any:
    if not key.isdecimal() or len(key) > 5:
        return None
    return values[int(key)] if int(key) < len(values) else None
