"""The document of the API: every answer has a schema, and every body an example that the route takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from backend_api.conversations.http.event_schema import EVENT_SCHEMA_PATH, event_schema
from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app

DOCUMENT: dict[str, Any] = describe_app(WebOptions()).openapi()


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, found in DOCUMENT["paths"].items():
        for method, operation in found.items():
            yield f"{method.upper()} {path}", operation


def bodies() -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, operation["requestBody"]["content"]["application/json"])
        for name, operation in operations()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]


def test_every_answer_that_is_a_success_has_a_schema() -> None:
    without = [
        f"{name} {status} {kind}"
        for name, operation in operations()
        for status, answer in operation["responses"].items()
        if status.startswith("2") and status != "204"
        for kind, media in (answer.get("content") or {"nothing": {}}).items()
        if not media.get("schema")
    ]
    assert without == []


def test_every_body_has_an_example_that_its_schema_allows() -> None:
    for name, media in bodies():
        assert "example" in media, name
        schema = {**media["schema"], "components": DOCUMENT["components"]}
        faults = [fault.message for fault in Draft202012Validator(schema).iter_errors(media["example"])]
        assert faults == [], name


async def test_the_schema_of_events_has_an_address_that_the_document_names() -> None:
    assert EVENT_SCHEMA_PATH in DOCUMENT["paths"]
    assert EVENT_SCHEMA_PATH in DOCUMENT["info"]["description"]
    transport = httpx.ASGITransport(app=describe_app(WebOptions()))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = await client.get(EVENT_SCHEMA_PATH)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/schema+json")
    assert answer.json() == event_schema()
