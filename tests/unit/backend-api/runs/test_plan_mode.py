"""Plan mode: only what reads is offered and run, until a person approves a plan; whoever has the run, knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend_api.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.agent.capability import Setup
from backend_api.agent.events import ApprovalRequested, ContextOpened, PlanDecided, PlanProposed, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn, UserTurn
from backend_api.agent.options import Options
from backend_api.agent.plans import PlanDecision
from backend_api.agent.tool import Done, Tool
from backend_api.agent.tools.local import MainAgentTools
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.agent.tools.plan_update import PLAN_UPDATE
from backend_api.agent.tools.task import TaskTool
from backend_api.agent.tools.think import THINK
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.kit.ids import SessionId
from support import of_modules
from support.memory.run_waits import MemoryWaits
from support.modules import known_tools
from support.scripted import ANY, HandlerBox, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]
PLAN = {"plan": "# First\n1. write"}
READING = ["exit_plan_mode", "plan_update", "read", "task"]
ALL = ["enter_plan_mode", "mcp__a__read", "plan_update", "read", "task", "write"]
APPROVE, REJECT = PlanDecision(decision="approve"), PlanDecision(decision="reject", feedback="Smaller steps.")


def calls(*wanted: tuple[str, dict[str, Any]]) -> list[Any]:
    requests = [ToolRequest(call_id=f"x{at}", name=name, arguments=given) for at, (name, given) in enumerate(wanted)]
    return [*map(ToolCallPart, requests), FinishPart("tool_calls")]


PROPOSE = calls(("exit_plan_mode", PLAN))


class Box(HandlerBox):
    """Tools that read and write, those of plan mode, and the one that hands work on."""

    def __init__(self) -> None:
        super().__init__()

        async def run(*_: Any) -> Done:
            return Done(success=True, output="done")

        self.add("write", run)
        self.add("read", run, read_only=True)
        self.add("mcp__a__read", run, read_only=True)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = MainAgentTools([*plan_mode_tools(), PLAN_UPDATE])
        return [*await super().tools(setup), *await own.tools(setup), *await TaskTool().tools(setup)]


def offered(model: ScriptedModel) -> list[list[str]]:
    return [sorted(tool.name for tool in request.tools) for request in model.requests]


def results(model: ScriptedModel) -> list[str]:
    return [turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def proposed(stage: Stage, model: ScriptedModel, box: Box, **options: Any) -> tuple[SessionId, RunId]:
    async with working(worker_for(stage, model, box, name="first")):
        session = await stage.open_session(**options)
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
    return session, run_id


async def decide(stage: Stage, session: SessionId, decision: PlanDecision) -> None:
    (*_, last) = stage.payloads(session, PlanProposed)
    await AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)(session, USER, last.plan_id, decision)


async def goes_on(stage: Stage, model: ScriptedModel, box: Box, run_id: RunId) -> None:
    async with working(worker_for(stage, model, box, name="second")):
        assert (await stage.until_finished(run_id)).status == "completed"


async def test_only_what_reads_is_offered_and_run_until_the_plan_is_approved() -> None:
    stage, box = Stage(), Box()
    both = calls(("write", {}), ("read", {}), ("mcp__a__read", {}))
    model = ScriptedModel(both, PROPOSE, calls(("write", {})), SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    assert [name for name, _ in box.started] == ["read"]
    (one,) = stage.payloads(session, PlanProposed)
    assert one.plan == PLAN["plan"]
    assert sum("in plan mode only tools that read" in text for text in results(model)) == 2
    await decide(stage, session, APPROVE)
    await goes_on(stage, model, box, run_id)
    assert [name for name, _ in box.started] == ["read", "write"]
    assert offered(model) == [READING, READING, ALL, ALL]
    assert [one.cause for one in stage.payloads(session, ContextOpened)] == ["started", "mode"]
    assert stage.store.sessions[session].session.options == {"enable_plan_mode": False}
    assert "Plan mode" in model.requests[0].system
    assert "Plan mode" not in model.requests[2].system


async def test_nobody_is_asked_for_a_call_that_the_one_before_it_led_to_be_denied() -> None:
    stage, box = Stage(), Box()
    model = ScriptedModel(calls(("enter_plan_mode", {}), ("write", {})), SAID)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(enable_approval=True)
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert stage.payloads(session, ApprovalRequested) == []
    assert "in plan mode only tools that read" in results(model)[1]


def test_of_all_tools_it_has_those_that_only_look_and_none_that_starts_a_program_of_the_models() -> None:
    planning = replace(ANY, mode="plan")
    assert {tool.name for tool in PLAN_MODE.offers(planning, known_tools())} == {
        *("load_tools", "use_tool"),
        *("think", "utc_now", "web_search", "web_fetch", "ask_user", "ask_to_drive", "task", "compact", "plan_update"),
        *("todo_write", "todo_add", "todo_complete", "todo_list", "list_skills", "read_skill"),
        *("papers_search", "paper_details", "paper_read", "paper_citations", "paper_references", "papers_recommend"),
        *("papers_by_author", "paper_code", "paper_data", "corpus_list", "corpus_read", "findings_submit"),
        *("project_list", "section_read", "citations_check", "draft_read"),
        *("task_create", "task_get", "task_update", "task_list", "exit_plan_mode"),
        *("resource_add", "resource_list", "resource_update", "resource_remove"),
        *("spawn_teammate", "list_teammates", "send_message", "read_inbox", "broadcast", "shutdown_request"),
        *("check_protocol", "plan_review", "submit_plan", "answer_shutdown"),
        *("file_find", "file_list", "file_read", "file_search", "code_definition", "code_references", "code_symbols"),
        *("shell_view", "shell_wait", "check_background", "code_contexts", "desktop_screenshot", "desktop_windows"),
        *("browser_console", "browser_screenshot", "browser_tabs", "browser_view"),
        *(name for module in of_modules.ALL for name in module.looking),
    }
    assert not PLAN_MODE.offers(planning, [replace(THINK.spec, dangerous=True)])


async def test_of_two_plans_in_one_answer_the_first_is_proposed() -> None:
    stage, box = Stage(), Box()
    both = calls(("exit_plan_mode", PLAN), ("read", {}), ("read", {}), ("exit_plan_mode", {"plan": "another"}))
    model = ScriptedModel(both, SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    assert [one.plan for one in stage.payloads(session, PlanProposed)] == [PLAN["plan"]]
    await decide(stage, session, APPROVE)
    await goes_on(stage, model, box, run_id)
    assert [name for name, _ in box.started] == ["read", "read"]
    assert "exit_plan_mode is called once in an answer" in results(model)[3]


async def test_a_rejected_plan_leaves_the_mode_as_it_is_and_tells_why() -> None:
    stage, box = Stage(), Box()
    model = ScriptedModel(PROPOSE, calls(("write", {})), SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    await decide(stage, session, REJECT)
    await goes_on(stage, model, box, run_id)
    assert box.started == []
    assert "Smaller steps." in results(model)[0]
    assert offered(model) == [READING] * 3
    assert [(one.decision, one.by) for one in stage.payloads(session, PlanDecided)] == [("reject", "user")]


async def test_a_message_that_interrupts_rejects_the_plan_and_is_read_next() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(PROPOSE, SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    assert await stage.say(session, "approve, the page says", interrupt=True) == run_id
    await goes_on(stage, model, box, run_id)
    result, message = model.requests[-1].turns[-2:]
    assert isinstance(result, ToolTurn)
    assert "wrote a message instead" in result.output
    assert message == UserTurn(text="approve, the page says")
    assert offered(model) == [READING] * 2
    assert [(one.decision, one.by) for one in stage.payloads(session, PlanDecided)] == [("reject", "message")]


async def test_no_other_message_decides_about_the_plan() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(PROPOSE, SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    assert await stage.say(session, "approve, the page says") == run_id
    assert not stage.payloads(session, PlanDecided)
    await decide(stage, session, REJECT)
    await goes_on(stage, model, box, run_id)
    assert model.requests[-1].turns[-1] == UserTurn(text="approve, the page says")
    assert offered(model) == [READING] * 2


async def test_a_stop_ends_the_wait_and_the_mode_stays() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(PROPOSE, SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    await stage.stop(session)
    assert stage.run(run_id).status == RunStatus.STOPPED
    (finished,) = stage.payloads(session, ToolFinished)
    assert finished.cancelled
    await goes_on(stage, model, box, await stage.say(session, "again"))
    assert offered(model) == [READING] * 2


async def test_the_agent_enters_by_itself_in_the_middle_of_a_run_and_the_next_worker_knows() -> None:
    stage, box = Stage(), Box()
    model = ScriptedModel(calls(("enter_plan_mode", {})), PROPOSE, SAID)
    session, run_id = await proposed(stage, model, box)
    assert offered(model) == [ALL, READING]
    await decide(stage, session, REJECT)
    await goes_on(stage, model, box, run_id)
    assert offered(model)[-1] == READING
    assert [one.cause for one in stage.payloads(session, ContextOpened)] == ["started", "mode"]


async def test_another_option_leaves_the_mode_alone_and_the_person_may_change_it() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(PROPOSE, SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=True)
    await decide(stage, session, APPROVE)
    await goes_on(stage, model, box, run_id)
    expected = [({"max_turns": 9}, ALL), ({"enable_plan_mode": True}, READING), ({"enable_plan_mode": None}, ALL)]
    for options, tools in expected:
        changed = await stage.sessions.change(session, USER, {"options": options})
        assert changed.events
        await goes_on(stage, model, box, await stage.say(session, "once more"))
        assert offered(model)[-1] == tools, options


async def test_who_takes_their_word_back_is_in_the_mode_that_the_layers_below_have() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(SAID)
    session = await stage.open_session(enable_plan_mode=False)
    plans = Options(max_turns=9, enable_plan_mode=True)
    async with working(worker_for(stage, model, box, defaults=plans)):
        for word, tools in ((False, ALL), (None, READING), (True, READING), (None, READING), (False, ALL)):
            await stage.sessions.change(session, USER, {"options": {"enable_plan_mode": word}})
            assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
            assert offered(model)[-1] == tools, word


async def test_who_takes_their_word_back_in_the_middle_of_a_run_ends_what_they_alone_wanted() -> None:
    stage, box = Stage(), Box()
    session = await stage.open_session(enable_plan_mode=True)

    async def take_back() -> None:
        await stage.sessions.change(session, USER, {"options": {"enable_plan_mode": None}})

    model = ScriptedModel([take_back, *calls(("read", {}))], SAID)
    async with working(worker_for(stage, model, box)):
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert offered(model) == [READING, ALL]


async def test_another_option_ends_no_plan_mode_that_the_agent_entered_where_the_session_began_without() -> None:
    stage, box = Stage(), Box()
    model = ScriptedModel(calls(("enter_plan_mode", {})), PROPOSE, SAID, SAID)
    session, run_id = await proposed(stage, model, box, enable_plan_mode=False)
    assert (await stage.sessions.change(session, USER, {"options": {"max_turns": 9}})).events
    await decide(stage, session, REJECT)
    await goes_on(stage, model, box, run_id)
    assert offered(model)[-1] == READING
    # The same word, said now, is a change: they never said it before.
    other, run_id = await proposed(stage, ScriptedModel(calls(("enter_plan_mode", {})), PROPOSE), box)
    assert (await stage.sessions.change(other, USER, {"options": {"enable_plan_mode": False}})).events
    await decide(stage, other, REJECT)
    await goes_on(stage, model, box, run_id)
    assert offered(model)[-1] == ALL


async def test_who_works_for_it_only_reads_too() -> None:
    stage, box = Stage(), Box()
    given = {"description": "t", "prompt": "do it", "agent_type": "general"}
    model = ScriptedModel(calls(("task", given)), calls(("write", {})), SAID, SAID)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(enable_plan_mode=True)
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert box.started == []
    assert offered(model)[1] == ["read"]


async def test_a_call_after_the_one_that_enters_is_not_run() -> None:
    stage, box = Stage(), Box()
    model = ScriptedModel(calls(("write", {}), ("enter_plan_mode", {}), ("write", {}), ("read", {})), SAID)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert [name for name, _ in box.started] == ["write", "read"]
    assert "in plan mode only tools that read" in results(model)[2]


async def test_a_person_who_turns_it_on_while_the_model_answers_stops_what_that_asks_for() -> None:
    stage, box = Stage(), Box()

    async def turn_on() -> None:
        await stage.sessions.change(session, USER, {"options": {"enable_plan_mode": True}})

    model = ScriptedModel([turn_on, *calls(("write", {}), ("read", {}))], SAID)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert [name for name, _ in box.started] == ["read"]
    assert offered(model) == [ALL, READING]


async def test_who_works_for_it_changes_nothing_either_once_it_is_on() -> None:
    stage, box = Stage(), Box()

    async def turn_on() -> None:
        await stage.sessions.change(session, USER, {"options": {"enable_plan_mode": True}})

    given = {"description": "t", "prompt": "do it", "agent_type": "general"}
    model = ScriptedModel(calls(("task", given)), [turn_on, *calls(("write", {}))], SAID, SAID)
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert box.started == []
