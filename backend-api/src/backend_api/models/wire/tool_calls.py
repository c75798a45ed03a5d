"""Calls in a model's answer, and their arguments, which models write as text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic_core import from_json

from backend_api.agent.events import SafetyCheck
from backend_api.agent.model import ToolCallPart, ToolRequest
from backend_api.models.wire.bounds import MAX_NAME_CHARACTERS
from backend_api.models.wire.surrogates import joined, json_of, without_halves

_EMPTY_FIRST = re.compile(r"\s*\{\s*\}(?=\s*\S)")


@dataclass(slots=True)
class PartialCall:
    """A call while its pieces arrive."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def raw(self) -> str:
        """The arguments so far."""
        return without_empty_start("".join(self.pieces))


@dataclass(slots=True)
class RepeatedCalls:
    """The calls already seen in one answer: one repeated under the same id is the same call, unless it has another name
    or other arguments."""

    _made: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    is_any: bool = False

    def new(self, parts: Sequence[ToolCallPart]) -> Sequence[ToolCallPart]:
        """The parts of one call of the provider's, or none if it is a repetition."""
        self.is_any = self.is_any or bool(parts)
        key = (parts[0].request.call_id, "\n".join(part.request.name for part in parts)) if parts else ("", "")
        if not key[0]:
            return parts
        made = self._made.setdefault(key, [])
        raw = "\n".join(part.request.raw.strip() or "{}" for part in parts)
        if raw in made:
            return ()
        made.append(raw)
        return parts


def arguments_of(raw: str) -> dict[str, Any] | None:
    """The arguments of a call; None if they are not a complete JSON object."""
    if not raw.strip():
        return {}
    try:
        value: object = _read(joined(raw))
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) and _is_finite(cast("object", value)) else None


def _read(raw: str) -> object:
    try:
        return from_json(raw)
    except ValueError:
        return from_json(without_halves(raw))


def is_nothing(raw: str) -> bool:
    """Whether the arguments are empty: some servers send empty ones before the real ones."""
    return raw.strip() in ("", "{}")


def without_empty_start(raw: str) -> str:
    """The arguments without empty ones before them: proxies of Anthropic pass on those that its calls begin with."""
    empty = _EMPTY_FIRST.match(raw)
    return raw[empty.end() :] if empty is not None else raw


def arguments_text(given: object) -> str:
    """Arguments that were sent as a value, in the text form that others send."""
    return json_of(given).decode()


def call_part(
    call_id: object,
    name: object,
    raw: str,
    arguments: dict[str, Any] | None,
    *,
    opaque: str | None = None,
    safety_checks: Sequence[SafetyCheck] = (),
    is_next_action: bool = False,
) -> ToolCallPart:
    """A call with its id and name as texts of limited length."""
    known = [str(given or "")[:MAX_NAME_CHARACTERS] for given in (call_id, name)]
    return ToolCallPart(
        ToolRequest(
            call_id=known[0],
            name=known[1],
            arguments=arguments,
            raw=raw,
            opaque=opaque,
            safety_checks=safety_checks,
            is_next_action=is_next_action,
        )
    )


def _is_finite(value: object) -> bool:
    """Whether all numbers are finite: others are not JSON, though parsers accept them, and could not be sent on."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, cast("dict[str, object]", value).values()))
    return all(map(_is_finite, cast("list[object]", value))) if isinstance(value, list) else True
