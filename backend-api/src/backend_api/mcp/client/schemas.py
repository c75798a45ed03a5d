"""Schemas of arguments in the form every provider accepts. A schema a provider refuses would end the run, so it is
refused here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from backend_api.kit.invisible_characters import INVISIBLE
from backend_api.mcp.client.argument_schema import (
    MAX_POINTER_CHARACTERS,
    NO_SCHEMA,
    UnusableError,
    are_texts,
    drop_nulls,
    flat_arguments,
    found_at,
)
from service_kit.amounts import size_text

MAX_LOOKED_AT_BYTES = 400_000
"""The limit for all schemas and descriptions of a listing, including those left out: each value costs time in which the
process does nothing else."""
MAX_PATTERN_CHARACTERS = 500
MAX_PATTERNS_CHARACTERS = 10_000
"""The limit for all distinct patterns of a listing: some take a millisecond a character."""
MAX_DEPTH = 20
MAX_PROPERTY_CHARACTERS = 200
_FLAGS_INSIDE = re.compile(r"(?<!\\)(?:\\\\)*\(\?[^:=!<]")
"""Inline flags, which Python has and JSON Schema has not. With them even short patterns can take long."""
_KEPT = ("$defs", "definitions", "additionalProperties")
"""Keywords kept from the outermost object as they are; providers refuse alternatives there."""
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_BY_NAME = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_ONE_BELOW = (
    *("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_MANY_BELOW = ("anyOf", "oneOf", "allOf", "prefixItems")
_COUNTS = (
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("minContains", "maxContains"),
)
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_TEXTS = ("title", "description", "format", "contentEncoding", "contentMediaType", "$comment")
_YES_OR_NO = ("uniqueItems", "deprecated", "readOnly", "writeOnly")
_REFUSED = (
    *("$id", "$schema", "$anchor", "$vocabulary", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"),
    *("$recursiveAnchor", "dependencies"),
)
"""Keywords that change what others mean, or belong to drafts that providers don't know."""
_UNREADABLE_BYTES = 16_000
"""The size counted for a schema whose size is unknown."""


