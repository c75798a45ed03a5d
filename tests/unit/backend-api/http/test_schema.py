"""The committed schema files are what the code says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from backend_api.agent.events import (
    FIELDS_OF_AGENTS,
    Event,
    LivePayload,
    SessionUpdated,
    StoredPayload,
    Usage,
    UsageUpdated,
)
from backend_api.conversations.application.event_json import event_fields, event_from
from backend_api.conversations.http.event_schema import event_schema
from backend_api.kit.http import close_codes
from backend_api.main.schema import schema_files

CONTRACTS = Path(__file__).parents[4] / "contracts"


@pytest.mark.parametrize("name", ["events.schema.json", "openapi.json"])
def test_a_committed_schema_is_fresh(name: str) -> None:
    again = "PYTHONPATH=backend-api/src:contracts/src:service-kit/src python -m backend_api.main.schema"
    assert (CONTRACTS / name).read_text() == schema_files()[name], f"stale: run {again}"


def test_every_event_is_told_apart_by_its_type_and_requires_every_field_that_may_not_be_left_out() -> None:
    schema = event_schema()
    assert len(schema["discriminator"]["mapping"]) == len(get_args(StoredPayload)) + len(get_args(LivePayload))
    for reference in schema["discriminator"]["mapping"].values():
        event = schema["$defs"][reference.rpartition("/")[2]]
        is_change = event["title"] == "SessionUpdatedEvent"
        left_out = (
            ("title", "status", "model", "preset", "options", "changed_options") if is_change else FIELDS_OF_AGENTS
        )
        assert event["required"] == [name for name in event["properties"] if name not in left_out]
        assert {"seq", "type", "at", "session_id", "run_id"} <= set(event["properties"])
        assert "const" in event["properties"]["type"]


def test_every_code_a_socket_is_closed_with_is_documented() -> None:
    description = str(json.loads(schema_files()["openapi.json"])["info"]["description"])
    codes = [value for value in vars(close_codes).values() if isinstance(value, int)]
    assert len(codes) > 5
    assert [code for code in codes if f"| {code} |" not in description] == []


def test_of_a_session_that_changed_only_what_changed_is_told() -> None:
    event = Event(seq=1, at=datetime.now(UTC), session_id="s", run_id=None, payload=SessionUpdated(title="Plans"))
    fields = event_fields(event)
    assert set(fields) == {"seq", "type", "at", "session_id", "run_id", "title"}
    assert event_from(fields).payload == event.payload


def test_the_numbers_of_a_usage_stand_in_its_event() -> None:
    payload = UsageUpdated(usage=Usage(input=3, cached=1, output=2, by_model={"m": {"input": 3}}))
    event = Event(seq=1, at=datetime.now(UTC), session_id="s", run_id="r", payload=payload)
    fields = event_fields(event)
    assert {name: fields[name] for name in fields["usage"]} == fields["usage"]
    properties = event_schema()["$defs"]["UsageUpdatedEvent"]["properties"]
    assert set(fields) == set(properties) - FIELDS_OF_AGENTS
    assert event_from(fields).payload == payload
