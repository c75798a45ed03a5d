"""Input that nobody sees: refused with the reason, wherever it comes in."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway

BLANK = ["\0", "\0\0", " \n\t", "\u200b", "\u2060\ufeff \u00a0", "\ufe0f", "\u2800"]
ZONE = "Europe/Berlin"


async def refused(gateway: Gateway, method: str, path: str, body: Any, headers: dict[str, str]) -> dict[str, Any]:
    answer = await gateway.client.request(method, path, json=body, headers=headers)
    assert answer.status_code == 422, (path, body, answer.text)
    problem: dict[str, Any] = answer.json()
    assert problem["errors"], problem
    return problem


@pytest.mark.parametrize("blank", BLANK)
async def test_names_and_texts_of_nothing_that_is_seen_are_refused(gateway: Gateway, blank: str) -> None:
    anna = await gateway.user("anna")
    session = f"/api/sessions/{await gateway.session(anna)}"
    agent = {"description": "It helps.", "prompt": "Help."}
    schedule = {"text": "Look.", "cron": "0 9 * * *", "timezone": ZONE}
    for method, path, body, field in (
        ("POST", f"{session}/messages", {"text": blank}, "text"),
        ("POST", "/api/sessions", {"title": blank}, "title"),
        ("PATCH", session, {"title": blank}, "title"),
        ("POST", f"{session}/snapshots", {"name": blank}, "name"),
        ("POST", "/api/schedules", {**schedule, "text": blank}, "text"),
        ("PUT", "/api/agents/helper", {**agent, "description": blank}, "description"),
        ("PUT", "/api/agents/helper", {**agent, "prompt": blank}, "prompt"),
        ("POST", f"{session}/compact", {"focus": blank}, "focus"),
        ("POST", "/api/auth/register", {"username": blank, "password": "long enough 123"}, "username"),
        ("PUT", "/api/settings/models/openai_api_key", {"value": blank}, "value"),
    ):
        problem = await refused(gateway, method, path, body, anna)
        assert problem["errors"][0]["field"] == f"body.{field}", problem


async def test_a_nul_within_a_text_is_refused_with_the_reason_and_never_an_error_of_ours(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session = f"/api/sessions/{await gateway.session(anna)}"
    for method, path, body in (
        ("POST", f"{session}/messages", {"text": "a\0b"}),
        ("POST", f"{session}/messages", {"text": "a", "attachments": ["a\0.txt"]}),
        ("POST", f"{session}/messages", {"text": "a", "client_message_id": "a\0"}),
        ("PATCH", session, {"title": "a\0b"}),
        ("PATCH", session, {"options": {"denied_tools": ["a\0"]}}),
        ("PUT", "/api/mcp/box", {"command": "x", "args": ["a\0b"]}),
        ("PUT", "/api/mcp/box", {"command": "x", "env": {"A\0": "b"}}),
        ("PUT", "/api/settings/agent/default_preset", {"value": {"a\0": 1}}),
        ("POST", f"{session}/files/link", {"path": "a\0b"}),
    ):
        problem = await refused(gateway, method, path, body, anna)
        assert "NUL" in problem["detail"], problem
    for path in (f"{session}/files?path=a%00b", "/api/sessions?q=%00", f"{session}/events?format=json&cursor=%00"):
        answer = await gateway.client.get(path, headers=anna)
        assert (answer.status_code, "NUL" in answer.json()["detail"]) == (422, True), answer.text


async def test_what_the_framework_refuses_says_the_reason_in_its_detail(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    missing = await refused(gateway, "POST", "/api/schedules", {"text": "Look."}, anna)
    assert missing["detail"] == "Not valid: body.timezone: Field required."
    unread = await gateway.client.post(
        "/api/sessions", content=b'{"title": ', headers={**anna, "Content-Type": "application/json"}
    )
    assert unread.status_code == 422
    assert "it is not valid JSON" in unread.json()["detail"]


async def test_deleting_what_is_not_there_is_not_found(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session = f"/api/sessions/{await gateway.session(anna)}"
    for path in (
        "/api/sessions/nothing",
        "/api/schedules/nothing",
        "/api/skills/nothing",
        "/api/agents/nothing",
        "/api/mcp/nothing",
        "/api/mcp/nothing/sign-in",
        "/api/settings/keys/nothing",
        f"{session}/snapshots/nothing",
        f"{session}/ports/nothing",
    ):
        answer = await gateway.client.delete(path, headers=anna)
        assert answer.status_code == 404, (path, answer.text)
