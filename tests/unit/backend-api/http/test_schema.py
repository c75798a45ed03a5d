"""The committed schema files are what the code says."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from backend_api.domain.agent.events import LivePayload, StoredPayload
from backend_api.interfaces.http.event_schema import event_schema
from backend_api.interfaces.http.schema import schema_files

CONTRACTS = Path(__file__).parents[4] / "contracts"


@pytest.mark.parametrize("name", ["events.schema.json", "openapi.json"])
def test_a_committed_schema_is_fresh(name: str) -> None:
    again = "PYTHONPATH=backend-api/src:contracts/src python -m backend_api.interfaces.http.schema"
    assert (CONTRACTS / name).read_text() == schema_files()[name], f"stale: run {again}"


def test_every_event_is_told_apart_by_its_type_and_requires_every_field() -> None:
    schema = event_schema()
    assert len(schema["discriminator"]["mapping"]) == len(get_args(StoredPayload)) + len(get_args(LivePayload))
    for reference in schema["discriminator"]["mapping"].values():
        event = schema["$defs"][reference.rpartition("/")[2]]
        assert event["required"] == list(event["properties"])
        assert {"seq", "type", "at", "session_id", "run_id"} <= set(event["properties"])
        assert "const" in event["properties"]["type"]
