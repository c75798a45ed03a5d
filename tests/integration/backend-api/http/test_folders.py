"""Folders of conversations."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend_api.folders.mongo.folders import MongoFolders
from backend_api.kit.ids import SessionId, UserId
from support.gateway import Gateway


def assert_problem(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


async def made(gateway: Gateway, headers: dict[str, str], **folder: Any) -> str:
    answer = await gateway.client.post("/api/folders", json={"name": "Work"} | folder, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def move(gateway: Gateway, headers: dict[str, str], session_id: str, folder_id: str | None) -> httpx.Response:
    return await gateway.client.put(
        f"/api/sessions/{session_id}/folder", json={"folder_id": folder_id}, headers=headers
    )


async def test_a_folder_is_made_renamed_and_listed_by_its_name(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    work = await made(gateway, anna, name="  Work ", instructions=" Cite sources. ")
    await made(gateway, anna, name="Art")
    listed = (await http.get("/api/folders", headers=anna)).json()["items"]
    assert [(one["name"], one["instructions"]) for one in listed] == [("Art", ""), ("Work", "Cite sources.")]
    changed = await http.patch(f"/api/folders/{work}", json={"name": "Papers"}, headers=anna)
    assert (changed.json()["name"], changed.json()["instructions"]) == ("Papers", "Cite sources.")
    changed = await http.patch(f"/api/folders/{work}", json={"instructions": ""}, headers=anna)
    assert (changed.json()["name"], changed.json()["instructions"]) == ("Papers", "")


async def test_conversations_are_put_into_a_folder_and_listed_by_it(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    work, first, second = await made(gateway, anna), await gateway.session(anna), await gateway.session(anna)
    moved = await move(gateway, anna, first, work)
    assert (moved.status_code, moved.json()["folder_id"]) == (200, work)
    listed = (await http.get("/api/sessions", params={"folder_id": work}, headers=anna)).json()["items"]
    assert [one["id"] for one in listed] == [first]
    await http.patch(f"/api/sessions/{second}", json={"archived": True}, headers=anna)
    for archived, expected in (("true", [second]), ("false", [first])):
        listed = (await http.get("/api/sessions", params={"archived": archived}, headers=anna)).json()["items"]
        assert [one["id"] for one in listed] == expected
    assert (await move(gateway, anna, first, None)).json()["folder_id"] is None


async def test_conversations_of_a_deleted_folder_stay_in_none(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    work, other = await made(gateway, anna), await made(gateway, anna)
    sessions = [await gateway.session(anna) for _ in range(3)]
    for session_id, folder_id in zip(sessions, (work, work, other), strict=True):
        await move(gateway, anna, session_id, folder_id)
    deleted = await http.delete(f"/api/folders/{work}", headers=anna)
    assert deleted.json() == {"moved_out": 2}
    listed = (await http.get("/api/sessions", headers=anna)).json()["items"]
    assert {one["id"]: one["folder_id"] for one in listed} == dict(zip(sessions, (None, None, other), strict=True))
    assert_problem(await http.delete(f"/api/folders/{work}", headers=anna), 404, "folder_not_found")


async def test_folders_and_conversations_are_those_of_their_user(gateway: Gateway) -> None:
    http, anna, bert = gateway.client, await gateway.user("anna"), await gateway.user("bert")
    work, session_id = await made(gateway, anna), await gateway.session(anna)
    assert (await http.get("/api/folders", headers=bert)).json()["items"] == []
    assert_problem(await http.patch(f"/api/folders/{work}", json={"name": "x"}, headers=bert), 404, "folder_not_found")
    assert_problem(await move(gateway, bert, await gateway.session(bert), work), 404, "folder_not_found")
    assert_problem(await move(gateway, bert, session_id, None), 404, "session_not_found")
    assert_problem(await move(gateway, anna, session_id, "none"), 404, "folder_not_found")


@pytest.mark.parametrize(
    "folder",
    [
        {"name": " "},
        pytest.param({"name": ""}, marks=pytest.mark.thorough),
        pytest.param({"name": "x" * 81}, marks=pytest.mark.thorough),
        {"name": "a", "instructions": "x" * 8_001},
        pytest.param({}, marks=pytest.mark.thorough),
    ],
)
async def test_what_is_no_folder_is_refused(gateway: Gateway, folder: dict[str, str]) -> None:
    anna = await gateway.user("anna")
    assert (await gateway.client.post("/api/folders", json=folder, headers=anna)).status_code == 422


async def test_an_agent_is_given_the_folder_that_its_conversation_is_in_now(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    user_id = UserId((await gateway.client.get("/api/auth/me", headers=anna)).json()["id"])
    session_id = SessionId(await gateway.session(anna))
    folders = MongoFolders(gateway.database)
    assert await folders.of_session(session_id, user_id) is None
    work = await made(gateway, anna, instructions="Cite sources.")
    await move(gateway, anna, session_id, work)
    found = await folders.of_session(session_id, user_id)
    assert found is not None
    assert found.instructions == "Cite sources."
    assert (await gateway.database["sessions"].find_one({"_id": session_id}) or {})["settings_version"] > 0
    await gateway.client.delete(f"/api/folders/{work}", headers=anna)
    assert await folders.of_session(session_id, user_id) is None
