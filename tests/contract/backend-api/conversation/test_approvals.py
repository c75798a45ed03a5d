"""Calls that wait for a person: one suite for memory and MongoDB."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import Any

import pytest

from backend_api.domain.agent.approvals import Approval, ApprovalDecidedError, Decision
from backend_api.domain.agent.events import (
    ApprovalCall,
    ApprovalRequested,
    ApprovalResolved,
    MessageUser,
    RunQueued,
    SessionUpdated,
    ToolCalled,
    ToolFinished,
)
from backend_api.domain.agent.questions import Answers
from backend_api.domain.agent.recorded import Recorded
from backend_api.domain.agent.waits import Wait
from backend_api.domain.conversation.entity import Lease, RunStatus, SessionId
from backend_api.domain.conversation.errors import (
    ApprovalNotFoundError,
    QuestionNotFoundError,
    SessionNotFoundError,
)
from backend_api.domain.errors import InvalidError
from support.backend_stores import ANNA, BERT, ConversationStores

APPROVE, DENY = Decision(decision="approve"), Decision(decision="deny", feedback=" Not today. ")


async def waiting(
    stores: ConversationStores, *call_ids: str, expires_s: float = 60.0
) -> tuple[SessionId, Lease, list[ApprovalCall]]:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    calls = [ApprovalCall(call_id=one, name="write", arguments={"$what": {"a.b": one}}) for one in call_ids]
    recorded = [
        ToolCalled(call_id=call.call_id, name=call.name, arguments=call.arguments, phrase="", asks=True)
        for call in calls
    ]
    await stores.ledger.record(lease, [Recorded(payload=payload) for payload in recorded])
    wait = Wait(id="a", subject=Approval(calls=calls), expires_s=expires_s)
    assert await stores.ledger.wait(lease, [wait], seen_seq=accepted.seq)
    return session_id, lease, calls


async def stored(stores: ConversationStores, session_id: SessionId, *kinds: type[Any]) -> list[Any]:
    events = await stores.log.read(session_id, after=0, limit=1_000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return [event.payload for event in events if isinstance(event.payload, kinds)]


async def test_what_is_approved_has_no_result_yet_and_its_run_goes_on(stores: ConversationStores) -> None:
    session_id, lease, calls = await waiting(stores, "c1", "c2")
    (asked,) = await stored(stores, session_id, ApprovalRequested)
    assert (asked.approval_id, asked.calls, asked.expires_at is not None) == ("a", calls, True)
    resolved = await stores.waits.answer(session_id, ANNA, "a", APPROVE)
    assert (resolved.run_id, resolved.is_queued) == (lease.run.id, True)
    (told,) = await stored(stores, session_id, ApprovalResolved)
    assert (told.call_ids, told.decision, told.by) == (["c1", "c2"], "approve", "user")
    assert await stored(stores, session_id, ToolFinished) == []
    again = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert again is not None
    assert again.run.id == lease.run.id


async def test_what_is_denied_has_its_result_with_what_the_person_said(stores: ConversationStores) -> None:
    session_id, _, _ = await waiting(stores, "c1")
    await stores.waits.answer(session_id, ANNA, "a", DENY)
    (finished,) = await stored(stores, session_id, ToolFinished)
    assert not finished.success
    assert finished.preview.startswith("User denied this tool call")
    assert finished.preview.endswith("They said: Not today.")


async def test_calls_are_decided_one_by_one_and_none_twice(stores: ConversationStores) -> None:
    session_id, lease, _ = await waiting(stores, "c1", "c2", "c3")
    first = await stores.waits.answer(session_id, ANNA, "a", Decision(decision="approve", call_ids=["c2"]))
    assert not first.is_queued
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id) is None
    with pytest.raises(ApprovalDecidedError, match="c2 approved by the user"):
        await stores.waits.answer(session_id, ANNA, "a", Decision(decision="deny", call_ids=["c1", "c2"]))
    for strange in ([], ["none"], ["c1", "none"]):
        with pytest.raises(InvalidError):
            await stores.waits.answer(session_id, ANNA, "a", Decision(decision="deny", call_ids=strange))
    last = await stores.waits.answer(session_id, ANNA, "a", DENY)
    assert last.is_queued
    with pytest.raises(ApprovalDecidedError, match="c1, c3 denied by the user"):
        await stores.waits.answer(session_id, ANNA, "a", APPROVE)
    assert [one.call_ids for one in await stored(stores, session_id, ApprovalResolved)] == [["c2"], ["c1", "c3"]]
    assert [one.call_id for one in await stored(stores, session_id, ToolFinished)] == ["c1", "c3"]


async def test_an_approval_is_its_owners_and_no_question(stores: ConversationStores) -> None:
    session_id, _, _ = await waiting(stores, "c1")
    for user, wait_id, answer, error in (
        (BERT, "a", APPROVE, SessionNotFoundError),
        (ANNA, "b", APPROVE, ApprovalNotFoundError),
        (ANNA, "a", Answers({"q1": "red"}), QuestionNotFoundError),
    ):
        with pytest.raises(error):
            await stores.waits.answer(session_id, user, wait_id, answer)
    await stores.waits.answer(session_id, ANNA, "a", APPROVE)
    with pytest.raises(QuestionNotFoundError):
        await stores.waits.answer(session_id, ANNA, "a", Answers({"q1": "red"}))


async def test_to_approve_all_ends_asking_in_the_session(stores: ConversationStores) -> None:
    session_id, _, _ = await waiting(stores, "c1")
    await stores.sessions.update(session_id, ANNA, {"options": {"enable_approval": True, "max_turns": 5}})
    await stores.waits.answer(session_id, ANNA, "a", Decision(decision="approve_all"))
    options = {"enable_approval": False, "max_turns": 5}
    assert (await stores.sessions.get(session_id, ANNA)).options == options
    assert [one.options for one in await stored(stores, session_id, SessionUpdated)] == [options]
    lease = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert lease is not None
    assert lease.options.enable_approval is False


async def test_a_stop_gives_each_call_its_result_whether_it_was_decided_or_not(stores: ConversationStores) -> None:
    for decided_first in ([], ["c1"], ["c1", "c2"]):
        session_id, lease, _ = await waiting(stores, "c1", "c2")
        if decided_first:
            await stores.waits.answer(session_id, ANNA, "a", Decision(decision="approve", call_ids=decided_first))
        stopped = await stores.ledger.request_stop(session_id, ANNA)
        assert stopped is not None
        assert (stopped.id, stopped.status) == (lease.run.id, RunStatus.STOPPED)
        results = await stored(stores, session_id, ToolFinished)
        assert sorted(one.call_id for one in results) == ["c1", "c2"]
        assert all(one.cancelled and "may have happened" not in one.preview for one in results)
        with pytest.raises(ApprovalDecidedError):
            await stores.waits.answer(session_id, ANNA, "a", APPROVE)


async def test_a_call_that_a_worker_had_since_is_no_more_said_not_to_have_begun(stores: ConversationStores) -> None:
    session_id, lease, _ = await waiting(stores, "c1")
    await stores.waits.answer(session_id, ANNA, "a", APPROVE)
    again = await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id)
    assert again is not None
    await stores.ledger.record(again, [Recorded(payload=ToolFinished(call_id="c1", success=True, preview="done"))])
    await stores.ledger.wait(again, [Wait(id="b", subject=Approval(calls=[]), expires_s=60)], seen_seq=9)
    await stores.ledger.request_stop(session_id, ANNA)
    assert len(await stored(stores, session_id, ToolFinished)) == 1


COMING = ("approve", "deny", "deadline", "message", "stop")


@pytest.mark.parametrize("order", list(permutations(COMING, 3)), ids="-".join)
async def test_whatever_comes_at_once_decides_a_call_once(stores: ConversationStores, order: tuple[str, ...]) -> None:
    session_id, lease, _ = await waiting(stores, "c1", expires_s=-1)

    async def happen(what: str) -> None:
        match what:
            case "approve":
                await stores.waits.answer(session_id, ANNA, "a", APPROVE)
            case "deny":
                await stores.waits.answer(session_id, ANNA, "a", DENY)
            case "deadline":
                await stores.waits.expire()
            case "message":
                await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="no", text="no"))
            case _:
                await stores.ledger.request_stop(session_id, ANNA)

    together = await asyncio.gather(*(happen(what) for what in order), return_exceptions=True)
    assert all(fault is None or isinstance(fault, ApprovalDecidedError) for fault in together), together
    (told,) = await stored(stores, session_id, ApprovalResolved)
    results = await stored(stores, session_id, ToolFinished)
    is_stopped = "stop" in order
    if told.decision == "deny":
        assert len(results) == 1
    else:
        assert len(results) <= is_stopped
    queued = [one.run_id for one in await stored(stores, session_id, RunQueued)]
    assert queued.count(lease.run.id) <= 2
