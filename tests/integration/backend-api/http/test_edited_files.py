"""Files that are edited through the wire, on computers in memory."""

from __future__ import annotations

from support.gateway import Gateway


async def test_a_file_is_saved_over_what_was_read_and_over_nothing_newer(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url, client = f"/api/sessions/{session_id}/files", gateway.client
    made = await client.put(f"{url}/text", json={"path": "a.md", "content": "one", "if_match": None}, headers=anna)
    assert made.status_code == 200
    read = (await client.get(f"{url}/text", params={"path": "a.md"}, headers=anna)).json()
    assert (read["content"], read["etag"], read["reason"]) == ("one", made.json()["etag"], None)
    save = {"path": "a.md", "content": "two", "if_match": read["etag"]}
    assert (await client.put(f"{url}/text", json=save, headers=anna)).status_code == 200
    late = await client.put(f"{url}/text", json=save | {"content": "three"}, headers=anna)
    assert (late.status_code, late.json()["code"]) == (412, "file_changed")
    assert (await client.get(f"{url}/text", params={"path": "a.md"}, headers=anna)).json()["content"] == "two"
    events = (await client.get(f"/api/sessions/{session_id}/events?format=json", headers=anna)).json()["items"]
    changes = [(event["paths"], event["origin"]) for event in events if event["type"] == "files.changed"]
    assert changes == [(["a.md"], "user")] * 2


async def test_files_are_moved_and_deleted_and_each_change_is_told(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url, client = f"/api/sessions/{session_id}/files", gateway.client
    for path in ("a.txt", "b.txt"):
        await client.put(f"{url}/text", json={"path": path, "content": path, "if_match": None}, headers=anna)
    taken = await client.post(f"{url}/move", json={"source": "a.txt", "destination": "b.txt"}, headers=anna)
    assert taken.status_code == 409
    moved = await client.post(f"{url}/move", json={"source": "a.txt", "destination": "in/a.txt"}, headers=anna)
    assert moved.json() == {"path": "in/a.txt"}
    assert (await client.post(f"{url}/folder", json={"path": "new"}, headers=anna)).status_code == 201
    assert (await client.delete(url, params={"path": "in"}, headers=anna)).json() == {"path": "in"}
    assert (await client.delete(url, params={"path": "in"}, headers=anna)).status_code == 404
    events = (await client.get(f"/api/sessions/{session_id}/events?format=json", headers=anna)).json()["items"]
    changes = [(event["paths"], event["removed"]) for event in events if event["type"] == "files.changed"]
    assert changes[2:] == [(["a.txt", "in/a.txt"], ["a.txt"]), (["new"], []), (["in"], ["in"])]


async def test_a_text_over_the_limit_is_refused(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/files/text"
    body = {"path": "a.txt", "content": "x" * (1024 * 1024 + 1), "if_match": None}
    assert (await gateway.client.put(url, json=body, headers=anna)).status_code == 422
