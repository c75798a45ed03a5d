"""Calls that wait for a person."""

from __future__ import annotations

import asyncio
from itertools import combinations
from typing import Any

import pytest

from backend_api.agent.approvals import Approval, ApprovalDecidedError, Decision
from backend_api.agent.events import (
    ApprovalCall,
    ApprovalRequested,
    ApprovalResolved,
    Decided,
    MessageUser,
    Question,
    RunFinished,
    RunQueued,
    SessionUpdated,
    SubagentFinished,
    SubagentStarted,
    TeammateUpdated,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.questions import Answers, Questions
from backend_api.agent.waits import Wait, WaitRefusedError
from backend_api.conversations.domain.entity import Lease, RunStatus
from backend_api.conversations.domain.errors import (
    ApprovalNotFoundError,
    QuestionNotFoundError,
    SessionNotFoundError,
)
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, BERT, MongoStores

APPROVE, DENY = Decision(decision="approve"), Decision(decision="deny", feedback=" Not today. ")


async def waiting(
    stores: MongoStores,
    *call_ids: str,
    expires_s: float = 60.0,
    agent_id: str | None = None,
    arguments: dict[str, Any] | None = None,
    asks: bool = True,
) -> tuple[SessionId, Lease, list[ApprovalCall]]:
    """Of a call that does not ask by itself, the rules were changed once it was recorded."""
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    calls = [
        ApprovalCall(call_id=one, name="write", arguments=arguments or {"$what": {"a.b": one}}) for one in call_ids
    ]
    recorded = [
        ToolCalled(
            call_id=call.call_id, name=call.name, arguments=call.arguments, phrase="", asks=asks, agent_id=agent_id
        )
        for call in calls
    ]
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in recorded])
    wait = Wait(id="a", subject=Approval(calls=calls, agent_id=agent_id), expires_s=expires_s)
    assert await stores.ledger.wait(lease, [wait], read_seq=accepted.seq)
    return session_id, lease, calls


async def stored(stores: MongoStores, session_id: SessionId, *kinds: type[Any]) -> list[Any]:
    events = await stores.log.read(session_id, after=0, limit=1_000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return [event.payload for event in events if isinstance(event.payload, kinds)]


async def test_what_is_approved_has_no_result_yet_and_its_run_goes_on(stores: MongoStores) -> None:
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


def nested(depth: int) -> object:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": 2**64 - 1},
        {"a": 10**400},
        {"a\0b": 1, "": 2, "$where": {"c.d": 3}},
        {"a": "\ud83d", "\udc00": 1},
        {"a": nested(400)},
        {"a": "x" * 3_000_000},
    ],
    ids=["64 bits", "long", "keys", "surrogates", "deep", "large"],
)
async def test_whatever_the_arguments_are_they_are_shown_and_decided(
    stores: MongoStores, arguments: dict[str, Any]
) -> None:
    session_id, _, calls = await waiting(stores, *(f"c{number}" for number in range(6)), arguments=arguments)
    (asked,) = await stored(stores, session_id, ApprovalRequested)
    assert asked.calls == calls
    await stores.waits.answer(session_id, ANNA, "a", Decision(decision="approve", call_ids=["c1"]))
    assert (await stores.waits.answer(session_id, ANNA, "a", DENY)).is_queued
    told = await stored(stores, session_id, ApprovalResolved)
    assert [one.call_ids for one in told] == [["c1"], ["c0", "c2", "c3", "c4", "c5"]]


@pytest.mark.parametrize("asks", [True, False])
async def test_what_was_approved_and_stopped_before_a_worker_had_it_never_began(
    stores: MongoStores, asks: bool
) -> None:
    session_id, _, _ = await waiting(stores, "c1", asks=asks)
    await stores.waits.answer(session_id, ANNA, "a", APPROVE)
    await stores.ledger.request_stop(session_id, ANNA)
    (finished,) = await stored(stores, session_id, ToolFinished)
    assert (finished.preview, finished.has_begun) == ("Not begun. Stopped.", False)


async def test_what_is_denied_has_its_result_with_what_the_person_said(stores: MongoStores) -> None:
    session_id, _, _ = await waiting(stores, "c1")
    await stores.waits.answer(session_id, ANNA, "a", DENY)
    (finished,) = await stored(stores, session_id, ToolFinished)
    assert (finished.success, finished.has_begun) == (False, False)
    assert finished.preview.startswith("User denied this tool call")
    assert finished.preview.endswith("They said: Not today.")


