"""A conversation is summed up over HTTP: by its owner, once something was said, with a focus that fits."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.events import CompactionWanted, MessageUser, RunFinished
from backend_api.kit.ids import SessionId
from support.gateway import Gateway


async def spoken(gateway: Gateway, headers: dict[str, str]) -> SessionId:
    """A session that is idle after a message."""
    session_id = SessionId(await gateway.session(headers))
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    accepted = await gateway.ports.ledger.accept(session_id, user_id, MessageUser(message_id="m", text="go"))
    lease = await gateway.ports.ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    ended = RunFinished(run_id=lease.run.id, status="completed")
    assert await gateway.ports.ledger.finish(lease, ended, seen_seq=accepted.seq)
    return session_id


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (None, 202),
        pytest.param({}, 202, marks=pytest.mark.thorough),
        ({"focus": "the colours"}, 202),
        pytest.param({"focus": None}, 202, marks=pytest.mark.thorough),
        pytest.param({"focus": ""}, 422, marks=pytest.mark.thorough),
        ({"focus": "x" * 1_001}, 422),
        pytest.param({"focus": 1}, 422, marks=pytest.mark.thorough),
        ({"fokus": "x"}, 422),
    ],
)
async def test_what_fits_is_queued_for_its_owner(gateway: Gateway, body: Any, status: int) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await spoken(gateway, anna)
    url = f"/api/sessions/{session_id}/compact"
    foreign = await gateway.client.post(url, json={}, headers=bert)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "session_not_found")
    answer = await gateway.client.post(url, json=body, headers=anna)
    assert answer.status_code == status, answer.text
    events = await gateway.ports.log.read(session_id, after=0, limit=100)
    wanted = [event for event in events if isinstance(event.payload, CompactionWanted)]
    if status == 202:
        assert [event.payload for event in wanted] == [CompactionWanted(focus=(body or {}).get("focus"))]
        assert answer.json() == {"run_id": wanted[0].run_id}
        assert (await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)).json()["status"] == "queued"
    else:
        assert not wanted
        assert answer.headers["content-type"] == "application/problem+json"


async def test_where_nothing_was_said_there_is_nothing_to_sum_up(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    answer = await gateway.client.post(f"/api/sessions/{session_id}/compact", json={}, headers=anna)
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_compact")
