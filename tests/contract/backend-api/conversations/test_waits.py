"""Runs that wait without a process: `Waits`, and its double."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import pytest

from backend_api.agent.events import (
    Event,
    MessageUser,
    Question,
    QuestionAnswered,
    QuestionAsked,
    RunFinished,
    RunQueued,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.questions import Answers, Questions
from backend_api.agent.waits import Wait, WaitRefusedError
from backend_api.conversations.domain.entity import Accepted, Lease, RunStatus
from backend_api.conversations.domain.errors import (
    LeaseLostError,
    QuestionAnsweredError,
    QuestionNotFoundError,
    SessionNotFoundError,
)
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, BERT, DOUBLES_TOO, ConversationStores

pytestmark = DOUBLES_TOO
COLOUR = Question(id="q1", text="Which colour?", options=["red", "blue"], allow_text=False)
RED = Answers({"q1": "red"})


async def say(stores: ConversationStores, session_id: SessionId, text: str, *, interrupt: bool = False) -> Accepted:
    message = MessageUser(message_id=f"m-{text}", text=text)
    return await stores.ledger.accept(session_id, ANNA, message, interrupt=interrupt)


async def waiting(stores: ConversationStores, *ids: str, expires_s: float = 60.0) -> tuple[SessionId, Lease]:
    session_id = await stores.session()
    accepted = await say(stores, session_id, "hello")
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    calls = [ToolCalled(call_id=f"call-{one}", name="ask_user", arguments={}, phrase="") for one in ids]
    used = UsageUpdated(usage=Usage(input=7))
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in (*calls, used)])
    waits = [
        Wait(id=one, subject=Questions(call_id=f"call-{one}", questions=[COLOUR]), expires_s=expires_s) for one in ids
    ]
    assert await stores.ledger.wait(lease, waits, read_seq=accepted.seq)
    return session_id, lease


async def stored(stores: ConversationStores, session_id: SessionId, *kinds: type[Any]) -> list[Any]:
    events: Sequence[Event] = await stores.log.read(session_id, after=0, limit=1_000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return [event.payload for event in events if isinstance(event.payload, kinds)]


async def test_a_run_that_waits_has_no_worker_and_goes_on_with_the_answer(stores: ConversationStores) -> None:
    session_id, lease = await waiting(stores, "a")
    session = await stores.sessions.get(session_id, ANNA)
    run = await stores.ledger.get(lease.run.id)
    assert run is not None
    assert (session.status.value, run.status, run.worker) == ("waiting", RunStatus.WAITING, None)
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id) is None
    with pytest.raises(LeaseLostError):
        await stores.ledger.renew(lease, lease_s=30)
    with pytest.raises(LeaseLostError):
        await stores.ledger.record(lease, [NewEvent(payload=UsageUpdated(usage=Usage()))])

    resolved = await stores.waits.answer(session_id, ANNA, "a", RED)

    assert (resolved.run_id, resolved.is_queued) == (lease.run.id, True)
    (asked,) = await stored(stores, session_id, QuestionAsked)
    assert (asked.question_id, asked.call_id, asked.questions) == ("a", "call-a", [COLOUR])
    assert asked.expires_at is not None
    (answered,) = await stored(stores, session_id, QuestionAnswered)
    assert (answered.answers, answered.by) == (RED.answers, "user")
    (finished,) = await stored(stores, session_id, ToolFinished)
    assert (finished.success, "> red" in finished.preview) == (True, True)
    queued = await stored(stores, session_id, RunQueued)
    assert [(one.cause, one.message_id) for one in queued] == [("message", "m-hello"), ("answer", None)]
    again = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert again is not None
    assert (again.run.id, again.run.attempt - again.run.releases) == (lease.run.id, 1)
    assert not again.taken_over


async def test_an_answer_is_checked_and_counts_once(stores: ConversationStores) -> None:
    session_id, _ = await waiting(stores, "a")
    for answers in ({}, {"q1": "green"}, {"q2": "red"}, {"q1": " "}, {**RED.answers, "q2": "x"}):
        with pytest.raises(InvalidError):
            await stores.waits.answer(session_id, ANNA, "a", Answers(answers))
    with pytest.raises(QuestionNotFoundError):
        await stores.waits.answer(session_id, ANNA, "b", RED)
    with pytest.raises(SessionNotFoundError):
        await stores.waits.answer(session_id, BERT, "a", RED)
    await stores.waits.answer(session_id, ANNA, "a", RED)
    with pytest.raises(QuestionAnsweredError):
        await stores.waits.answer(session_id, ANNA, "a", Answers({"q1": "blue"}))
    assert len(await stored(stores, session_id, QuestionAnswered)) == 1


async def test_a_run_goes_on_when_the_last_of_its_questions_is_answered(stores: ConversationStores) -> None:
    session_id, lease = await waiting(stores, "a", "b")
    first = await stores.waits.answer(session_id, ANNA, "b", RED)
    assert not first.is_queued
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id) is None
    assert (await stores.waits.answer(session_id, ANNA, "a", RED)).is_queued
    assert len(await stored(stores, session_id, ToolFinished)) == 2


async def test_a_message_that_interrupts_is_an_answer_of_its_own(stores: ConversationStores) -> None:
    session_id, lease = await waiting(stores, "a", "b")
    accepted = await say(stores, session_id, "never mind", interrupt=True)
    assert accepted.run_id == lease.run.id
    assert isinstance(accepted.events[-1].payload, RunQueued)
    assert [one.by for one in await stored(stores, session_id, QuestionAnswered)] == ["message", "message"]
    with pytest.raises(QuestionAnsweredError):
        await stores.waits.answer(session_id, ANNA, "a", RED)


async def test_any_other_message_joins_the_run_that_goes_on_waiting(stores: ConversationStores) -> None:
    session_id, lease = await waiting(stores, "a")
    before = await stores.sessions.get(session_id, ANNA)
    accepted = await say(stores, session_id, "and this")
    assert (accepted.run_id, accepted.seq, accepted.duplicate) == (lease.run.id, before.last_seq + 1, False)
    assert [type(event.payload) for event in accepted.events] == [MessageUser]
    assert await stored(stores, session_id, QuestionAnswered, ToolFinished) == []
    run = await stores.ledger.get(lease.run.id)
    assert run is not None
    session = await stores.sessions.get(session_id, ANNA)
    assert (run.status, session.status.value) == (RunStatus.WAITING, "waiting")
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id) is None

    assert (await stores.waits.answer(session_id, ANNA, "a", RED)).is_queued
    again = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert again is not None
    assert (again.run.id, again.messages) == (lease.run.id, ())
    # Unread, it keeps the run from its end, and gets a run of its own where it fails.
    done = RunFinished(run_id=lease.run.id, status="completed")
    assert await stores.ledger.finish(again, done, seen_seq=accepted.seq - 1) == []
    failed = RunFinished(run_id=lease.run.id, status="failed")
    assert await stores.ledger.finish(again, failed, seen_seq=accepted.seq - 1)
    queued = await stored(stores, session_id, RunQueued)
    assert [one.message_id for one in queued] == ["m-hello", None, "m-and this"]


async def test_a_stop_ends_the_run_with_what_it_used(stores: ConversationStores) -> None:
    session_id, lease = await waiting(stores, "a")
    stopped = await stores.ledger.request_stop(session_id, ANNA)
    assert stopped is not None
    assert (stopped.id, stopped.status) == (lease.run.id, RunStatus.STOPPED)
    (finished,) = await stored(stores, session_id, RunFinished)
    assert (finished.status, finished.usage.input) == ("stopped", 7)
    (result,) = await stored(stores, session_id, ToolFinished)
    assert result.cancelled
    with pytest.raises(QuestionAnsweredError):
        await stores.waits.answer(session_id, ANNA, "a", RED)
    assert (await stores.sessions.get(session_id, ANNA)).status.value == "idle"


async def test_a_deadline_passes_by_the_stores_clock(stores: ConversationStores) -> None:
    _, later = await waiting(stores, "late", expires_s=60)
    assert await stores.waits.expire(later.run.id) is None
    session_id, lease = await waiting(stores, "a", expires_s=-1)
    assert await stores.waits.due() == [lease.run.id]
    resolved = await stores.waits.expire(lease.run.id)
    assert resolved is not None
    assert (resolved.run_id, resolved.is_queued) == (lease.run.id, True)
    assert await stores.waits.expire(lease.run.id) is None
    assert await stores.waits.due() == []
    (answered,) = await stored(stores, session_id, QuestionAnswered)
    assert (answered.answers, answered.by) == (None, "timeout")


async def test_an_answer_after_the_deadline_is_refused_before_anybody_looked(stores: ConversationStores) -> None:
    session_id, lease = await waiting(stores, "a", expires_s=-1)
    with pytest.raises(QuestionAnsweredError):
        await stores.waits.answer(session_id, ANNA, "a", RED)
    assert await stored(stores, session_id, QuestionAnswered, ToolFinished) == []
    assert await stores.waits.expire(lease.run.id) is not None
    assert [one.by for one in await stored(stores, session_id, QuestionAnswered)] == ["timeout"]


async def test_nothing_waits_where_a_message_that_interrupts_or_a_stop_came_first(stores: ConversationStores) -> None:
    for coming in (["message"], ["stop"], ["message", "stop"]):
        session_id = await stores.session()
        accepted = await say(stores, session_id, "hello")
        lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
        assert lease is not None
        if "message" in coming:
            await say(stores, session_id, "wait", interrupt=True)
        if "stop" in coming:
            await stores.ledger.request_stop(session_id, ANNA)
        wait = Wait(id="a", subject=Questions(call_id="c", questions=[COLOUR]), expires_s=60)
        with pytest.raises(WaitRefusedError) as refused:
            await stores.ledger.wait(lease, [wait], read_seq=accepted.seq)
        assert refused.value.by == coming[-1]
        assert not await stored(stores, session_id, QuestionAsked)
        await stores.ledger.renew(lease, lease_s=30)


@pytest.mark.parametrize("is_read", [False, True])
async def test_a_run_waits_whatever_else_was_said_before(stores: ConversationStores, is_read: bool) -> None:
    session_id = await stores.session()
    accepted = await say(stores, session_id, "hello")
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    said = await say(stores, session_id, "wait", interrupt=is_read)
    wait = Wait(id="a", subject=Questions(call_id="c", questions=[COLOUR]), expires_s=60)
    # One that interrupts is over with where the model was given it, though nobody has taken it out of the inbox.
    read_seq = said.seq if is_read else accepted.seq
    assert await stores.ledger.wait(lease, [wait], read_seq=read_seq)
    assert (await stores.sessions.get(session_id, ANNA)).status.value == "waiting"
    assert (await stores.waits.answer(session_id, ANNA, "a", RED)).is_queued


COMING = ("answer", "deadline", "message", "interrupt", "stop")


@pytest.mark.parametrize("is_at_once", [True, False], ids=["at once", "one by one"])
@pytest.mark.parametrize("coming", list(combinations(COMING, 3)), ids="-".join)
async def test_whatever_comes_in_whichever_order_or_at_once_ends_a_wait_once(
    stores: ConversationStores, coming: tuple[str, ...], is_at_once: bool
) -> None:
    # At once, who is sent first is first only now and then.
    for order in (coming, coming[::-1]) if is_at_once else permutations(coming):
        await ends_once(stores, order, is_at_once=is_at_once)


async def ends_once(stores: ConversationStores, order: tuple[str, ...], *, is_at_once: bool) -> None:
    session_id, lease = await waiting(stores, "a", expires_s=-1 if "deadline" in order else 60)

    async def happen(what: str) -> None:
        match what:
            case "answer":
                await stores.waits.answer(session_id, ANNA, "a", RED)
            case "deadline":
                await stores.waits.expire(lease.run.id)
            case "message" | "interrupt":
                said.append(await say(stores, session_id, what, interrupt=what == "interrupt"))
            case _:
                await stores.ledger.request_stop(session_id, ANNA)

    said: list[Accepted] = []
    if is_at_once:
        together = await asyncio.gather(*(happen(what) for what in order), return_exceptions=True)
    else:
        together = [(await asyncio.gather(happen(what), return_exceptions=True))[0] for what in order]
    assert all(fault is None or isinstance(fault, QuestionAnsweredError) for fault in together), together
    (answered,) = await stored(stores, session_id, QuestionAnswered)
    assert answered.by != "message" or "interrupt" in order
    assert len(await stored(stores, session_id, ToolFinished)) == 1
    await kept_once(stores, session_id, lease, said)
    queued = [one.run_id for one in await stored(stores, session_id, RunQueued)]
    ended = [one.run_id for one in await stored(stores, session_id, RunFinished)]
    assert ended.count(lease.run.id) <= 1
    assert queued.count(lease.run.id) <= 2


async def kept_once(stores: ConversationStores, session_id: SessionId, lease: Lease, said: Sequence[Accepted]) -> None:
    """Each message is this run's, or that of the one run after it."""
    kept = [one.message_id for one in await stored(stores, session_id, MessageUser)]
    assert sorted(kept) == sorted(["m-hello", *(one.message_id for one in said)])
    later = [one for one in said if one.run_id != lease.run.id]
    queued = [one for one in await stored(stores, session_id, RunQueued) if one.run_id != lease.run.id]
    active = (await stores.sessions.get(session_id, ANNA)).active_run_id
    assert [one.run_id for one in queued] == ([active] if later else [])
    assert {one.run_id for one in later} <= {active}
    if later:
        assert queued[0].message_id == min(later, key=lambda one: one.seq).message_id