async def test_calls_are_decided_one_by_one_and_none_twice(stores: MongoStores) -> None:
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


@pytest.mark.parametrize("decision", ["approve", "approve_all", "deny"])
async def test_a_decision_after_the_deadline_is_refused_before_anybody_looked(
    stores: MongoStores, decision: Decided
) -> None:
    session_id, lease, _ = await waiting(stores, "c1", "c2", expires_s=-1)
    before = (await stores.sessions.get(session_id, ANNA)).options
    for chosen in (None, ["c1"]):
        with pytest.raises(ApprovalDecidedError, match="c1, c2 denied as nobody decided in time"):
            await stores.waits.answer(session_id, ANNA, "a", Decision(decision=decision, call_ids=chosen))
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id) is None
    assert (await stores.sessions.get(session_id, ANNA)).options == before
    assert await stores.waits.expire(lease.run.id) is not None
    (told,) = await stored(stores, session_id, ApprovalResolved)
    assert (told.decision, told.by) == ("deny", "timeout")
    assert [one.call_id for one in await stored(stores, session_id, ToolFinished)] == ["c1", "c2"]


async def test_an_approval_is_its_owners_and_no_question(stores: MongoStores) -> None:
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


async def test_to_approve_all_ends_asking_in_the_session(stores: MongoStores) -> None:
    session_id, _, _ = await waiting(stores, "c1")
    await stores.sessions.update(session_id, ANNA, {"options": {"enable_approval": True, "max_turns": 5}})
    await stores.waits.answer(session_id, ANNA, "a", Decision(decision="approve_all"))
    options = {"enable_approval": False, "asked_tools": [], "max_turns": 5}
    assert (await stores.sessions.get(session_id, ANNA)).options == options
    assert [one.options for one in await stored(stores, session_id, SessionUpdated)] == [options]
    lease = await stores.ledger.claim("w2", lease_s=30, model="m")
    assert lease is not None
    assert lease.options.enable_approval is False


async def test_a_stop_gives_each_call_its_result_whether_it_was_decided_or_not(stores: MongoStores) -> None:
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


async def test_a_call_that_a_worker_had_since_is_no_more_said_not_to_have_begun(stores: MongoStores) -> None:
    session_id, lease, _ = await waiting(stores, "c1")
    await stores.waits.answer(session_id, ANNA, "a", APPROVE)
    again = await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id)
    assert again is not None
    await stores.ledger.record(again, [NewEvent(payload=ToolFinished(call_id="c1", success=True, preview="done"))])
    await stores.ledger.wait(again, [Wait(id="b", subject=Approval(calls=[]), expires_s=60)], read_seq=9)
    await stores.ledger.request_stop(session_id, ANNA)
    assert len(await stored(stores, session_id, ToolFinished)) == 1


COMING = ("approve", "deny", "deadline", "message", "interrupt", "stop")


@pytest.mark.parametrize("coming", list(combinations(COMING, 3)), ids="-".join)
async def test_whatever_comes_at_once_decides_a_call_once(stores: MongoStores, coming: tuple[str, ...]) -> None:
    for order in (coming, coming[::-1]):
        await decides_once(stores, order)


async def decides_once(stores: MongoStores, order: tuple[str, ...]) -> None:
    # Nothing but the deadline comes after it.
    session_id, lease, _ = await waiting(stores, "c1", expires_s=-1 if "deadline" in order else 60)

    async def happen(what: str) -> None:
        match what:
            case "approve":
                await stores.waits.answer(session_id, ANNA, "a", APPROVE)
            case "deny":
                await stores.waits.answer(session_id, ANNA, "a", DENY)
            case "deadline":
                await stores.waits.expire(lease.run.id)
            case "message" | "interrupt":
                message = MessageUser(message_id=what, text="no")
                await stores.ledger.accept(session_id, ANNA, message, interrupt=what == "interrupt")
            case _:
                await stores.ledger.request_stop(session_id, ANNA)

    together = await asyncio.gather(*(happen(what) for what in order), return_exceptions=True)
    assert all(fault is None or isinstance(fault, ApprovalDecidedError) for fault in together), together
    (told,) = await stored(stores, session_id, ApprovalResolved)
    assert told.by != "message" or "interrupt" in order
    assert len(await stored(stores, session_id, MessageUser)) == 1 + sum(
        one in ("message", "interrupt") for one in order
    )
    results = await stored(stores, session_id, ToolFinished)
    is_stopped = "stop" in order
    if told.decision == "deny":
        assert len(results) == 1
    else:
        assert len(results) <= is_stopped
    queued = [one.run_id for one in await stored(stores, session_id, RunQueued)]
    assert queued.count(lease.run.id) <= 2


