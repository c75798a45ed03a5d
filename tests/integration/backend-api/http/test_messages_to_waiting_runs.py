"""What is said to a run that waits for a person, over HTTP and the socket: read after the decision, or in its place."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import websockets

from backend_api.agent.approvals import Approval
from backend_api.agent.events import ApprovalCall, MessageUser, Question, Usage, UsageUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.questions import Questions
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import Accepted
from backend_api.kit.ids import SessionId
from support.gateway import Gateway

Headers = dict[str, str]


async def asked(gateway: Gateway, headers: Headers) -> tuple[SessionId, Accepted]:
    """A session whose run waits for the approval `a` of two calls and for the answer to `q`."""
    session_id = SessionId(await gateway.session(headers))
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    ledger = gateway.ports.ledger
    accepted = await ledger.accept(session_id, user_id, MessageUser(message_id="m", text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    await ledger.record(lease, [NewEvent(payload=UsageUpdated(usage=Usage(input=7)))])
    calls = [ApprovalCall(call_id=one, name="write", arguments={"path": one}) for one in ("c1", "c2")]
    question = Questions(call_id="c3", questions=[Question(id="q1", text="Which?")])
    waits = [
        Wait(id="a", subject=Approval(calls=calls), expires_s=60),
        Wait(id="q", subject=question, expires_s=60),
    ]
    assert await ledger.wait(lease, waits, read_seq=accepted.seq)
    return session_id, accepted


async def say(gateway: Gateway, headers: Headers, session_id: str, way: str, **fields: Any) -> dict[str, Any]:
    if way == "http":
        answer = await gateway.client.post(f"/api/sessions/{session_id}/messages", json=fields, headers=headers)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())
    address = f"{gateway.url.replace('http', 'ws')}/api/sessions/{session_id}/ws?after=0"
    async with asyncio.timeout(20), websockets.connect(address, additional_headers=headers) as socket:
        kind = "interrupt" if way == "interrupt frame" else "message"
        await socket.send(json.dumps({"type": kind, **fields}))
        while (told := json.loads(await socket.recv()))["type"] not in ("accepted", "error"):
            pass
    assert told["type"] == "accepted", told
    return dict(told)


async def kinds_after(gateway: Gateway, headers: Headers, session_id: str, seq: int) -> list[str]:
    url = f"/api/sessions/{session_id}/events?format=json&after={seq - 1}"
    return [one["type"] for one in (await gateway.client.get(url, headers=headers)).json()["items"]]


async def status(gateway: Gateway, headers: Headers, session_id: str) -> str:
    return str((await gateway.client.get(f"/api/sessions/{session_id}", headers=headers)).json()["status"])


@pytest.mark.parametrize("way", ["http", pytest.param("message frame", marks=pytest.mark.thorough)])
async def test_a_message_joins_the_run_and_decides_nothing(gateway: Gateway, way: str) -> None:
    anna = await gateway.user("anna")
    session_id, first = await asked(gateway, anna)
    said = await say(gateway, anna, session_id, way, text="and hurry", client_message_id="c")
    assert (said["run_id"], said["duplicate"]) == (first.run_id, False)
    assert (await say(gateway, anna, session_id, way, text="and hurry", client_message_id="c"))["duplicate"]
    assert await kinds_after(gateway, anna, session_id, said["seq"]) == ["message.user"]
    assert await status(gateway, anna, session_id) == "waiting"
    url = f"/api/sessions/{session_id}"
    decided = await gateway.client.post(f"{url}/approvals/a", json={"decision": "approve"}, headers=anna)
    assert (decided.status_code, decided.json()["is_waiting"]) == (200, True)
    answered = await gateway.client.post(f"{url}/questions/q", json={"answers": {"q1": "this"}}, headers=anna)
    assert (answered.status_code, answered.json()) == (200, {"question_id": "q", "is_waiting": False})
    assert await status(gateway, anna, session_id) == "queued"


@pytest.mark.parametrize("way", ["http", pytest.param("message frame", marks=pytest.mark.thorough), "interrupt frame"])
async def test_a_message_that_interrupts_ends_all_that_is_waited_for(gateway: Gateway, way: str) -> None:
    anna = await gateway.user("anna")
    session_id, first = await asked(gateway, anna)
    fields = {} if way == "interrupt frame" else {"interrupt": True}
    said = await say(gateway, anna, session_id, way, text="leave it", **fields)
    assert said["run_id"] == first.run_id
    kinds = await kinds_after(gateway, anna, session_id, said["seq"])
    assert kinds[0] == "message.user"
    assert kinds[-1] == "run.queued"
    assert kinds.count("approval.resolved") == kinds.count("question.answered") == 1
    assert await status(gateway, anna, session_id) == "queued"
    late = await gateway.client.post(
        f"/api/sessions/{session_id}/approvals/a", json={"decision": "approve"}, headers=anna
    )
    assert late.status_code == 409


async def test_who_waits_for_the_end_of_a_run_that_waits_is_told_what_is_still_undecided(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id, first = await asked(gateway, anna)
    url = f"/api/sessions/{session_id}"
    for decision, left in (
        (None, ["approval.requested", "question.asked"]),
        ({"decision": "deny", "call_ids": ["c1"]}, ["approval.requested", "question.asked"]),
        ({"decision": "approve"}, ["question.asked"]),
    ):
        if decision is not None:
            await gateway.client.post(f"{url}/approvals/a", json=decision, headers=anna)
        body = {"text": "well?", "client_message_id": f"c{len(left)}{decision}"}
        for _ in range(2):  # the same one again is told the same
            answer = await gateway.client.post(f"{url}/runs", json=body, headers=anna)
            told = answer.json()
            assert (answer.status_code, told["run_id"], told["status"]) == (200, first.run_id, "waiting"), told
            assert [one["type"] for one in told["waits_for"]] == left
            assert [one["text"] for one in told["messages"]] == ["well?"]
            assert told["usage"]["input"] == 7
    assert await status(gateway, anna, session_id) == "waiting"
