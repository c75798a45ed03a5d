"""Decisions on calls that wait for a person, over HTTP and the socket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend_api.agent.approvals import Approval
from backend_api.agent.events import ApprovalCall, MessageUser, Question, Usage, UsageUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.questions import Questions
from backend_api.agent.waits import Wait
from backend_api.kit.ids import SessionId
from support.gateway import Gateway


async def asked(gateway: Gateway, headers: dict[str, str], *call_ids: str) -> SessionId:
    """A session whose run waits for the approval `a` of these calls."""
    session_id = SessionId(await gateway.session(headers))
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    ledger = gateway.ports.ledger
    accepted = await ledger.accept(session_id, user_id, MessageUser(message_id="m", text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    calls = [ApprovalCall(call_id=one, name="write", arguments={}) for one in call_ids]
    wait = Wait(id="a", subject=Approval(calls=calls), expires_s=60)
    assert await ledger.wait(lease, [wait], read_seq=accepted.seq)
    return session_id


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"decision": "approve"}, 200),
        ({"decision": "deny", "feedback": "no"}, 200),
        ({"decision": "approve_all", "call_ids": ["c1", "c2"]}, 200),
        ({"decision": "approve", "call_ids": ["c3"]}, 422),
        pytest.param({"decision": "approve", "call_ids": []}, 422, marks=pytest.mark.thorough),
        pytest.param({"decision": "approve", "call_ids": "c1"}, 422, marks=pytest.mark.thorough),
        ({"decision": "perhaps"}, 422),
        pytest.param({"decision": "deny", "feedback": "x" * 10_001}, 422, marks=pytest.mark.thorough),
        pytest.param({"decision": "approve", "call_id": "c1"}, 422, marks=pytest.mark.thorough),
        pytest.param({}, 422, marks=pytest.mark.thorough),
        pytest.param("approve", 422, marks=pytest.mark.thorough),
    ],
)
async def test_only_a_decision_that_fits_is_taken(gateway: Gateway, body: Any, status: int) -> None:
    anna = await gateway.user("anna")
    session_id = await asked(gateway, anna, "c1", "c2")
    answer = await gateway.client.post(f"/api/sessions/{session_id}/approvals/a", json=body, headers=anna)
    assert answer.status_code == status, answer.text
    if status == 200:
        told = {"approval_id": "a", "call_ids": ["c1", "c2"], "decision": body["decision"], "is_waiting": False}
        assert answer.json() == told
    expected = "queued" if status == 200 else "waiting"
    assert (await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)).json()["status"] == expected


async def test_who_waits_for_the_end_of_a_run_is_told_that_it_waits_and_for_what(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    ledger = gateway.ports.ledger
    running = asyncio.create_task(
        gateway.client.post(f"/api/sessions/{session_id}/runs", json={"text": "go"}, headers=anna)
    )
    while (lease := await ledger.claim("w", lease_s=30, model="m")) is None:
        await asyncio.sleep(0.01)
    used = UsageUpdated(usage=Usage(input=7))
    await ledger.record(lease, [NewEvent(payload=used)])
    calls = [ApprovalCall(call_id="c1", name="write", arguments={"path": "a"})]
    question = Questions(call_id="c2", questions=[Question(id="q1", text="Which?")])
    waits = [
        Wait(id="a", subject=Approval(calls=calls), expires_s=60),
        Wait(id="q", subject=question, expires_s=60),
    ]
    events = await ledger.wait(lease, waits, read_seq=9)
    await gateway.ports.stream.append(SessionId(session_id), events)
    told = (await running).json()
    assert (told["run_id"], told["status"], told["usage"]["input"]) == (lease.run.id, "waiting", 7)
    assert [one["text"] for one in told["messages"]] == ["go"]
    assert [(one["type"], one["seq"]) for one in told["waits_for"]] == [
        ("approval.requested", events[0].seq),
        ("question.asked", events[1].seq),
    ]


async def test_the_option_is_taken_and_given_back(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    body = {"options": {"enable_approval": True}}
    made = await gateway.client.post("/api/sessions", json=body, headers=anna)
    assert (made.status_code, made.json()["options"]) == (201, {"enable_approval": True})
    url = f"/api/sessions/{made.json()['id']}"
    taken_back = await gateway.client.patch(url, json={"options": {"enable_approval": None}}, headers=anna)
    assert taken_back.json()["options"] == {}
    refused = await gateway.client.patch(url, json={"options": {"enable_approval": "please"}}, headers=anna)
    assert refused.status_code == 422
