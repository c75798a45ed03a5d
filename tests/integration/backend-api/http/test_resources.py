"""Resources of a conversation and its tasks, as the person keeps and changes them over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from backend_api.resources.domain import MAX_RESOURCES
from support.gateway import Gateway, run_gateway
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]

NOTE = {"title": "What I know", "kind": "note", "content": "Trees need **water**."}


@pytest.fixture
async def gateway(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    uri, name = mongo_server.uri, mongo_database_name
    async with run_gateway(uri, name, redis_server.uri, preview_domain="apps.example.org") as gateway:
        yield gateway


async def events(gateway: Gateway, headers: dict[str, str], session_id: str) -> list[dict[str, Any]]:
    answer = await gateway.client.get(f"/api/sessions/{session_id}/events?format=json", headers=headers)
    return list(answer.json()["items"])


async def state(gateway: Gateway, headers: dict[str, str], session_id: str) -> dict[str, Any]:
    return dict((await gateway.client.get(f"/api/sessions/{session_id}/state", headers=headers)).json())


async def add(gateway: Gateway, headers: dict[str, str], session_id: str, **body: Any) -> httpx.Response:
    return await gateway.client.post(f"/api/sessions/{session_id}/resources", json={**NOTE, **body}, headers=headers)


async def test_a_resource_is_kept_read_changed_and_removed_and_each_is_told_whole(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    path = f"/api/sessions/{session_id}/resources"
    note = (await add(gateway, anna, session_id)).json()
    paper = (await add(gateway, anna, session_id, title="Trees", kind="paper", link="https://doi.org/10.1/x")).json()
    assert (note["content"], note["characters"], note["added_by"], note["version"]) == (
        NOTE["content"],
        21,
        "person",
        1,
    )
    changed = await gateway.client.patch(f"{path}/{note['id']}", json={"title": "Known", "version": 1}, headers=anna)
    assert (changed.status_code, changed.json()["title"], changed.json()["version"]) == (200, "Known", 2)
    late = await gateway.client.patch(f"{path}/{note['id']}", json={"title": "Mine", "version": 1}, headers=anna)
    assert (late.status_code, late.json()["code"]) == (412, "resource_changed")
    assert (await gateway.client.get(f"{path}/{note['id']}", headers=anna)).json() == changed.json()
    assert (await gateway.client.delete(f"{path}/{paper['id']}", headers=anna)).status_code == 204
    gone = await gateway.client.get(f"{path}/{paper['id']}", headers=anna)
    assert (gone.status_code, gone.json()["code"]) == (404, "resource_not_found")
    told = await events(gateway, anna, session_id)
    assert [[one["title"] for one in event["resources"]] for event in told] == [
        ["What I know"],
        ["What I know", "Trees"],
        ["Known", "Trees"],
        ["Known"],
    ]
    assert {event["type"] for event in told} == {"resources.updated"}
    now = await state(gateway, anna, session_id)
    assert now["resources"] == told[-1]["resources"] == (await gateway.client.get(path, headers=anna)).json()["items"]
    assert now["last_seq"] == told[-1]["seq"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"link": "javascript:alert(1)", "kind": "page"}, "link"),
        pytest.param({"link": "JaVaScRiPt:alert(1)", "kind": "file"}, "link", marks=pytest.mark.thorough),
        ({"link": "data:text/html,<script>", "kind": "data"}, "link"),
        pytest.param({"link": "https://", "kind": "page"}, "link", marks=pytest.mark.thorough),
        pytest.param({"link": "//example.org", "kind": "page"}, "link", marks=pytest.mark.thorough),
        ({"link": "../../etc/passwd", "kind": "file"}, "link"),
        pytest.param({"link": "/etc/passwd", "kind": "file"}, "link", marks=pytest.mark.thorough),
        pytest.param(
            {"link": "https://example.org/" + "a" * 2_000, "kind": "page"}, "link", marks=pytest.mark.thorough
        ),
        pytest.param({"title": "a" * 10_000}, "title", marks=pytest.mark.thorough),
        pytest.param({"title": "  "}, "title", marks=pytest.mark.thorough),
        pytest.param({"title": "two\nlines"}, "title", marks=pytest.mark.thorough),
        pytest.param({"content": ""}, "link", marks=pytest.mark.thorough),
        ({"content": "a" * 100_000}, "content"),
        ({"kind": "port"}, "kind"),
    ],
)
async def test_what_can_not_be_kept_is_refused_by_its_field(gateway: Gateway, body: dict[str, Any], field: str) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    refused = await add(gateway, anna, session_id, **body)
    assert refused.status_code == 422, refused.text
    assert [error["field"].removeprefix("body.") for error in refused.json()["errors"]] == [field]
    assert (await state(gateway, anna, session_id))["resources"] == []


@pytest.mark.thorough
async def test_a_conversation_keeps_so_many_and_no_more(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    for number in range(MAX_RESOURCES):
        assert (await add(gateway, anna, session_id, title=f"Note {number}")).status_code == 201
    refused = await asyncio.gather(*(add(gateway, anna, session_id, title="One more") for _ in range(5)))
    assert {(one.status_code, one.json()["code"]) for one in refused} == {(409, "too_many_resources")}
    assert len((await state(gateway, anna, session_id))["resources"]) == MAX_RESOURCES


async def test_open_ports_and_what_is_kept_are_told_together(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    await add(gateway, anna, session_id)
    await gateway.client.post(f"/api/sessions/{session_id}/ports", json={"port": 3000}, headers=anna)
    await add(gateway, anna, session_id, title="Another")
    told = [one for one in await events(gateway, anna, session_id) if one["type"] == "resources.updated"]
    assert [one["kind"] for one in told[-2]["resources"]] == ["note", "port"]
    assert [one["kind"] for one in told[-1]["resources"]] == ["note", "note", "port"]
    assert (await state(gateway, anna, session_id))["resources"] == told[-1]["resources"]


async def test_tasks_are_added_edited_ticked_off_and_deleted_by_the_person(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    path = f"/api/sessions/{session_id}/tasks"
    added = await gateway.client.post(path, json={"subject": "Read", "priority": "high"}, headers=anna)
    assert (added.status_code, added.json()["id"], added.json()["priority"]) == (201, "1", "high")
    await gateway.client.post(path, json={"subject": "Write"}, headers=anna)
    ticked = await gateway.client.patch(f"{path}/1", json={"status": "completed"}, headers=anna)
    assert (ticked.status_code, ticked.json()["status"], ticked.json()["subject"]) == (200, "completed", "Read")
    await gateway.client.patch(f"{path}/2", json={"subject": "Write it", "description": "Two pages."}, headers=anna)
    now = await state(gateway, anna, session_id)
    assert [(one["id"], one["subject"], one["status"], one["priority"]) for one in now["tasks"]] == [
        ("1", "Read", "completed", "high"),
        ("2", "Write it", "pending", "normal"),
    ]
    assert (await gateway.client.delete(f"{path}/1", headers=anna)).status_code == 204
    gone = await gateway.client.patch(f"{path}/1", json={"status": "pending"}, headers=anna)
    assert (gone.status_code, gone.json()["code"]) == (404, "task_not_found")
    told = await events(gateway, anna, session_id)
    assert [(one["version"], one["edits"], one["by"]) for one in told] == [(n, n, "person") for n in range(1, 6)]
    assert [one["id"] for one in told[-1]["tasks"]] == ["2"]


async def test_changes_of_two_tabs_at_once_are_all_kept(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    path = f"/api/sessions/{session_id}/tasks"
    await asyncio.gather(*(gateway.client.post(path, json={"subject": f"part {n}"}, headers=anna) for n in range(8)))
    now = await state(gateway, anna, session_id)
    assert sorted(one["id"] for one in now["tasks"]) == [str(n) for n in range(1, 9)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"subject": ""}, "subject"),
        pytest.param({"subject": " "}, "subject", marks=pytest.mark.thorough),
        pytest.param({"subject": "a" * 10_000}, "subject", marks=pytest.mark.thorough),
        ({"subject": "a", "priority": "urgent"}, "priority"),
        pytest.param({"subject": "a", "description": "a" * 100_000}, "description", marks=pytest.mark.thorough),
    ],
)
async def test_a_task_that_can_not_be_is_refused_by_its_field(
    gateway: Gateway, body: dict[str, Any], field: str
) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    refused = await gateway.client.post(f"/api/sessions/{session_id}/tasks", json=body, headers=anna)
    assert refused.status_code == 422, refused.text
    assert [error["field"].removeprefix("body.") for error in refused.json()["errors"]] == [field]


@pytest.mark.thorough
async def test_more_tasks_than_a_session_has_are_refused_whole(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    path = f"/api/sessions/{session_id}/tasks"
    codes = [
        (await gateway.client.post(path, json={"subject": "a", "description": "b" * 4_000}, headers=anna)).status_code
        for _ in range(13)
    ]
    assert codes[:8] == [201] * 8
    assert codes[-1] == 409
    deleted = await gateway.client.delete(f"{path}/1", headers=anna)
    assert deleted.status_code == 204
