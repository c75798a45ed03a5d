"""Options that would change nothing are refused; the others are merged, by every way they can be sent."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway


async def test_only_a_session_with_a_team_has_its_tools(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)

    async def named(query: str = "") -> set[str]:
        listed = await gateway.client.get(f"/api/tools{query}", headers=anna)
        return {tool["name"] for tool in listed.json()}

    own = {"spawn_teammate", "plan_review", "submit_plan", "answer_shutdown"}
    assert not own & await named()
    assert not own & await named(f"?session_id={session_id}")
    body = {"options": {"enable_teams": True, "denied_tools": ["broadcast"]}}
    changed = await gateway.client.patch(f"/api/sessions/{session_id}", json=body, headers=anna)
    assert changed.status_code == 200, changed.text
    assert changed.json()["options"]["enable_teams"] is True
    assert own <= await named(f"?session_id={session_id}")
    assert not own & await named()
    for body, field in (({"preset": "chat"}, "body.preset"), ({"preset": None}, None)):
        changed = await gateway.client.patch(f"/api/sessions/{session_id}", json=body, headers=anna)
        assert [error["field"] for error in changed.json().get("errors", [])] == ([field] if field else [])


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
        pytest.param("max_turns", "7", marks=pytest.mark.thorough),
        pytest.param("max_turns", 7.0, marks=pytest.mark.thorough),
        ("enable_approval", "yes"),
        pytest.param("enable_approval", 1, marks=pytest.mark.thorough),
        pytest.param("enable_thinking", "off", marks=pytest.mark.thorough),
        pytest.param("enable_tracing", 1, marks=pytest.mark.thorough),
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