ENDINGS = ("approve one", "deny two", "deadline", "interrupt", "stop")
WITH_ALL = [("approve all", "deny two", other) for other in (*ENDINGS, "message") if other != "deny two"]
WITH_MESSAGE = [("approve one", "message", "deny two"), ("message", "deadline"), ("message", "interrupt", "stop")]


async def waiting_below(
    stores: MongoStores,
    *,
    expires_s: float = 60.0,
    late: tuple[str, ...] = (),
    held: tuple[str, ...] = (),
    asking: bool = False,
) -> tuple[SessionId, Lease]:
    """A run two of whose agents wait, each for the approval of its name's call; both calls they work on are open. The
    deadline of those that are `late` has passed, and a provider holds back what those that are `held` ask for; the main
    agent may be `asking` a question."""
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    names = ("one", "two")
    above = [ToolCalled(call_id=f"task_{name}", name="task", arguments={}, phrase="") for name in names]
    below = [
        ToolCalled(call_id=name, name="write", arguments={}, phrase="", asks=True, agent_id=f"agent_task_{name}")
        for name in names
    ]
    agents = [
        SubagentStarted(subagent_id=f"agent_task_{name}", kind="general", task=name, parent_call_id=f"task_{name}")
        for name in names
    ]
    used = [
        UsageUpdated(usage=Usage(input=2 + number), agent_usage=Usage(input=1 + number), agent_id=f"agent_task_{name}")
        for number, name in enumerate(names)
    ]
    payloads = (UsageUpdated(usage=Usage(input=1)), *above, *agents, *used, *below)
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in payloads])
    waits = [
        Wait(
            id=f"wait_{name}",
            subject=Approval(
                calls=[ApprovalCall(call_id=name, name="write", arguments={})],
                agent_id=f"agent_task_{name}",
                is_held_back=name in held,
            ),
            expires_s=-1 if name in late else expires_s,
        )
        for name in names
    ]
    if asking:
        question = Question(id="q1", text="Which colour?", options=["red"])
        waits.append(Wait(id="ask", subject=Questions(call_id="call_ask", questions=[question]), expires_s=60))
    assert await stores.ledger.wait(lease, waits, read_seq=0)
    return session_id, lease


async def test_all_that_is_told_of_an_approval_is_its_agents(stores: MongoStores) -> None:
    session_id, lease = await waiting_below(stores)
    first = await stores.waits.answer(session_id, ANNA, "wait_one", APPROVE)
    assert not first.is_queued
    assert await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id) is None
    assert (await stores.waits.answer(session_id, ANNA, "wait_two", DENY)).is_queued
    told = await stored(stores, session_id, ApprovalRequested, ApprovalResolved, ToolFinished)
    owners = {"one": "agent_task_one", "two": "agent_task_two"}
    assert [one.agent_id for one in told] == [owners[name] for name in ("one", "two", "one", "two", "two")]


async def test_to_approve_all_approves_what_the_other_agents_of_the_run_ask_for(stores: MongoStores) -> None:
    session_id, lease = await waiting_below(stores)
    resolved = await stores.waits.answer(session_id, ANNA, "wait_two", Decision(decision="approve_all"))
    assert (resolved.run_id, resolved.is_queued) == (lease.run.id, True)
    told = await stored(stores, session_id, ApprovalResolved)
    assert [(one.approval_id, one.call_ids, one.agent_id) for one in told] == [
        ("wait_two", ["two"], "agent_task_two"),
        ("wait_one", ["one"], "agent_task_one"),
    ]
    assert {(one.decision, one.by) for one in told} == {("approve_all", "user")}
    assert await stored(stores, session_id, ToolFinished) == []
    assert len(await stored(stores, session_id, SessionUpdated)) == 1
    with pytest.raises(ApprovalDecidedError, match="one approved by the user"):
        await stores.waits.answer(session_id, ANNA, "wait_one", DENY)


