"""What changed in the files of a conversation since its user last looked."""

from __future__ import annotations

import uuid
from typing import Any

from backend_api.agent.events import FilesChanged, MessageUser, RunFinished, StoredPayload, ToolCalled, ToolFinished
from backend_api.agent.new_events import NewEvent
from backend_api.kit.ids import SessionId
from support.gateway import Gateway


def call(call_id: str, display: dict[str, Any], **arguments: Any) -> list[StoredPayload]:
    return [
        ToolCalled(call_id=call_id, name="file", arguments=arguments, phrase=""),
        ToolFinished(call_id=call_id, success=True, preview="", display=display),
        FilesChanged(paths=[display["path"]], origin="agent"),
    ]


def edit(call_id: str, path: str, old: str, new: str) -> list[StoredPayload]:
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -4,2 +4,2 @@\n same\n-{old}\n+{new}"
    return call(call_id, {"type": "diff", "path": path, "diff": diff})


def write(call_id: str, path: str, content: str) -> list[StoredPayload]:
    return call(call_id, {"type": "file", "path": path, "operation": "write", "size": 1}, content=content)


async def turn(
    gateway: Gateway, headers: dict[str, str], session_id: str, *payloads: list[StoredPayload], ends: bool = True
) -> int:
    """A turn, and the number of its end; one that doesn't end still runs."""
    session, ledger = SessionId(session_id), gateway.ports.ledger
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    accepted = await ledger.accept(session, user_id, MessageUser(message_id=uuid.uuid4().hex, text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    await ledger.record(lease, [NewEvent(payload=payload) for one in payloads for payload in one])
    if not ends:
        return 0
    finished = RunFinished(run_id=accepted.run_id, status="completed")
    events = await ledger.finish(lease, finished, seen_seq=accepted.seq)
    return events[-1].seq or 0


async def test_changes_of_all_turns_since_the_last_visit_are_joined(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    url, client = f"/api/sessions/{session_id}", gateway.client
    none = await client.get(f"{url}/changes", headers=anna)
    assert none.json() == {"after": 0, "turns": 0, "added": 0, "removed": 0, "is_partial": False, "files": []}

    read = await turn(gateway, anna, session_id, write("c1", "seen.md", "1\n"), write("c2", "old.md", "1\n"))
    assert (await client.post(f"{url}/read", json={"seq": read}, headers=anna)).status_code == 200
    long = "".join(f"line {number}\n" for number in range(20_000))
    second = await turn(
        gateway,
        anna,
        session_id,
        edit("c3", "a.py", "one", "two"),
        write("c4", "brief.md", "1\n"),
        write("c5", "b", long),
    )
    gone: list[StoredPayload] = [
        FilesChanged(paths=["brief.md", "old.md"], origin="agent", removed=["brief.md", "old.md"])
    ]
    await turn(gateway, anna, session_id, edit("c6", "a.py", "two", "three"), gone)

    await turn(gateway, anna, session_id, write("c7", "unfinished.md", "1\n"), ends=False)

    changes = (await client.get(f"{url}/changes", headers=anna)).json()
    assert {name: changes[name] for name in ("after", "turns", "added", "removed", "is_partial")} == {
        "after": read,
        "turns": 2,
        "added": 20_001,
        "removed": 1,
        "is_partial": False,
    }
    shown = [(one["path"], one["added"], one["removed"], one["is_removed"]) for one in changes["files"]]
    assert shown == [("a.py", 1, 1, False), ("b", 20_000, 0, False), ("old.md", 0, 0, True)]
    assert changes["files"][0]["diffs"] == ["@@ -4,2 +4,2 @@\n same\n-one\n+three"]

    # The mark moves while one reads; whoever opened the page before asks as it was then.
    await client.post(f"{url}/read", json={"seq": second}, headers=anna)
    later = (await client.get(f"{url}/changes", headers=anna)).json()
    assert (later["after"], later["turns"], later["files"][0]["diffs"]) == (
        second,
        1,
        ["@@ -4,2 +4,2 @@\n same\n-two\n+three"],
    )
    assert (await client.get(f"{url}/changes", params={"after": read}, headers=anna)).json() == changes
    # It had looked in the middle of the first turn, all of which it is shown.
    whole = (await client.get(f"{url}/changes", params={"after": read - 1}, headers=anna)).json()
    assert (whole["turns"], whole["files"][0]["path"]) == (3, "seen.md")
    foreign = await client.get(f"{url}/changes", headers=bert)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "session_not_found")


async def test_what_is_too_much_to_read_is_told_by_name(gateway: Gateway, monkeypatch: Any) -> None:
    monkeypatch.setattr("backend_api.changes.mongo.MAX_EVENTS", 3)
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    await turn(gateway, anna, session_id, *(write(f"c{number}", f"{number}.md", "1\n") for number in range(3)))
    changes = (await gateway.client.get(f"/api/sessions/{session_id}/changes", headers=anna)).json()
    known = [(one["path"], one["is_known"]) for one in changes["files"]]
    assert (changes["is_partial"], known) == (True, [("0.md", True), ("1.md", False), ("2.md", False)])
