"""Another user's session does not exist, on any route."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.gateway import Gateway

CONTRACT = Path(__file__).parents[4] / "contracts" / "openapi.json"
OF_SESSION = "/api/sessions/{session_id}"
CALLS = [
    ("GET", "", None),
    ("PATCH", "", {"title": "mine now"}),
    ("GET", "/state", None),
    ("POST", "/messages", {"text": "hello"}),
    ("POST", "/runs", {"text": "hello"}),
    ("POST", "/runs/stream", {"text": "hello"}),
    ("POST", "/runs/x/resume", None),
    ("POST", "/questions/x", {"answers": {"q1": "yes"}}),
    ("POST", "/approvals/x", {"decision": "approve_all"}),
    ("POST", "/plans/x", {"decision": "approve"}),
    ("POST", "/read", {"seq": 1}),
    ("POST", "/compact", None),
    ("POST", "/messages/x/edit", {"text": "mine now", "run": True}),
    ("POST", "/messages/x/regenerate", None),
    ("POST", "/messages/x/undo", None),
    ("PUT", "/path", {"message_id": "x"}),
    ("POST", "/branch", {"message_id": "x"}),
    ("GET", "/branches", None),
    ("DELETE", "/branches/x", None),
    ("POST", "/stop", None),
    ("GET", "/events", None),
    ("GET", "/events?format=json", None),
    ("GET", "/events/1/body", None),
    ("GET", "/events/1/request", None),
    ("GET", "/files", None),
    ("GET", "/files/content?path=a.txt", None),
    ("GET", "/files/download?path=a.txt", None),
    ("POST", "/files/link", {"path": "a.txt"}),
    ("GET", "/files/text?path=a.txt", None),
    ("PUT", "/files/text", {"path": "a.txt", "content": "", "if_match": None}),
    ("POST", "/files/move", {"source": "a.txt", "destination": "b.txt"}),
    ("POST", "/files/folder", {"path": "a"}),
    ("DELETE", "/files?path=a.txt", None),
    ("POST", "/vnc/ticket", {"mode": "view"}),
    ("POST", "/terminal/ticket", {"terminal": "main"}),
    ("GET", "/terminal", None),
    ("DELETE", "/terminal/main", None),
    ("GET", "/sandbox", None),
    ("POST", "/sandbox", None),
    ("POST", "/sandbox/renew", None),
    ("GET", "/background", None),
    ("GET", "/background/bg_1", None),
    ("POST", "/background/bg_1/stop", None),
    ("GET", "/resources", None),
    ("POST", "/resources", {"title": "Notes", "kind": "note", "content": "mine"}),
    ("GET", "/resources/x", None),
    ("PATCH", "/resources/x", {"title": "mine now"}),
    ("DELETE", "/resources/x", None),
    ("GET", "/queue", None),
    ("POST", "/queue", {"text": "mine"}),
    ("PATCH", "/queue/x", {"text": "mine now", "version": 1}),
    ("POST", "/queue/order", {"ids": []}),
    ("POST", "/queue/x/send", None),
    ("DELETE", "/queue/x", None),
    ("POST", "/tasks", {"subject": "mine"}),
    ("PATCH", "/tasks/1", {"status": "completed"}),
    ("DELETE", "/tasks/1", None),
    ("GET", "/ports", None),
    ("POST", "/ports", {"port": 3000}),
    ("DELETE", "/ports/abc", None),
    ("POST", "/ports/abc/address", None),
    ("GET", "/snapshots", None),
    ("POST", "/snapshots", {"name": "mine"}),
    ("POST", "/snapshots/abc/restore", None),
    ("DELETE", "/snapshots/abc", None),
    ("GET", "/control", None),
    ("POST", "/control", {"client": "9f2c51d0"}),
    ("PUT", "/control", {"client": "9f2c51d0"}),
    ("DELETE", "/control", None),
    ("GET", "/shares", None),
    ("POST", "/shares", {"mode": "live"}),
    ("GET", "/export", None),
    ("PUT", "/folder", {"folder_id": None}),
    ("DELETE", "", None),
]


async def test_a_foreign_session_is_not_found_on_any_route(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    for method, path, body in CALLS:
        url = f"/api/sessions/{session_id}{path}"
        answer = await gateway.client.request(method, url, json=body, headers=bert)
        assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found"), (method, path)
        anonymous = await gateway.client.request(method, url, json=body)
        assert anonymous.status_code == 401, (method, path)
    untouched = (await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)).json()
    assert (untouched["title"], untouched["last_seq"]) == ("", 0)
    assert not gateway.sandboxes.living


def test_no_route_of_a_session_is_left_out() -> None:
    paths = json.loads(CONTRACT.read_text())["paths"]
    routes = [
        (method.upper(), re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path.removeprefix(OF_SESSION)))))
        for path, methods in paths.items()
        if path.startswith(OF_SESSION)
        for method in methods
    ]
    assert len(routes) > 25
    called = [(method, path.partition("?")[0]) for method, path, _ in CALLS] + [("POST", "/files")]
    forgotten = [
        (method, route.pattern)
        for method, route in routes
        if not any(method == one and route.fullmatch(path) for one, path in called)
    ]
    assert forgotten == []


async def test_an_upload_to_a_foreign_session_is_not_found(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    files = {"files": ("a.txt", b"mine")}
    answer = await gateway.client.post(f"/api/sessions/{session_id}/files", files=files, headers=bert)
    assert answer.status_code == 404
    assert not gateway.workspace.files


async def test_lists_show_own_sessions_only(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    mine = (await gateway.client.get("/api/sessions", headers=anna)).json()
    theirs = (await gateway.client.get("/api/sessions", headers=bert)).json()
    assert [item["id"] for item in mine["items"]] == [session_id]
    assert theirs == {"items": [], "next_cursor": None}
