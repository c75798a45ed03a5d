"""The error for a call with wrong arguments: nothing ran, and what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

MAX_FAULTS = 20
MAX_FIELD_CHARACTERS = 200
MAX_MESSAGE_CHARACTERS = 500
MAX_SENT_CHARACTERS = 200
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """One argument that does not fit. `path` leads to it, empty for the arguments as a whole."""

    path: tuple[str, ...]
    message: str


def wrong_arguments(tool: str, faults: Sequence[ArgumentFault], arguments: Mapping[str, Any]) -> str:
    """Each fault with its field, the constraint and the value sent, each within a bound."""
    lines = [_line(fault, arguments) for fault in faults[:MAX_FAULTS]]
    if len(faults) > MAX_FAULTS:
        lines.append(f"- and {len(faults) - MAX_FAULTS} more")
    return "\n".join([f"Nothing was run: the arguments do not fit {tool}.", *lines])


def _line(fault: ArgumentFault, arguments: Mapping[str, Any]) -> str:
    field = ".".join(fault.path)[:MAX_FIELD_CHARACTERS] or "arguments"
    sent = _value_at(fault.path, arguments) if fault.path else _ABSENT
    value = "" if sent is _ABSENT else f" (sent: {_bounded(sent)})"
    return f"- {field}: {fault.message[:MAX_MESSAGE_CHARACTERS]}{value}"


def _value_at(path: Sequence[str], arguments: Mapping[str, Any]) -> object:
    value: object = arguments
    for part in path:
        if isinstance(value, dict):
            value = cast("dict[str, object]", value).get(part, _ABSENT)
        elif isinstance(value, list) and part.isdecimal() and len(part) < 8:
            items = cast("list[object]", value)
            value = items[int(part)] if int(part) < len(items) else _ABSENT
        else:
            return _ABSENT
    return value


def _bounded(value: object) -> str:
    if isinstance(value, str) and len(value) > MAX_SENT_CHARACTERS:
        return f"{value[:MAX_SENT_CHARACTERS]!r}... of {len(value)} characters"
    if isinstance(value, (dict, list)):
        size = len(cast("dict[str, object] | list[object]", value))
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {size}"
    return repr(value)[: MAX_SENT_CHARACTERS + 2]
