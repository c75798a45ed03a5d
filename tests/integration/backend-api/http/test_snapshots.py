"""Snapshots through the wire, on files in memory."""

from __future__ import annotations

from support.gateway import Gateway


async def test_files_are_kept_listed_and_brought_back_and_everyone_is_told(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    await gateway.client.post(f"{url}/files", files={"files": ("a.txt", b"first")}, headers=anna)
    taken = await gateway.client.post(f"{url}/snapshots", json={"name": " before "}, headers=anna)
    await gateway.client.post(f"{url}/files", files={"files": ("a.txt", b"second")}, headers=anna)

    restored = await gateway.client.post(f"{url}/snapshots/{taken.json()['id']}/restore", headers=anna)

    assert (taken.status_code, taken.json()["name"], taken.json()["content_bytes"]) == (201, "before", 5)
    assert (restored.status_code, restored.json()["id"]) == (200, taken.json()["id"])
    listed = (await gateway.client.get(f"{url}/snapshots", headers=anna)).json()
    assert [one["id"] for one in listed["items"]] == [taken.json()["id"]]
    assert listed["max_count"] == 3
    content = await gateway.client.get(f"{url}/files/content?path=a.txt", headers=anna)
    assert content.json()["content"] == "first"
    events = (await gateway.client.get(f"{url}/events?format=json", headers=anna)).json()["items"]
    assert [(one["type"], one.get("status")) for one in events[-2:]] == [
        ("sandbox.updated", "gone"),
        ("files.changed", None),
    ]
    assert "before" in events[-2]["reason"]


async def test_files_are_not_restored_under_the_agents_hands(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    await gateway.client.post(f"{url}/files", files={"files": ("a.txt", b"first")}, headers=anna)
    taken = (await gateway.client.post(f"{url}/snapshots", json={"name": "one"}, headers=anna)).json()
    await gateway.client.post(f"{url}/messages", json={"text": "work"}, headers=anna)

    refused = await gateway.client.post(f"{url}/snapshots/{taken['id']}/restore", headers=anna)
    meanwhile = await gateway.client.post(f"{url}/snapshots", json={"name": "two"}, headers=anna)

    assert (refused.status_code, refused.json()["code"]) == (409, "session_busy")
    assert meanwhile.status_code == 201


async def test_what_can_not_be_kept_or_found_says_why(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/snapshots"

    empty = await gateway.client.post(url, json={"name": "one"}, headers=anna)
    nameless = await gateway.client.post(url, json={"name": "  "}, headers=anna)
    unknown = await gateway.client.post(f"{url}/none/restore", headers=anna)
    deleted = await gateway.client.delete(f"{url}/none", headers=anna)

    assert (empty.status_code, empty.json()["code"]) == (409, "snapshot_refused")
    assert (nameless.status_code, nameless.json()["errors"][0]["field"]) == (422, "body.name")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "snapshot_not_found")
    assert (deleted.status_code, deleted.json()["code"]) == (404, "snapshot_not_found")