async def test_to_approve_named_calls_and_ask_no_more_approves_no_others(stores: MongoStores) -> None:
    session_id, _ = await waiting_below(stores)
    chosen = Decision(decision="approve_all", call_ids=["two"])
    assert not (await stores.waits.answer(session_id, ANNA, "wait_two", chosen)).is_queued
    assert [one.call_ids for one in await stored(stores, session_id, ApprovalResolved)] == [["two"]]
    assert (await stores.waits.answer(session_id, ANNA, "wait_one", DENY)).is_queued


async def test_to_approve_all_approves_nothing_that_a_provider_holds_back_from_another_agent(
    stores: MongoStores,
) -> None:
    session_id, _ = await waiting_below(stores, held=("one",))
    assert not (await stores.waits.answer(session_id, ANNA, "wait_two", Decision(decision="approve_all"))).is_queued
    assert [one.call_ids for one in await stored(stores, session_id, ApprovalResolved)] == [["two"]]
    assert (await stores.waits.answer(session_id, ANNA, "wait_one", Decision(decision="approve_all"))).is_queued


async def test_to_approve_all_approves_nothing_after_its_deadline_and_answers_no_question(
    stores: MongoStores,
) -> None:
    session_id, lease = await waiting_below(stores, late=("one",), asking=True)
    assert not (await stores.waits.answer(session_id, ANNA, "wait_two", Decision(decision="approve_all"))).is_queued
    assert await stores.waits.expire(lease.run.id) is not None
    told = await stored(stores, session_id, ApprovalResolved)
    assert [(one.call_ids, one.decision, one.by) for one in told] == [
        (["two"], "approve_all", "user"),
        (["one"], "deny", "timeout"),
    ]
    assert (await stores.waits.answer(session_id, ANNA, "ask", Answers({"q1": "red"}))).is_queued


async def test_no_agent_waits_where_a_message_that_interrupts_came_first(stores: MongoStores) -> None:
    for coming in (["redirect"], ["redirect", "stop"]):
        session_id = await stores.session()
        accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
        lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
        assert lease is not None
        message = MessageUser(message_id="n", text="leave that")
        await stores.ledger.accept(session_id, ANNA, message, interrupt=True)
        if "stop" in coming:
            await stores.ledger.request_stop(session_id, ANNA)
        wait = Wait(id="a", subject=Approval(calls=[], agent_id="agent_c"), expires_s=60)
        with pytest.raises(WaitRefusedError) as refused:
            await stores.ledger.wait(lease, [wait], read_seq=0)
        assert refused.value.by == ("stop" if "stop" in coming else "message")
        assert not await stored(stores, session_id, ApprovalRequested)
        inbox = await stores.ledger.renew(lease, lease_s=30)
        assert [message.kind for message in inbox] == coming
        await stores.ledger.record(lease, [], handled=inbox[-1].number)
        assert await stores.ledger.wait(lease, [wait], read_seq=0)


async def test_a_stop_ends_the_calls_that_agents_work_on_after_theirs(stores: MongoStores) -> None:
    session_id, _ = await waiting_below(stores)
    await stores.waits.answer(session_id, ANNA, "wait_one", APPROVE)
    await stores.ledger.request_stop(session_id, ANNA)
    results = await stored(stores, session_id, ToolFinished)
    assert [one.call_id for one in results] == ["two", "one", "task_one", "task_two"]
    assert [one.agent_id for one in results] == ["agent_task_two", "agent_task_one", None, None]
    assert all(one.cancelled for one in results)
    assert ["may have happened" in one.preview for one in results] == [False, False, True, True]


async def test_a_stop_ends_each_agent_right_after_the_call_it_works_on(stores: MongoStores) -> None:
    session_id, lease = await waiting_below(stores, expires_s=-1)
    await stores.waits.expire(lease.run.id)
    again = await stores.ledger.claim("w2", lease_s=30, model="m", run_id=lease.run.id)
    assert again is not None
    # The one agent is done, the other one waits again.
    told = [
        ToolFinished(call_id="task_one", success=True, preview="found"),
        SubagentFinished(subagent_id="agent_task_one", summary="found"),
    ]
    await stores.ledger.record(again, [NewEvent(payload=payload) for payload in told])
    wait = Wait(id="again", subject=Approval(calls=[], agent_id="agent_task_two"), expires_s=60)
    await stores.ledger.wait(again, [wait], read_seq=0)
    await stores.ledger.request_stop(session_id, ANNA)
    one, two = await stored(stores, session_id, SubagentFinished)
    assert one == told[1]
    assert two == SubagentFinished(
        subagent_id="agent_task_two",
        summary="Stopped before it ended. Part of it may have happened.",
        usage=Usage(input=2),
        tool_count=1,
    )
    *_, result, end, finished = await stored(stores, session_id, ToolFinished, SubagentFinished, RunFinished)
    assert (result.call_id, end, finished.usage) == ("task_two", two, Usage(input=3))


