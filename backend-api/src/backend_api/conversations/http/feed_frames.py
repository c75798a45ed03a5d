"""The feed of all own sessions as frames, and its JSON Schema."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from backend_api.conversations.application.event_json import dump
from backend_api.conversations.domain.entity import SessionStatus
from backend_api.conversations.domain.feed import NUMBERS, SHOWN, FeedItem, FeedMark, SessionChange
from backend_api.conversations.http.session_schemas import SessionBody
from backend_api.kit.stored_time import format_time

_SNAPSHOT = TypeAdapter(SessionBody)


def feed_frame(item: FeedItem) -> bytes:
    """One frame. Changes and marks with a number have it as their id, too."""
    match item:
        case SessionChange():
            head = _head(item.type, item.seq, format_time(item.at), item.session_id)
            fields = dict(item.fields)
        case FeedMark():
            head = _head(item.type, item.seq, format_time(item.at), None)
            fields = {}
        case _:
            session = item.session
            head = _head("session.snapshot", None, format_time(session.updated_at), session.id)
            fields = _SNAPSHOT.dump_python(SessionBody.of(session), exclude={"id"})
    identifier = "" if head["seq"] is None else f"id: {head['seq']}\n"
    return f"{identifier}event: {head['type']}\ndata: {dump(head | fields)}\n\n".encode()


def _head(type_: str, seq: int | None, at: str, session_id: str | None) -> dict[str, Any]:
    return {"seq": seq, "type": type_, "at": at, "session_id": session_id, "run_id": None}


def _event(type_: str, description: str, fields: dict[str, Any], *, required: bool, numbered: bool) -> dict[str, Any]:
    has_session = not type_.startswith("feed.")
    properties: dict[str, Any] = {
        "seq": {"type": "integer", "minimum": 0} if numbered else {"type": "null"},
        "type": {"const": type_, "type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "session_id": {"type": "string"} if has_session else {"type": "null"},
        "run_id": {"type": "null"},
    }
    return {
        "type": "object",
        "title": "".join(part.capitalize() for part in type_.split(".")) + "Feed",
        "description": description,
        "properties": properties | fields,
        "required": [*properties, *(fields if required else ())],
        "additionalProperties": False,
    }


def feed_schema() -> dict[str, Any]:
    """The schema of a frame's data. An updated session has only the fields that changed."""
    time = {"type": "string", "format": "date-time"}
    count = {"type": "integer", "minimum": 0}
    text_or_null = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    shown: dict[str, Any] = {
        "title": {"type": "string"},
        "status": {"type": "string", "enum": [status.value for status in SessionStatus]},
        "model": text_or_null,
        "preset": text_or_null,
        "options": {"type": "object", "additionalProperties": True},
        "pinned": {"type": "boolean"},
        "archived": {"type": "boolean"},
        "read_seq": count,
        "unread": count,
        "failed": {"type": "boolean"},
        "sandbox": text_or_null,
        "active_at": time,
        "folder_id": text_or_null,
        "target_id": text_or_null,
    }
    numbers: dict[str, Any] = {"last_seq": count, "updated_at": time}
    assert (tuple(shown), tuple(numbers)) == (SHOWN, NUMBERS)
    changed = shown | numbers
    whole = changed | {"created_at": time}
    created = {name: schema for name, schema in whole.items() if name not in ("sandbox", "folder_id", "target_id")}
    return {
        "title": "FeedEvent",
        "oneOf": [
            _event("feed.started", "All that changes from now on follows.", {}, required=True, numbered=True),
            _event("feed.reset", "Too much was missed: every session follows.", {}, required=True, numbered=False),
            _event("session.snapshot", "A session as it is, after a reset.", whole, required=True, numbered=False),
            _event("feed.ready", "What was not among them is gone.", {}, required=True, numbered=True),
            _event("session.created", "A new session.", created, required=True, numbered=True),
            _event("session.updated", "Only what changed is there.", changed, required=False, numbered=True),
            _event("session.deleted", "The session is gone.", {}, required=True, numbered=True),
        ],
    }
