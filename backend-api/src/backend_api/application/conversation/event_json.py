"""Events as JSON and back, by hand: this runs for every token, so no schema library stands in the way."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, cast, get_args

from backend_api.domain.agent.events import (
    CHANGE_TYPES,
    FIELDS_OF_AGENTS,
    ApprovalCall,
    BodyReference,
    ContentReference,
    Continuation,
    Event,
    LivePayload,
    Payload,
    Question,
    StoredPayload,
    Usage,
    UsageUpdated,
)

_CLASSES: dict[str, type[Any]] = {
    cls.__dataclass_fields__["type"].default: cls for cls in (*get_args(StoredPayload), *get_args(LivePayload))
}
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls))
    for cls in (*_CLASSES.values(), Usage, BodyReference, ContentReference, Continuation, Question, ApprovalCall)
}
_CHANGES: frozenset[type[Any]] = frozenset(_CLASSES[type_] for type_ in CHANGE_TYPES)
_NESTED: dict[str, type[Any]] = {
    "usage": Usage,
    "agent_usage": Usage,
    "body": BodyReference,
    "system": ContentReference,
    "tools": ContentReference,
}

_LISTS: dict[str, type[Any]] = {"continuations": Continuation, "questions": Question, "calls": ApprovalCall}


def dump(value: object) -> str:
    """Compact JSON; text that is no valid Unicode is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def format_time(at: datetime) -> str:
    """RFC 3339 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def payload_fields(payload: Any) -> dict[str, Any]:
    """The fields of a payload, `type` among them, ready for JSON."""
    result: dict[str, Any] = {}
    is_change = type(payload) in _CHANGES
    for name in _FIELDS[type(payload)]:
        value = getattr(payload, name)
        if value is None and (is_change or name in FIELDS_OF_AGENTS):
            continue
        if type(value) in _FIELDS:
            value = payload_fields(value)
        elif name in _LISTS:
            value = [payload_fields(one) for one in cast("list[Any]", value)]
        elif isinstance(value, datetime):
            value = format_time(value)
        result[name] = value
    return result


def payload_from(values: dict[str, Any]) -> Payload:
    """A payload from its fields; fields of a newer vocabulary are left out."""
    cls = _CLASSES[values["type"]]
    known = {name: values[name] for name in _FIELDS[cls] if name in values}
    for name, nested in _NESTED.items():
        if isinstance(known.get(name), dict):
            inner = cast("dict[str, Any]", known[name])
            known[name] = nested(**{key: inner[key] for key in _FIELDS[nested] if key in inner})
    for name, nested in _LISTS.items():
        if known.get(name):
            known[name] = [nested(**{key: one[key] for key in _FIELDS[nested]}) for one in known[name]]
    if known.get("expires_at") is not None:
        known["expires_at"] = datetime.fromisoformat(known["expires_at"])
    return cls(**known)


def event_fields(event: Event) -> dict[str, Any]:
    """One flat object: the envelope, then the payload; the numbers of a usage stand in it, too."""
    result: dict[str, Any] = {
        "seq": event.seq,
        "type": event.payload.type,
        "at": format_time(event.at),
        "session_id": event.session_id,
        "run_id": event.run_id,
    }
    run_id = event.run_id
    result.update(payload_fields(event.payload))
    if isinstance(event.payload, UsageUpdated):
        result.update(result["usage"])
    if result["run_id"] is None:
        result["run_id"] = run_id
    return result


def event_from(values: dict[str, Any]) -> Event:
    """The event such an object stands for."""
    return Event(
        seq=values["seq"],
        at=datetime.fromisoformat(values["at"]),
        session_id=values["session_id"],
        run_id=values["run_id"],
        payload=payload_from(values),
    )
