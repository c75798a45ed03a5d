"""Options that would change nothing are refused; the others are merged, by every way they can be sent."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway

NOT_IN_EFFECT: list[tuple[str, Any, str]] = [
    ("enable_teams", True, "enable_teams would have no effect: agents don't work in teams yet. Leave it out."),
]


@pytest.mark.parametrize(("name", "value", "message"), NOT_IN_EFFECT)
async def test_an_option_that_would_change_nothing_is_refused_with_the_reason(
    gateway: Gateway, name: str, value: Any, message: str
) -> None:
    anna = await gateway.user("anna")
    body = {"options": {name: value, "max_turns": 3}}
    session_id = await gateway.session(anna)
    refused = [
        await gateway.client.post("/api/sessions", json=body, headers=anna),
        await gateway.client.patch(f"/api/sessions/{session_id}", json=body, headers=anna),
    ]
    for answer in refused:
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["field"] == f"body.options.{name}"
        assert error["message"] == message
    sessions = (await gateway.client.get("/api/sessions", headers=anna)).json()["items"]
    assert [session["options"] for session in sessions] == [{}]


async def test_thinking_is_taken_where_the_model_can_and_refused_with_the_reason_where_not(gateway: Gateway) -> None:
    anna = await gateway.user("anna")

    async def refused(method: str, url: str, body: dict[str, Any]) -> tuple[str, str]:
        answer = await gateway.client.request(method, url, json=body, headers=anna)
        assert answer.status_code == 422, answer.text
        (error,) = answer.json()["errors"]
        return error["field"], error["message"]

    on = {"enable_thinking": True, "thinking_effort": "max"}
    made = await gateway.client.post("/api/sessions", json={"options": on}, headers=anna)
    assert (made.status_code, made.json()["options"]) == (201, on)
    url = f"/api/sessions/{made.json()['id']}"
    reason = "Plain does not think: choose another model, or set enable_thinking to null."
    assert await refused("PATCH", url, {"model": "plain"}) == ("body.model", reason)
    assert await refused("POST", "/api/sessions", {"model": "plain", "options": on}) == (
        "body.options.enable_thinking",
        reason,
    )
    taken_back = {"model": "plain", "options": {"enable_thinking": None, "thinking_effort": None}}
    assert (await gateway.client.patch(url, json=taken_back, headers=anna)).json()["options"] == {}
    field, message = await refused("PATCH", url, {"options": {"thinking_effort": "high"}})
    assert (field, "enable_thinking" in message) == ("body.options.thinking_effort", True)
    offered = (await gateway.client.get("/api/models", headers=anna)).json()
    assert {model["id"]: model["thinking"] for model in offered} == {"demo": "optional", "plain": "never"}


async def test_tools_to_be_denied_are_tools_there_are(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    for names, status in ((["think"], 200), (["thnik"], 422), (["think"] * 201, 422), (None, 200)):
        answer = await gateway.client.patch(url, json={"options": {"denied_tools": names}}, headers=anna)
        assert answer.status_code == status, answer.text
    assert (await gateway.client.get(url, headers=anna)).json()["options"] == {}


async def test_a_patch_merges_options_and_null_takes_one_back(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"

    async def patched(options: dict[str, Any]) -> Any:
        answer = await gateway.client.patch(url, json={"options": options}, headers=anna)
        assert answer.status_code == 200, answer.text
        return answer.json()["options"]

    assert await patched({"max_turns": 5}) == {"max_turns": 5}
    assert await patched({}) == {"max_turns": 5}
    assert await patched({"enable_approval": None}) == {"max_turns": 5}
    assert await patched({"max_turns": None}) == {}
    events = (await gateway.client.get(f"{url}/events?format=json", headers=anna)).json()["items"]
    assert [event["options"] for event in events] == [{"max_turns": 5}, {}]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_turns", True),
        ("max_turns", "7"),
        ("max_turns", 7.0),
        ("enable_approval", "yes"),
        ("enable_approval", 1),
        ("enable_thinking", "off"),
        ("enable_tracing", 1),
        ("denied_tools", "shell_exec"),
    ],
)
async def test_a_value_of_another_type_is_refused_and_not_read_as_one(gateway: Gateway, name: str, value: Any) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    body = {"options": {name: value}}
    for method, url in (("POST", "/api/sessions"), ("PATCH", f"/api/sessions/{session_id}")):
        answer = await gateway.client.request(method, url, json=body, headers=anna)
        assert answer.status_code == 422, answer.text
        assert [error["field"] for error in answer.json()["errors"]] == [f"body.options.{name}"]
    for other in ({"pinned": 1}, {"archived": "true"}, {"title": 7}):
        answer = await gateway.client.patch(f"/api/sessions/{session_id}", json=other, headers=anna)
        assert answer.status_code == 422, answer.text
    message = {"text": "hello", "interrupt": "no"}
    answer = await gateway.client.post(f"/api/sessions/{session_id}/messages", json=message, headers=anna)
    assert answer.status_code == 422, answer.text
    assert (await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)).json()["last_seq"] == 0
