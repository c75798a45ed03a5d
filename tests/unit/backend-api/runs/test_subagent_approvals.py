"""An agent that works for another one asks the person too: the whole run waits, and goes on inside that agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend_api.agent.approvals import Decision
from backend_api.agent.events import (
    ApprovalRequested,
    ApprovalResolved,
    MessageCompleted,
    RunQueued,
    SubagentStarted,
    ToolCalled,
    ToolFinished,
    ToolStarted,
)
from backend_api.agent.model import TextPart, ToolTurn, UserTurn
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.kit.background_tasks import background_task
from backend_api.kit.ids import SessionId
from backend_api.runs.application.expire_waits import ExpireWaits
from backend_api.runs.application.run_services import RunOptions
from support.acting import CALLS, STOP, USED, Acting, DiesAfter, Tools, asked, call, hand_on
from support.memory.run_waits import MemoryWaits
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, OnOutput
from support.stage import USER, Stage, until, worker_for, working

APPROVE, DENY = Decision(decision="approve"), Decision(decision="deny", feedback="Not there.")


def act(task: str, number: int) -> list[Any]:
    """One that is told to `write` does so twice, any other one looks twice."""
    tool = "write" if "write" in task else "look"
    if number < 2:
        return [USED, TextPart(f"{task}: step {number}. "), call(tool, what=f"{task} {number}"), CALLS]
    return [USED, TextPart(f"{task}: done."), STOP]


def box() -> HandlerBox:
    tools = HandlerBox()

    async def run(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        del context, on_output
        return Done(success=True, output=f"did {arguments['what']}")

    tools.add("write", run)
    tools.add("look", run, read_only=True)
    return tools


def did(tools: HandlerBox) -> list[str]:
    return sorted(arguments["what"] for _, arguments in tools.started)


async def begin(stage: Stage) -> SessionId:
    return await stage.open_session(title="named", enable_approval=True)


async def waits(
    stage: Stage, model: Acting, tools: HandlerBox, session: SessionId | None = None
) -> tuple[SessionId, RunId]:
    session = session or await begin(stage)
    async with working(worker_for(stage, model, Tools(tools), name="first")):
        run = await stage.say(session, "go")
        await until_waiting(stage, run)
    return session, run


async def until_waiting(stage: Stage, run: RunId) -> None:
    await until(lambda: stage.run(run).status == RunStatus.WAITING)


def open_approvals(stage: Stage, session: SessionId) -> list[ApprovalRequested]:
    over = {call_id for told in stage.payloads(session, ApprovalResolved) for call_id in told.call_ids}
    requested = stage.payloads(session, ApprovalRequested)
    return [one for one in requested if not {asking.call_id for asking in one.calls} <= over]


async def decide(stage: Stage, session: SessionId, approval: ApprovalRequested, decision: Decision) -> None:
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    await answer(session, USER, approval.approval_id, decision)


async def ends(stage: Stage, model: Acting, tools: HandlerBox, session: SessionId, run: RunId) -> str:
    """What comes of it when everything else that is asked is approved."""
    async with working(worker_for(stage, model, Tools(tools), name="second")):
        while True:
            await until(lambda: stage.run(run).status.is_end or stage.run(run).status == RunStatus.WAITING)
            if stage.run(run).status.is_end:
                return stage.run(run).status.value
            for approval in open_approvals(stage, session):
                await decide(stage, session, approval, APPROVE)


def results_for(model: Acting, task: str | None) -> list[str]:
    return [turn.output for turn in model.of(task)[-1].turns if isinstance(turn, ToolTurn)]


async def test_the_run_waits_for_it_and_goes_on_inside_it_on_any_worker() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    assert (tools.started, stage.run(run).worker) == ([], None)
    (started,) = stage.payloads(session, SubagentStarted)
    (approval,) = stage.payloads(session, ApprovalRequested)
    assert (approval.agent_id, [one.name for one in approval.calls]) == (started.subagent_id, ["write"])
    (wait,) = stage.store.runs[run].waits
    assert 299 < (wait.deadline - stage.store.clock()).total_seconds() <= 300
    await decide(stage, session, approval, APPROVE)
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["write 0", "write 1"]
    assert results_for(model, "write") == ["did write 0", "did write 1"]
    assert results_for(model, None) == ["write: done."]
    assert len(stage.payloads(session, SubagentStarted)) == 1
    of_it = [*stage.payloads(session, ToolStarted), *stage.payloads(session, ApprovalResolved)]
    assert {one.agent_id for one in of_it} == {started.subagent_id}
    assert len(model.of("write")) == 3


async def test_what_is_refused_never_runs_and_it_reads_why() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    await decide(stage, session, open_approvals(stage, session)[0], DENY)
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["write 1"]
    assert "User denied this tool call" in results_for(model, "write")[0]
    assert "Not there." in results_for(model, "write")[0]


async def test_the_run_waits_once_all_that_can_work_has_and_nothing_that_is_done_is_done_again() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write a", "look", "write b"), act), box()
    session, run = await waits(stage, model, tools)
    assert did(tools) == ["look 0", "look 1"]
    assert len(model.of("look")) == 3
    (result,) = [one for one in stage.payloads(session, ToolFinished) if one.agent_id is None]
    assert result.preview == "look: done."
    first, second = open_approvals(stage, session)
    assert first.agent_id != second.agent_id
    await decide(stage, session, second, APPROVE)
    assert stage.run(run).status == RunStatus.WAITING
    await decide(stage, session, first, DENY)
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["look 0", "look 1", "write a 1", "write b 0", "write b 1"]
    assert len(model.of("look")) == 3
    assert results_for(model, None) == ["write a: done.", "look: done.", "write b: done."]


async def test_nobody_decides_and_it_goes_on_without() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    (wait,) = stage.store.runs[run].waits
    clock = stage.store.clock
    stage.store.clock = lambda: max(clock(), wait.deadline.replace(year=wait.deadline.year + 1))
    expiry = ExpireWaits(waits=MemoryWaits(stage.store), stream=stage.stream, notifier=stage.notifier, poll_s=0.01)
    async with background_task(expiry.expire_until_cancelled(), "waits"):
        await until(lambda: not open_approvals(stage, session))
    stage.store.clock = clock
    assert await ends(stage, model, tools, session, run) == "completed"
    assert "nobody approved it in time" in results_for(model, "write")[0]
    assert did(tools) == ["write 1"]


async def test_a_stop_ends_all_of_it_and_the_call_it_works_on_last() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write", "look"), act), box()
    session, run = await waits(stage, model, tools)
    await stage.stop(session)
    assert stage.run(run).status == RunStatus.STOPPED
    calls, ended = stage.payloads(session, ToolCalled), stage.payloads(session, ToolFinished)
    assert sorted(one.call_id for one in ended) == sorted(one.call_id for one in calls)
    assert [(one.agent_id is None, one.cancelled) for one in ended[-2:]] == [(False, True), (True, True)]
    assert "write 0" not in did(tools)


async def test_a_stop_after_it_is_approved_and_before_anybody_has_it_says_that_nothing_ran() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    await decide(stage, session, open_approvals(stage, session)[0], APPROVE)
    await stage.stop(session)
    assert stage.run(run).status == RunStatus.STOPPED
    inner, outer = stage.payloads(session, ToolFinished)
    assert (inner.preview, inner.agent_id is None) == ("Not begun. Stopped.", False)
    assert ("may have happened" in outer.preview, outer.agent_id) == (True, None)
    assert tools.started == []


async def test_a_message_refuses_nothing_and_is_read_by_the_one_it_is_for() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    assert await stage.say(session, "how far are you?") == run
    assert not stage.payloads(session, ApprovalResolved)
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["write 0", "write 1"]
    assert model.of(None)[-1].turns[-1] == UserTurn(text="how far are you?")
    assert "how far" not in repr(model.of("write")[-1].turns)


async def test_a_message_that_interrupts_ends_it_and_is_read_next() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    assert await stage.say(session, "leave that", interrupt=True) == run
    assert await ends(stage, model, tools, session, run) == "completed"
    assert len(model.of("write")) == 1
    assert tools.started == []
    result, message = model.of(None)[-1].turns[-2:]
    assert isinstance(result, ToolTurn)
    assert not result.success
    assert message == UserTurn(text="leave that")
    assert stage.store.runs[run].inbox == []


async def test_a_message_that_came_before_it_asks_refuses_nothing() -> None:
    stage, tools = Stage(), box()
    session = await begin(stage)

    async def interject() -> None:
        await stage.say(session, "how far are you?")

    def child(task: str, number: int) -> list[Any]:
        return [*([interject] if number == 0 else []), *act(task, number)]

    model = Acting(hand_on("write"), child)
    _, run = await waits(stage, model, tools, session)
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["write 0", "write 1"]
    assert model.of(None)[-1].turns[-1] == UserTurn(text="how far are you?")


async def test_a_message_that_interrupts_before_it_asks_is_read_and_not_waited_over() -> None:
    stage, tools = Stage(), box()
    session = await begin(stage)

    async def interject() -> None:
        # Nobody hears of it before the next heartbeat.
        stage.notifier.is_silent = True
        await stage.say(session, "leave that", interrupt=True)

    def child(task: str, number: int) -> list[Any]:
        return [*([interject] if number == 0 else []), *act(task, number)]

    model = Acting(hand_on("write"), child)
    options = RunOptions(heartbeat_s=0.4)
    async with working(worker_for(stage, model, Tools(tools), options=options)):
        run = await stage.say(session, "go")
        await until(lambda: stage.run(run).status.is_end or stage.run(run).status == RunStatus.WAITING)
    assert stage.run(run).status == RunStatus.COMPLETED
    assert tools.started == []
    assert model.of(None)[-1].turns[-1] == UserTurn(text="leave that")


async def test_of_two_that_ask_neither_is_refused_by_a_message_that_came_before() -> None:
    stage, tools = Stage(), box()
    session = await begin(stage)

    async def interject() -> None:
        await stage.say(session, "how far are you?")

    def main(number: int) -> list[Any]:
        parts = hand_on("write")(number)
        return [*parts[:-1], call("write", what="mine"), CALLS] if number == 0 else parts

    def child(task: str, number: int) -> list[Any]:
        return [*([interject] if number == 0 else []), *act(task, number)]

    model = Acting(main, child)
    _, run = await waits(stage, model, tools, session)
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["mine", "write 0", "write 1"]
    assert model.of(None)[-1].turns[-1] == UserTurn(text="how far are you?")
    assert len(stage.payloads(session, ApprovalRequested)) == 3


async def test_a_stop_before_the_wait_is_stored_is_done() -> None:
    stage, tools = Stage(), box()
    session = await begin(stage)

    async def stop() -> None:
        await stage.stop(session)

    model = Acting(hand_on("write"), lambda task, number: [*act(task, number), stop])
    async with working(worker_for(stage, model, Tools(tools))):
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "stopped"
    assert tools.started == []
    calls, ended = stage.payloads(session, ToolCalled), stage.payloads(session, ToolFinished)
    assert sorted(one.call_id for one in ended) == sorted(one.call_id for one in calls)


async def test_after_approve_all_it_asks_no_more() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write"), act), box()
    session, run = await waits(stage, model, tools)
    await decide(stage, session, open_approvals(stage, session)[0], Decision(decision="approve_all"))
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["write 0", "write 1"]
    assert len(stage.payloads(session, ApprovalRequested)) == 1


async def test_after_approve_all_nothing_that_another_one_asked_for_is_left_to_decide() -> None:
    stage, model, tools = Stage(), Acting(hand_on("write a", "write b"), act), box()
    session, run = await waits(stage, model, tools)
    await decide(stage, session, open_approvals(stage, session)[0], Decision(decision="approve_all"))
    assert open_approvals(stage, session) == []
    assert await ends(stage, model, tools, session, run) == "completed"
    assert did(tools) == ["write a 0", "write a 1", "write b 0", "write b 1"]
    assert len(stage.payloads(session, ApprovalRequested)) == 2


async def whole() -> tuple[int, dict[str | None, list[Any]]]:
    """How many events there are of a play that nothing disturbs, and what each agent's model reads last."""
    stage, model, tools = Stage(), Acting(hand_on("write a", "write b", "look"), act), box()
    session, run = await waits(stage, model, tools)
    assert await ends(stage, model, tools, session, run) == "completed"
    last = {task: asked(model, task)[-1] for task in (None, "write a", "write b", "look")}
    return len(stage.events(session)), last


