"""Decisions on plans over HTTP, and steps, todos and background commands in the state of a session."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.agent.events import BackgroundFinished, MessageUser, PlanStep, PlanUpdated, Todo, TodosUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.plans import Plan
from backend_api.agent.waits import Wait
from backend_api.background.domain import BackgroundCommand, BackgroundCommands
from backend_api.kit.ids import SessionId
from support.gateway import Gateway


async def proposed(gateway: Gateway, headers: dict[str, str]) -> SessionId:
    """A session in plan mode whose run waits for the plan `p`."""
    made = await gateway.client.post("/api/sessions", json={"options": {"enable_plan_mode": True}}, headers=headers)
    assert made.status_code == 201, made.text
    session_id = SessionId(made.json()["id"])
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    ledger = gateway.ports.ledger
    accepted = await ledger.accept(session_id, user_id, MessageUser(message_id="m", text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    told = PlanUpdated(steps=[PlanStep(title="Look", status="done", result="3 files")])
    await ledger.record(lease, [NewEvent(payload=told)])
    wait = Wait(id="p", subject=Plan(call_id="c", plan="# A"), expires_s=60)
    assert await ledger.wait(lease, [wait], read_seq=accepted.seq)
    return session_id


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"decision": "approve"}, 200),
        pytest.param({"decision": "reject", "feedback": "no"}, 200, marks=pytest.mark.thorough),
        ({"decision": "approve_all"}, 422),
        pytest.param({"decision": "reject", "feedback": "x" * 10_001}, 422, marks=pytest.mark.thorough),
        ({"decision": "approve", "call_ids": ["c"]}, 422),
        pytest.param({}, 422, marks=pytest.mark.thorough),
    ],
)
async def test_only_a_decision_that_fits_is_taken_and_only_once(gateway: Gateway, body: Any, status: int) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await proposed(gateway, anna)
    url = f"/api/sessions/{session_id}/plans/p"
    foreign = await gateway.client.post(url, json={"decision": "approve"}, headers=bert)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "session_not_found")
    answer = await gateway.client.post(url, json=body, headers=anna)
    assert answer.status_code == status, answer.text
    again = await gateway.client.post(url, json={"decision": "approve"}, headers=anna)
    if status == 200:
        assert answer.json() == {"plan_id": "p", "decision": body["decision"]}
        assert (again.status_code, again.json()["code"]) == (409, "plan_decided")
    else:
        assert again.status_code == 200
    session = (await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)).json()
    is_on = status == 200 and body["decision"] == "reject"
    assert session["options"] == {"enable_plan_mode": is_on}


async def test_the_state_has_the_commands_that_run_in_the_background(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await proposed(gateway, anna)
    user_id = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    commands: BackgroundCommands = gateway.ports.modules.ports["background_commands"]  # type: ignore[assignment]
    for name in ("bg_1", "bg_2"):
        command = BackgroundCommand(
            id=name,
            session_id=session_id,
            user_id=user_id,
            call_id="c",
            command="make",
            generation=1,
            timeout_s=300,
            began_at=datetime.now(UTC),
        )
        await commands.begin(command)
    told = NewEvent(
        payload=BackgroundFinished(background_id="bg_1", command="make", exit_code=0, preview="", state="ended")
    )
    assert await commands.settle(await commands.get(session_id, "bg_1"), told, wakes=False)
    state = (await gateway.client.get(f"/api/sessions/{session_id}/state", headers=anna)).json()
    running = [(one["background_id"], one["command"], one["state"]) for one in state["background"]]
    assert running == [("bg_2", "make", "running")]


async def test_the_state_has_the_steps_and_the_todos(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await proposed(gateway, anna)
    state = (await gateway.client.get(f"/api/sessions/{session_id}/state", headers=anna)).json()
    assert state["plan"] == {"steps": [{"title": "Look", "status": "done", "result": "3 files"}]}
    todo = Todo(content="Write", status="in_progress", active_form="Writing")
    await gateway.ports.log.append(session_id, [TodosUpdated(todos=[todo])])
    state = (await gateway.client.get(f"/api/sessions/{session_id}/state", headers=anna)).json()
    assert state["todos"] == [asdict(todo)]
    other = await gateway.session(anna)
    assert (await gateway.client.get(f"/api/sessions/{other}/state", headers=anna)).json()["plan"] is None