@dataclass(slots=True)
class SchemaReader:
    """Reads the schemas of one listing within a bounded cost."""

    _looked_at: int = 0
    _patterns: dict[str, bool] = field(default_factory=dict[str, bool])
    """The patterns that were checked, and whether each is valid."""
    _targets: dict[str, Any] = field(default_factory=dict[str, Any])
    """The targets of the current schema's pointers, as far as they were followed."""

    def count(self, characters: int) -> None:
        """Adds to the characters read, for the other texts of a tool. Raises `UnusableError`."""
        if self._looked_at > MAX_LOOKED_AT_BYTES:
            raise UnusableError("there are too many")
        self._looked_at += characters

    def parameters(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema as it is sent to providers. Raises `UnusableError`."""
        self.count(0)
        try:
            written = json.dumps(schema, allow_nan=False)
            size = len(written)
            # A copy, since it is changed below.
            whole = cast("dict[str, Any]", json.loads(written)) if size <= MAX_LOOKED_AT_BYTES else {}
        except (ValueError, RecursionError) as error:
            self._looked_at += _UNREADABLE_BYTES
            raise UnusableError("its schema is not JSON") from error
        self._looked_at += size if size <= MAX_LOOKED_AT_BYTES else _UNREADABLE_BYTES
        if size > MAX_LOOKED_AT_BYTES:
            raise UnusableError(f"its schema has more than {size_text(MAX_LOOKED_AT_BYTES)}")
        arguments = flat_arguments(whole)
        kept: dict[str, Any] = {"type": "object", "properties": arguments.properties}
        if arguments.required or "required" in whole:
            kept["required"] = arguments.required
        kept |= {name: whole[name] for name in _KEPT if name in whole}
        self._targets = {}
        self._check(kept, kept, 0)
        return kept

    def _check(self, schema: Any, whole: dict[str, Any], depth: int) -> None:
        if isinstance(schema, bool):
            return
        if depth > MAX_DEPTH or not isinstance(schema, dict):
            raise UnusableError(NO_SCHEMA)
        one = cast("dict[str, Any]", schema)
        drop_nulls(one)
        _check_words(one)
        if "$ref" in one and not self._resolves(one["$ref"], whole):
            raise UnusableError("its schema refers to something that does not exist")
        if "pattern" in one:
            self._check_pattern(one["pattern"])
        for word in _BY_NAME:
            below = one.get(word, {})
            if not isinstance(below, dict):
                raise UnusableError(NO_SCHEMA)
            for name, what in cast("dict[str, Any]", below).items():
                if word == "properties":
                    _check_name(name)
                if word == "patternProperties":
                    self._check_pattern(name)
                self._check(what, whole, depth + 1)
        for word in _ONE_BELOW:
            if word in one:
                self._check(one[word], whole, depth + 1)
        for word in _MANY_BELOW:
            if word not in one:
                continue
            parts = one[word]
            if not isinstance(parts, list) or not parts:
                raise UnusableError(NO_SCHEMA)
            for part in cast("list[Any]", parts):
                self._check(part, whole, depth + 1)

    def _resolves(self, reference: Any, whole: dict[str, Any]) -> bool:
        """Whether a reference leads, within the schema and in at most `MAX_DEPTH` steps, to something that is not a
        reference: a cycle of references alone does not."""
        for _ in range(MAX_DEPTH):
            found = self._target(reference, whole)
            if not isinstance(found, dict):
                return False
            schema = cast("dict[str, Any]", found)
            if "$ref" not in schema:
                return True
            reference = schema["$ref"]
        return False

    def _target(self, reference: Any, whole: dict[str, Any]) -> Any:
        """The target of a pointer; each pointer is followed once, however often it occurs."""
        if not isinstance(reference, str) or len(reference) > MAX_POINTER_CHARACTERS:
            return None
        if reference not in self._targets:
            self._looked_at += len(reference)
            self._targets[reference] = found_at(reference, whole)
        return self._targets[reference]

    def _check_pattern(self, pattern: Any) -> None:
        refused = UnusableError("its schema has an invalid pattern")
        if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_CHARACTERS or _FLAGS_INSIDE.search(pattern):
            raise refused
        if pattern not in self._patterns:
            if sum(map(len, self._patterns)) + len(pattern) > MAX_PATTERNS_CHARACTERS:
                raise UnusableError("there are too many patterns")
            self._patterns[pattern] = _is_pattern(pattern)
        if not self._patterns[pattern]:
            raise refused


def _check_name(name: str) -> None:
    """Checks a property's name. Which characters are allowed is up to each provider's adapter, which renames it where
    needed."""
    if not name or len(name) > MAX_PROPERTY_CHARACTERS or not name.isprintable() or INVISIBLE.search(name):
        raise UnusableError("an argument has no name, or one that is too long or has invisible characters")


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _check_words(one: dict[str, Any]) -> None:
    kinds = one.get("type", "object")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not are_texts(kinds) or not kinds or not _TYPES.issuperset(kinds):
        raise UnusableError("its schema has an unknown type")
    dependent = one.get("dependentRequired", {})
    if not isinstance(dependent, dict):
        raise UnusableError(NO_SCHEMA)
    if (
        not all(map(are_texts, (one.get("required", []), *cast("dict[str, Any]", dependent).values())))
        or not all(isinstance(one.get(word, []), list) for word in ("enum", "examples"))
        or one.get("enum", [None]) == []
        or not all(_is_count(one[word]) for word in _COUNTS if word in one)
        or not all(_is_number(one[word]) for word in _NUMBERS if word in one)
        or ("multipleOf" in one and one["multipleOf"] <= 0)
        or not all(isinstance(one[word], str) for word in _TEXTS if word in one)
        or not all(isinstance(one[word], bool) for word in _YES_OR_NO if word in one)
    ):
        raise UnusableError(NO_SCHEMA)
    if word := next((word for word in _REFUSED if word in one), None):
        raise UnusableError(f"its schema has {word}, which providers refuse")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