@pytest.mark.timeout(240)
@pytest.mark.parametrize("first", [0, *(pytest.param(one, marks=pytest.mark.thorough) for one in range(1, 5))])
async def test_wherever_a_worker_dies_each_call_runs_once_and_every_model_reads_the_same(first: int) -> None:
    events, expected = await whole()
    for cut_at in range(4 + first, events, 5):
        store = MemoryStore()
        ledger = DiesAfter(store, cut_at)
        stage, tools = Stage(store, ledger=ledger), box()
        model = Acting(hand_on("write a", "write b", "look"), act)
        session = await stage.open_session(title="named", enable_approval=True)
        async with working(worker_for(stage, model, Tools(tools))):
            run = await stage.say(session, "go")
            while not ledger.has_died.is_set() and not stage.run(run).status.is_end:
                for approval in open_approvals(stage, session):
                    if stage.run(run).status == RunStatus.WAITING:
                        await decide(stage, session, approval, APPROVE)
                await asyncio.sleep(0.001)
            if ledger.has_died.is_set():
                stage.lapse(run)
            assert await ends(stage, model, tools, session, run) == "completed"
        may_have = "may have happened" in repr(stage.payloads(session, ToolFinished))
        written = [what for what in did(tools) if what.startswith("write")]
        assert len(written) == len(set(written)), (cut_at, written)
        for task, turns in expected.items():
            said = asked(model, task)
            assert may_have or said[-1] == turns, (cut_at, task)
            assert all(said[-1][: len(one)] == one for one in said), (cut_at, task)
        assert len(stage.payloads(session, SubagentStarted)) == 3
        assert len(stage.payloads(session, ToolCalled)) == len(stage.payloads(session, ToolFinished)) == 9
        texts = [said.text for said in stage.payloads(session, MessageCompleted)]
        assert len(texts) == len(set(texts)) == 10
        decided = [call_id for told in stage.payloads(session, ApprovalResolved) for call_id in told.call_ids]
        assert len(decided) == len(set(decided)) == 4
        assert {queued.cause for queued in stage.payloads(session, RunQueued)} == {"message", "answer"}
