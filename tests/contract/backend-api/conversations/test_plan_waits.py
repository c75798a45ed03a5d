"""Plans that wait for a person."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.agent.approvals import Decision
from backend_api.agent.events import (
    MessageUser,
    PlanDecided,
    PlanProposed,
    PlanStep,
    PlanUpdated,
    SessionUpdated,
    Task,
    TasksUpdated,
    Todo,
    TodosUpdated,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.plans import Plan, PlanDecision
from backend_api.agent.questions import Answers
from backend_api.agent.waits import Answer, Wait
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.errors import (
    ApprovalNotFoundError,
    PlanDecidedError,
    PlanNotFoundError,
    QuestionNotFoundError,
    SessionNotFoundError,
)
from backend_api.kit.ids import SessionId, UserId
from support.backend_stores import ANNA, BERT, MongoStores

TEXT = "# Plan\n" + "x" * 3_000
APPROVE, REJECT = PlanDecision(decision="approve"), PlanDecision(decision="reject", feedback=" smaller ")


async def waiting(stores: MongoStores) -> tuple[SessionId, Lease]:
    session_id = await stores.session()
    await stores.sessions.update(session_id, ANNA, {"options": {"enable_plan_mode": True, "max_turns": 5}})
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    called = ToolCalled(call_id="c", name="exit_plan_mode", arguments={}, phrase="")
    await stores.ledger.record(lease, [NewEvent(payload=called)])
    wait = Wait(id="p", subject=Plan(call_id="c", plan=TEXT), expires_s=60)
    assert await stores.ledger.wait(lease, [wait], read_seq=accepted.seq)
    return session_id, lease


async def stored(stores: MongoStores, session_id: SessionId, *kinds: type) -> list[object]:
    events = await stores.log.read(session_id, after=0, limit=100)
    return [event.payload for event in events if isinstance(event.payload, kinds)]


async def test_an_approved_plan_ends_plan_mode_with_the_decision(stores: MongoStores) -> None:
    session_id, lease = await waiting(stores)
    (proposed,) = await stored(stores, session_id, PlanProposed)
    assert isinstance(proposed, PlanProposed)
    assert (proposed.plan, proposed.call_id) == (TEXT, "c")
    resolved = await stores.waits.answer(session_id, ANNA, "p", APPROVE)
    assert (resolved.run_id, resolved.is_queued) == (lease.run.id, True)
    options = {"enable_plan_mode": False, "max_turns": 5}
    assert (await stores.sessions.get(session_id, ANNA)).options == options
    decided, finished, updated = await stored(stores, session_id, PlanDecided, ToolFinished, SessionUpdated)
    assert decided == PlanDecided(plan_id="p", decision="approve", by="user")
    assert isinstance(finished, ToolFinished)
    assert (finished.call_id, finished.success) == ("c", True)
    assert updated == SessionUpdated(options=options, changed_options=["enable_plan_mode"])


async def test_a_rejected_plan_keeps_it_and_tells_the_feedback(stores: MongoStores) -> None:
    session_id, _ = await waiting(stores)
    await stores.waits.answer(session_id, ANNA, "p", REJECT)
    assert (await stores.sessions.get(session_id, ANNA)).options["enable_plan_mode"] is True
    decided, finished = await stored(stores, session_id, PlanDecided, ToolFinished, SessionUpdated)
    assert decided == PlanDecided(plan_id="p", decision="reject", feedback="smaller", by="user")
    assert isinstance(finished, ToolFinished)
    assert finished.preview.endswith("They said: smaller")


async def test_of_two_decisions_at_the_same_moment_one_counts(stores: MongoStores) -> None:
    session_id, _ = await waiting(stores)
    answers = (stores.waits.answer(session_id, ANNA, "p", one) for one in (APPROVE, REJECT, APPROVE))
    ends = await asyncio.gather(*answers, return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["PlanDecidedError", "PlanDecidedError", "Resolved"]
    assert len(await stored(stores, session_id, PlanDecided)) == 1


@pytest.mark.parametrize("is_decided", [False, True])
async def test_only_its_owner_decides_and_only_about_a_plan(stores: MongoStores, is_decided: bool) -> None:
    session_id, _ = await waiting(stores)
    if is_decided:
        await stores.waits.answer(session_id, ANNA, "p", REJECT)
        with pytest.raises(PlanDecidedError):
            await stores.waits.answer(session_id, ANNA, "p", APPROVE)
    refused: list[tuple[UserId, str, Answer, type[Exception]]] = [
        (BERT, "p", APPROVE, SessionNotFoundError),
        (ANNA, "other", APPROVE, PlanNotFoundError),
        (ANNA, "p", Answers({"q1": "x"}), QuestionNotFoundError),
        (ANNA, "p", Decision(decision="approve"), ApprovalNotFoundError),
    ]
    for user, wait_id, answer, error in refused:
        with pytest.raises(error):
            await stores.waits.answer(session_id, user, wait_id, answer)


async def test_the_steps_are_those_told_last_up_to_an_event(stores: MongoStores) -> None:
    session_id = await stores.session()
    assert await stores.transcripts.plan(session_id, up_to=9) is None
    first, second = (PlanUpdated(steps=[PlanStep(title=title, status="done")]) for title in ("a", "b"))
    await stores.log.append(session_id, [first, second])
    assert await stores.transcripts.plan(session_id, up_to=1) == first
    assert await stores.transcripts.plan(session_id, up_to=9) == second


async def test_the_tasks_are_those_of_the_highest_version_up_to_an_event(stores: MongoStores) -> None:
    session_id = await stores.session()
    assert await stores.transcripts.tasks(session_id, up_to=9) == []
    dig, plant = Task(id="1", subject="Dig"), Task(id="2", subject="Plant", blocked_by=["1"], metadata={"n": 1})
    lists = [(1, [dig]), (3, [dig, plant]), (2, [plant])]
    told = [TasksUpdated(version=version, last_id=2, tasks=tasks) for version, tasks in lists]
    await stores.log.append(session_id, told)
    assert await stores.transcripts.tasks(session_id, up_to=1) == [dig]
    assert await stores.transcripts.tasks(session_id, up_to=9) == [dig, plant]


async def test_the_todos_are_those_the_main_agent_told_last_up_to_an_event(stores: MongoStores) -> None:
    session_id = await stores.session()
    assert await stores.transcripts.todos(session_id, up_to=9) == []
    dig, plant = (Todo(content=content, status="pending") for content in ("Dig", "Plant"))
    below = TodosUpdated(todos=[plant], agent_id="agent_1")
    await stores.log.append(session_id, [TodosUpdated(todos=[dig]), TodosUpdated(todos=[dig, plant]), below])
    assert await stores.transcripts.todos(session_id, up_to=1) == [dig]
    assert await stores.transcripts.todos(session_id, up_to=9) == [dig, plant]
    await stores.log.append(session_id, [TodosUpdated(todos=[])])
    assert await stores.transcripts.todos(session_id, up_to=9) == []
