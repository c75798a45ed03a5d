"""A run asks before it changes something: what is approved runs once, whoever dies; what is not, never."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.approvals import Decision
from backend_api.agent.events import (
    ApprovalRequested,
    ApprovalResolved,
    RunStarted,
    ToolCalled,
    ToolFinished,
    ToolStarted,
)
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn, UserTurn
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.kit.background_tasks import background_task
from backend_api.kit.ids import SessionId
from backend_api.runs.application.expire_waits import ExpireWaits
from support.memory.run_ledger import MemoryRunLedger
from support.memory.run_waits import MemoryWaits
from support.scripted import HandlerBox, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]
APPROVE, DENY = Decision(decision="approve"), Decision(decision="deny", feedback="Use the other file.")


def calling(*names: str) -> list[Any]:
    calls = [ToolRequest(call_id=f"x{at}", name=name, arguments={"what": at}) for at, name in enumerate(names)]
    return [*map(ToolCallPart, calls), FinishPart("tool_calls")]


def box() -> HandlerBox:
    tools = HandlerBox()

    async def run(*_: Any) -> Done:
        return Done(success=True, output="done")

    tools.add("write", run)
    tools.add("read", run, read_only=True)
    return tools


async def asked(stage: Stage, model: ScriptedModel, tools: HandlerBox, **options: Any) -> tuple[SessionId, RunId]:
    async with working(worker_for(stage, model, tools, name="first")):
        session = await stage.open_session(**{"enable_approval": True} | options)
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
    return session, run_id


async def decide(stage: Stage, session: SessionId, decision: Decision) -> None:
    (*_, requested) = stage.payloads(session, ApprovalRequested)
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    await answer(session, USER, requested.approval_id, decision)


async def goes_on(stage: Stage, model: ScriptedModel, tools: HandlerBox, run_id: RunId) -> str:
    async with working(worker_for(stage, model, tools, name="second")):
        return (await stage.until_finished(run_id)).status


def results(model: ScriptedModel) -> list[ToolTurn]:
    return [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def test_what_reads_runs_at_once_and_what_writes_once_it_is_approved() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write", "read", "write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    assert tools.started == [("read", {"what": 1})]
    (requested,) = stage.payloads(session, ApprovalRequested)
    assert [(call.name, call.arguments) for call in requested.calls] == [("write", {"what": 0}), ("write", {"what": 2})]
    assert [one.asks for one in stage.payloads(session, ToolCalled)] == [True, False, True]
    await decide(stage, session, APPROVE)
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started[1:] == [("write", {"what": 0}), ("write", {"what": 2})]
    assert [turn.output for turn in results(model)] == ["done"] * 3
    assert len(stage.payloads(session, ToolStarted)) == 2


async def test_what_is_denied_never_runs_and_the_model_reads_why() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    await decide(stage, session, DENY)
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == []
    (result,) = results(model)
    assert not result.success
    assert "User denied this tool call" in result.output
    assert "Use the other file." in result.output


async def test_nobody_decides_and_it_is_denied_at_its_deadline() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    (wait,) = stage.store.runs[run_id].waits
    assert 299 < (wait.deadline - stage.store.clock()).total_seconds() <= 300
    clock = stage.store.clock
    stage.store.clock = lambda: max(clock(), wait.deadline.replace(year=wait.deadline.year + 1))
    expiry = ExpireWaits(waits=MemoryWaits(stage.store), stream=stage.stream, notifier=stage.notifier, poll_s=0.01)
    async with background_task(expiry.expire_until_cancelled(), "waits"):
        assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == []
    assert [(one.decision, one.by) for one in stage.payloads(session, ApprovalResolved)] == [("deny", "timeout")]
    assert "nobody approved it in time" in results(model)[0].output


async def test_a_message_that_interrupts_is_read_in_place_of_a_decision() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    assert await stage.say(session, "better not", interrupt=True) == run_id
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == []
    result, message = model.requests[-1].turns[-2:]
    assert isinstance(result, ToolTurn)
    assert "wrote a message instead" in result.output
    assert message == UserTurn(text="better not")


async def test_any_other_message_is_read_after_the_decision() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    assert await stage.say(session, "and hurry") == run_id
    assert not stage.payloads(session, ApprovalResolved)
    await decide(stage, session, Decision(decision="approve"))
    assert await goes_on(stage, model, tools, run_id) == "completed"
    result, message = model.requests[-1].turns[-2:]
    assert isinstance(result, ToolTurn)
    assert (result.output, message) == ("done", UserTurn(text="and hurry"))
    assert len(model.requests) == 2


async def test_a_stop_ends_it_and_nothing_ran() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    await stage.stop(session)
    assert stage.run(run_id).status == RunStatus.STOPPED
    assert (tools.started, len(stage.payloads(session, ToolFinished))) == ([], 1)


async def test_after_approve_all_nothing_is_asked_any_more() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    await decide(stage, session, Decision(decision="approve_all"))
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert len(tools.started) == 2
    assert len(stage.payloads(session, ApprovalRequested)) == 1
    # It lasts for the session, not for the message.
    later = ScriptedModel(calling("write"), SAID)
    async with working(worker_for(stage, later, tools, name="later")):
        assert (await stage.until_finished(await stage.say(session, "and again"))).status == "completed"
    assert len(tools.started) == 3
    assert len(stage.payloads(session, ApprovalRequested)) == 1


async def test_what_was_switched_off_meanwhile_does_not_run_though_it_is_approved() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    await stage.sessions.update(session, USER, {"options": {"denied_tools": ["write"]}})
    await decide(stage, session, APPROVE)
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == []
    assert "switched write off" in results(model)[0].output


async def test_a_rule_that_asks_counts_before_one_that_allows_and_one_that_denies_before_both() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write", "read"), SAID), box()
    rules = {"asked_tools": ["*"], "allowed_tools": ["write"]}
    session, run_id = await asked(stage, model, tools, enable_approval=False, **rules)
    (requested,) = stage.payloads(session, ApprovalRequested)
    assert [call.name for call in requested.calls] == ["write"]
    assert tools.started == [("read", {"what": 1})]
    await stage.sessions.update(session, USER, {"options": {"denied_tools": ["w*"]}})
    await decide(stage, session, APPROVE)
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == [("read", {"what": 1})]


async def test_what_a_rule_allows_runs_though_the_session_wants_to_be_asked() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    async with working(worker_for(stage, model, tools)):
        session = await stage.open_session(enable_approval=True, allowed_tools=["wr*"])
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert tools.started == [("write", {"what": 0})]


@pytest.mark.parametrize(("rule", "runs"), [("write(ls)", True), ("write(l*)", False), ("write(*)", False)])
async def test_a_command_that_is_allowed_runs_as_it_stands_though_its_tool_asks(rule: str, runs: bool) -> None:
    call = ToolRequest(call_id="x", name="write", arguments={"command": "ls"})
    stage, model, tools = Stage(), ScriptedModel([ToolCallPart(call), FinishPart("tool_calls")], SAID), box()
    async with working(worker_for(stage, model, tools)):
        session = await stage.open_session(asked_tools=["write"], allowed_tools=[rule])
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status in (RunStatus.WAITING, RunStatus.COMPLETED))
    assert bool(tools.started) is runs


async def test_what_allows_names_a_tool_only_as_it_is_written() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    await asked(stage, model, tools, allowed_tools=["Write", "WR*"])
    assert tools.started == []


async def test_after_approve_all_no_rule_asks_either() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools, asked_tools=["write"])
    await decide(stage, session, Decision(decision="approve_all"))
    assert await goes_on(stage, model, tools, run_id) == "completed"
    again = await stage.say(session, "once more")
    async with working(worker_for(stage, ScriptedModel(calling("write"), SAID), tools, name="third")):
        assert (await stage.until_finished(again)).status == "completed"
    assert len(tools.started) == 3
    assert len(stage.payloads(session, ApprovalRequested)) == 1


async def test_a_deployment_says_how_long_an_approval_is_waited_for() -> None:
    stage, model = Stage(), ScriptedModel(calling("write"), SAID)
    async with working(worker_for(stage, model, box(), approval_timeout_s=40.0)):
        session = await stage.open_session(enable_approval=True)
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
    (wait,) = stage.store.runs[run_id].waits
    assert 39 < (wait.deadline - stage.store.clock()).total_seconds() <= 40


@pytest.mark.parametrize("decision", [APPROVE, DENY], ids=["approve", "deny"])
async def test_a_worker_that_died_before_it_asked_has_it_asked_by_the_next_one(decision: Decision) -> None:
    stage, model, tools = Stage(), ScriptedModel(SAID), box()
    session = await stage.open_session(enable_approval=True)
    run_id = await stage.say(session, "go")
    await died(
        stage, run_id, ToolCalled(call_id="c", name="write", arguments={"what": 1}, phrase="", turn=1, asks=True)
    )
    async with working(worker_for(stage, model, tools, name="next")):
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
    assert tools.started == []
    await decide(stage, session, decision)
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == ([("write", {"what": 1})] if decision is APPROVE else [])


async def test_an_approved_call_runs_though_workers_died_before_it_started() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    await decide(stage, session, APPROVE)
    await died(stage, run_id)
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == [("write", {"what": 0})]
    assert [one.attempt for one in stage.payloads(session, RunStarted)] == [1, 2, 3]


async def test_an_approved_call_that_started_is_never_run_again() -> None:
    stage, model, tools = Stage(), ScriptedModel(calling("write"), SAID), box()
    session, run_id = await asked(stage, model, tools)
    await decide(stage, session, APPROVE)
    (called,) = stage.payloads(session, ToolCalled)
    await died(stage, run_id, ToolStarted(call_id=called.call_id))
    assert await goes_on(stage, model, tools, run_id) == "completed"
    assert tools.started == []
    assert "may have happened" in results(model)[0].output


async def test_a_stop_of_a_run_whose_worker_died_with_a_held_call_says_it_never_began() -> None:
    stage, model, tools = Stage(), ScriptedModel(SAID), box()
    session = await stage.open_session(enable_approval=True)
    run_id = await stage.say(session, "go")
    await died(stage, run_id, ToolCalled(call_id="c", name="write", arguments={}, phrase="", turn=1, asks=True))
    await stage.stop(session)
    assert await goes_on(stage, model, tools, run_id) == "stopped"
    (result,) = stage.payloads(session, ToolFinished)
    assert result.preview.startswith("Not begun")


async def died(stage: Stage, run_id: RunId, *recorded: Any) -> None:
    """A worker that had the run, and recorded this."""
    ledger: MemoryRunLedger = stage.ledger
    lease = await ledger.claim("dead", lease_s=30, model="m", run_id=run_id)
    assert lease is not None
    await ledger.record(lease, [NewEvent(payload=payload) for payload in recorded])
    stage.lapse(run_id)
