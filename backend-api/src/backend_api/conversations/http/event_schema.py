"""The JSON Schema of the event union on the wire: envelope and payload in one flat object."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, get_args

from pydantic import TypeAdapter

from backend_api.agent.events import (
    CHANGE_TYPES,
    FIELDS_OF_AGENTS,
    LIVE_TYPES,
    VOCABULARY_VERSION,
    LivePayload,
    StoredPayload,
    UsageUpdated,
)
from contracts.tools import Display

EVENT_SCHEMA_PATH = "/api/schema/events.json"
_ENVELOPE = ("seq", "type", "at", "session_id", "run_id")
_REF = "#/$defs/{model}"


def event_schema() -> dict[str, Any]:
    """The whole schema, discriminated by `type`. All fields are required but those of agents and unchanged ones."""
    definitions: dict[str, Any] = {}
    branches: list[dict[str, str]] = []
    mapping: dict[str, str] = {}
    display = TypeAdapter(Display).json_schema(mode="serialization", ref_template=_REF)
    definitions.update(display.pop("$defs"))
    definitions["Display"] = display
    for payload in (*get_args(StoredPayload), *get_args(LivePayload)):
        name, schema = _event(payload, definitions)
        definitions[name] = schema
        reference = f"#/$defs/{name}"
        branches.append({"$ref": reference})
        mapping[schema["properties"]["type"]["const"]] = reference
    for definition in definitions.values():
        if "properties" in definition:
            definition["required"] = _required_fields(definition["properties"])
            for value in definition["properties"].values():
                value.pop("title", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "description": f"One event of a session's stream, vocabulary version {VOCABULARY_VERSION}.",
        "$defs": dict(sorted(definitions.items())),
        "oneOf": branches,
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }


def _required_fields(properties: dict[str, Any]) -> list[str]:
    if properties.get("type", {}).get("const") in CHANGE_TYPES:
        return [name for name in properties if name in _ENVELOPE]
    return [name for name in properties if name not in FIELDS_OF_AGENTS]


def _event(payload: type, definitions: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    schema = TypeAdapter(payload).json_schema(mode="serialization", ref_template=_REF)
    definitions.update(schema.pop("$defs", {}))
    properties: dict[str, Any] = schema["properties"]
    is_live = properties["type"]["const"] in LIVE_TYPES
    envelope: dict[str, Any] = {
        "seq": {"type": "null"} if is_live else {"type": "integer", "minimum": 1},
        "type": properties["type"],
        "at": {"type": "string", "format": "date-time"},
        "session_id": {"type": "string"},
        "run_id": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    merged = envelope | {key: value for key, value in properties.items() if key != "type"}
    if "agent_id" in merged:
        merged["agent_id"] = {"type": "string"}
    if "display" in merged:
        merged["display"] = {"anyOf": [{"$ref": "#/$defs/Display"}, {"type": "null"}], "default": None}
    if payload is UsageUpdated:
        merged |= deepcopy(definitions["Usage"]["properties"])
    schema["properties"] = merged
    schema["additionalProperties"] = False
    name = payload.__name__ if payload.__name__.endswith("Event") else f"{payload.__name__}Event"
    schema["title"] = name
    return name, schema