ORDERS = {"-".join(coming): [coming, coming[::-1]] for coming in combinations(ENDINGS, 3)}
ORDERS |= {"with all": WITH_ALL, "with message": WITH_MESSAGE}


@pytest.mark.parametrize("orders", ORDERS.values(), ids=ORDERS)
async def test_whatever_comes_at_once_decides_each_agents_call_once(
    stores: MongoStores, orders: list[tuple[str, ...]]
) -> None:
    for order in orders:
        await decides_each_once(stores, order)


async def decides_each_once(stores: MongoStores, order: tuple[str, ...]) -> None:
    session_id, lease = await waiting_below(stores, expires_s=-1 if "deadline" in order else 60)

    async def happen(what: str) -> None:
        match what:
            case "approve one":
                await stores.waits.answer(session_id, ANNA, "wait_one", APPROVE)
            case "approve all":
                await stores.waits.answer(session_id, ANNA, "wait_one", Decision(decision="approve_all"))
            case "deny two":
                await stores.waits.answer(session_id, ANNA, "wait_two", DENY)
            case "deadline":
                await stores.waits.expire(lease.run.id)
            case "message" | "interrupt":
                message = MessageUser(message_id=what, text="no")
                await stores.ledger.accept(session_id, ANNA, message, interrupt=what == "interrupt")
            case _:
                await stores.ledger.request_stop(session_id, ANNA)

    together = await asyncio.gather(*(happen(what) for what in order), return_exceptions=True)
    assert all(fault is None or isinstance(fault, ApprovalDecidedError) for fault in together), together
    decided = [call_id for told in await stored(stores, session_id, ApprovalResolved) for call_id in told.call_ids]
    results = [one.call_id for one in await stored(stores, session_id, ToolFinished)]
    assert sorted(decided) == ["one", "two"]
    assert len(results) == len(set(results))
    is_stopped = "stop" in order
    assert {"task_one", "task_two"} <= set(results) if is_stopped else not {"task_one", "task_two"} & set(results)
    assert not is_stopped or set(results) == {"one", "two", "task_one", "task_two"}
    run = await stores.ledger.get(lease.run.id)
    assert run is not None
    assert run.status == (RunStatus.STOPPED if is_stopped else RunStatus.QUEUED)
    woken = [one.run_id for one in await stored(stores, session_id, RunQueued)].count(lease.run.id) - 1
    assert woken <= 1 if is_stopped else woken == 1


async def test_a_stop_ends_calls_of_a_team_that_are_older_than_the_last_turn(stores: MongoStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    amy = TeammateUpdated(
        agent_id="teammate_s", name="amy", role="digs", status="working", parent_call_id="s", prompt="dig"
    )
    asks = ToolCalled(call_id="w", name="write", arguments={}, phrase="", asks=True, agent_id="teammate_s")
    payloads = (UsageUpdated(usage=Usage(input=1)), amy, asks, UsageUpdated(usage=Usage(input=2)))
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in payloads])
    approval = Approval(calls=[ApprovalCall(call_id="w", name="write", arguments={})], agent_id="teammate_s")
    assert await stores.ledger.wait(lease, [Wait(id="ask", subject=approval, expires_s=60)], read_seq=0)
    await stores.ledger.request_stop(session_id, ANNA)
    told = [event.payload for event in await stores.log.read(session_id, after=0, limit=100)]
    (ended,) = [payload for payload in told if isinstance(payload, ToolFinished)]
    assert (ended.call_id, ended.agent_id, ended.cancelled) == ("w", "teammate_s", True)
    assert [(one.status, one.reason) for one in told if isinstance(one, TeammateUpdated)] == [
        ("working", None),
        ("left", "run_ended"),
    ]
    assert isinstance(told[-1], RunFinished)
