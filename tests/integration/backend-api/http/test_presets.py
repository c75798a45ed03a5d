"""Presets over HTTP: listed, chosen, changed, taken back, and told to whoever shows the session."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway


async def test_what_is_offered_says_what_it_is_and_whether_it_has_a_computer(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    offered = (await gateway.client.get("/api/presets", headers=anna)).json()
    assert [one["id"] for one in offered] == ["general", "coding", "research", "writing", "chat"]
    assert [one["id"] for one in offered if one["is_default"]] == ["general"]
    assert [one["id"] for one in offered if not one["has_computer"]] == ["chat"]
    chat = offered[-1]
    assert chat["tools"] == ["ask_user", "compact", "utc_now", "web_fetch", "web_search"]
    assert (chat["model"], chat["options"]) == (None, {})
    assert len(chat["suggestions"]) == len(chat["translations"]["zh"]["suggestions"]) == 3
    assert set(chat["suggestions"][0]) == {"title", "text"}
    assert (await gateway.client.get("/api/presets")).status_code == 401


async def test_one_is_chosen_changed_and_taken_back(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    made = await gateway.client.post("/api/sessions", json={"preset": "chat"}, headers=anna)
    assert (made.status_code, made.json()["preset"]) == (201, "chat")
    url = f"/api/sessions/{made.json()['id']}"
    for wanted in ("coding", "coding", None, "general"):
        answer = await gateway.client.patch(url, json={"preset": wanted}, headers=anna)
        assert (answer.status_code, answer.json()["preset"]) == (200, wanted)
        assert answer.json()["model"] is None
    assert (await gateway.client.get(f"{url}/state", headers=anna)).json()["session"]["preset"] == "general"
    page = await gateway.client.get(f"{url}/events", params={"format": "json"}, headers=anna)
    told = [event.get("preset") for event in page.json()["items"] if event["type"] == "session.updated"]
    assert told == ["coding", None, "general"]
    untouched = await gateway.client.patch(url, json={"title": "Named"}, headers=anna)
    assert untouched.json()["preset"] == "general"


@pytest.mark.parametrize(
    "preset",
    [
        "gone",
        pytest.param("", marks=pytest.mark.thorough),
        pytest.param("Chat", marks=pytest.mark.thorough),
        pytest.param("chat.md", marks=pytest.mark.thorough),
        "../chat",
        pytest.param("chat\x00", marks=pytest.mark.thorough),
        1,
        pytest.param(["chat"], marks=pytest.mark.thorough),
        pytest.param({}, marks=pytest.mark.thorough),
        pytest.param("x" * 201, marks=pytest.mark.thorough),
    ],
)
async def test_one_that_is_not_offered_is_refused_and_nothing_changes(gateway: Gateway, preset: Any) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    body = {"preset": preset, "title": "Never"}
    for method, path in (("POST", "/api/sessions"), ("PATCH", url)):
        answer = await gateway.client.request(method, path, json=body, headers=anna)
        assert answer.status_code == 422, answer.text
        assert [error["field"] for error in answer.json()["errors"]] == ["body.preset"]
    sessions = (await gateway.client.get("/api/sessions", headers=anna)).json()["items"]
    assert [(one["title"], one["preset"]) for one in sessions] == [("", None)]


async def test_the_tools_of_a_session_are_those_its_preset_leaves_it(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)

    async def names(headers: dict[str, str], **query: str) -> Any:
        answer = await gateway.client.get("/api/tools", params=query, headers=headers)
        return [tool["name"] for tool in answer.json()] if answer.status_code == 200 else answer.status_code

    assert await names(anna) == await names(anna, session_id=session_id) == ["think"]
    await gateway.client.patch(f"/api/sessions/{session_id}", json={"preset": "chat"}, headers=anna)
    assert await names(anna, session_id=session_id) == []
    assert await names(anna) == ["think"]
    assert await names(bert, session_id=session_id) == await names(anna, session_id="gone") == 404
    (think,) = (await gateway.client.get("/api/tools", headers=anna)).json()
    assert think["family"] == "others"


async def test_a_conversation_without_a_computer_takes_no_files_and_starts_none(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    made = await gateway.client.post("/api/sessions", json={"preset": "chat"}, headers=anna)
    url = f"/api/sessions/{made.json()['id']}"
    body = {"text": "read it", "attachments": ["a.txt"]}
    refused = await gateway.client.post(f"{url}/messages", json=body, headers=anna)
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == "body.attachments"
    assert "no computer" in error["message"]
    assert (await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)).status_code == 202
    state = (await gateway.client.get(f"{url}/state", headers=anna)).json()
    assert state["sandbox"]["status"] == "none"
    await gateway.client.patch(url, json={"preset": None}, headers=anna)
    upload = await gateway.client.post(f"{url}/files", files={"files": ("a.txt", b"a")}, headers=anna)
    assert upload.status_code == 201, upload.text
    assert (await gateway.client.post(f"{url}/messages", json=body, headers=anna)).status_code == 202


async def test_options_are_judged_together_with_those_of_the_preset(gateway: Gateway) -> None:
    """None of the product's chooses an option; what a session chose stays its own when the preset changes."""
    anna = await gateway.user("anna")
    options = {"enable_approval": True, "max_turns": 3}
    made = await gateway.client.post("/api/sessions", json={"preset": "writing", "options": options}, headers=anna)
    changed = await gateway.client.patch(f"/api/sessions/{made.json()['id']}", json={"preset": "chat"}, headers=anna)
    assert changed.json()["options"] == options
