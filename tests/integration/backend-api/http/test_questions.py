"""Answers to what the agent asks, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.events import MessageUser, Question
from backend_api.agent.questions import Questions
from backend_api.agent.waits import Wait
from backend_api.kit.ids import SessionId
from support.gateway import Gateway


async def asked(gateway: Gateway, headers: dict[str, str]) -> SessionId:
    """A session whose run waits for an answer to `q`."""
    session_id = SessionId(await gateway.session(headers))
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    ledger = gateway.ports.ledger
    accepted = await ledger.accept(session_id, user_id, MessageUser(message_id="m", text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    question = Question(id="q1", text="Which?", options=["red"], allow_text=False)
    wait = Wait(id="q", subject=Questions(call_id="c", questions=[question]), expires_s=60)
    assert await ledger.wait(lease, [wait], read_seq=accepted.seq)
    return session_id


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ({"q1": "red"}, 200),
        ({"q1": "green"}, 422),
        ({}, 422),
        pytest.param({"q1": 1}, 422, marks=pytest.mark.thorough),
        pytest.param({"q1": ["red"]}, 422, marks=pytest.mark.thorough),
        pytest.param({"q1": "x" * 10_001}, 422, marks=pytest.mark.thorough),
        ({f"q{number}": "red" for number in range(30)}, 422),
        pytest.param(None, 422, marks=pytest.mark.thorough),
        pytest.param("red", 422, marks=pytest.mark.thorough),
    ],
)
async def test_only_an_answer_that_fits_is_taken(gateway: Gateway, answers: Any, status: int) -> None:
    anna = await gateway.user("anna")
    session_id = await asked(gateway, anna)
    url = f"/api/sessions/{session_id}/questions/q"
    answer = await gateway.client.post(url, json={"answers": answers}, headers=anna)
    assert answer.status_code == status, answer.text
    if status == 200:
        assert answer.json() == {"question_id": "q", "is_waiting": False}
    expected = "queued" if status == 200 else "waiting"
    assert (await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)).json()["status"] == expected


async def test_a_question_is_its_owners_and_is_answered_once(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await asked(gateway, anna)
    url = f"/api/sessions/{session_id}/questions/"
    body = {"answers": {"q1": "red"}}
    expected = [
        (bert, "q", 404, "session_not_found"),
        (anna, "other", 404, "question_not_found"),
        (anna, "q", 200, ""),
        (anna, "q", 409, "question_answered"),
    ]
    for who, question, status, code in expected:
        answer = await gateway.client.post(url + question, json=body, headers=who)
        assert answer.status_code == status
        assert not code or answer.json()["code"] == code
