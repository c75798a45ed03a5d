"""A preset's prompt, tools, model and options: as they are chosen, changed in the middle, and gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend_api.agent.approvals import Decision
from backend_api.agent.capabilities.approval import approval
from backend_api.agent.capabilities.denied_tools import DENIED_TOOLS
from backend_api.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.agent.capabilities.turn_limit import TURN_LIMIT
from backend_api.agent.capability import Setup
from backend_api.agent.events import ApprovalRequested, ContextOpened, Notice
from backend_api.agent.model import FinishPart, ModelRequest, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.options import Options
from backend_api.agent.preset import NO_PRESET, Preset, Presets, PresetText
from backend_api.agent.tool import Done, Tool
from backend_api.agent.tools.local import MainAgentTools
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.agent.tools.task import TaskTool
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunStatus
from backend_api.kit.ids import SessionId
from support.memory.run_waits import MemoryWaits
from support.modules import known_tools
from support.of_modules import ALL
from support.scripted import HandlerBox, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having

SAID = [TextPart("Well."), FinishPart("stop")]


def preset(name: str, *tools: str, **options: Any) -> Preset:
    return Preset(
        id=name,
        text=PresetText(label=name.title(), description=""),
        prompt=f"Work as {name}.",
        tools=frozenset(tools) if tools else None,
        options=Options(**options),
    )


PRESETS = Presets(
    [preset("usual"), preset("reader", "read", "task"), preset("careful", max_turns=3, enable_approval=True)],
    default="usual",
)


class Box(HandlerBox):
    """Tools that read and write on a computer, the one that hands work on, and those of plan mode."""

    def __init__(self) -> None:
        super().__init__()

        async def run(*_: Any) -> Done:
            return Done(success=True, output="done")

        self.add("read", run, read_only=True, needs_sandbox=True)
        self.add("write", run, needs_sandbox=True)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = [*await MainAgentTools(plan_mode_tools()).tools(setup), *await TaskTool().tools(setup)]
        return [*await super().tools(setup), *own]


def call(name: str, **arguments: Any) -> list[Any]:
    return [ToolCallPart(ToolRequest(call_id="x", name=name, arguments=arguments)), FinishPart("tool_calls")]


def offered(request: ModelRequest) -> list[str]:
    return sorted(tool.name for tool in request.tools)


async def opened_with(stage: Stage, chosen: str | None, **options: Any) -> SessionId:
    session = await stage.open_session(title="named", **options)
    await stage.choose(session, chosen)
    return session


async def test_only_its_tools_are_offered_and_run() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(call("write"), call("read"), SAID)
    async with working(worker_for(stage, model, box, presets=PRESETS, table=having(PLAN_MODE))):
        session = await opened_with(stage, "reader")
        await stage.until_finished(await stage.say(session, "go"))
    assert offered(model.requests[0]) == ["read", "task"]
    assert "Work as reader." in model.requests[0].system
    denied, _ = (turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn))
    assert denied.startswith("Nothing was run: The person switched write off for this conversation.")
    assert [name for name, _ in box.started] == ["read"]


async def test_an_agent_below_has_the_same_preset() -> None:
    stage, box = Stage(), Box()
    model = ScriptedModel(call("task", description="Look", prompt="look"), call("write"), SAID, SAID)
    async with working(worker_for(stage, model, box, presets=PRESETS)):
        session = await opened_with(stage, "reader")
        await stage.until_finished(await stage.say(session, "go"))
    assert box.started == []
    assert offered(model.requests[1]) == ["read"]
    assert "Work as reader." in model.requests[1].system
    assert [one.preset for one in stage.payloads(session, ContextOpened)] == ["reader", "reader"]


async def test_its_options_count_more_than_the_deployments_and_less_than_the_sessions() -> None:
    stage, box, model = (
        Stage(),
        Box(),
        ScriptedModel(*([TextPart("I look."), *call("read", at=at)] for at in range(20))),
    )
    async with working(worker_for(stage, model, box, presets=PRESETS, max_turns=5, table=having(TURN_LIMIT))):
        for chosen, options, asked in ((None, {}, 6), ("careful", {}, 4), ("careful", {"max_turns": 2}, 3)):
            before = len(model.requests)
            session = await opened_with(stage, chosen, **options)
            end = await stage.until_finished(await stage.say(session, "go"))
            assert end.reason == "max_turns"
            assert len(model.requests) - before == asked, (chosen, options)


async def test_changed_in_mid_conversation_it_opens_anew_and_says_why() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    async with working(worker_for(stage, model, Box(), presets=PRESETS, table=having(PLAN_MODE))):
        session = await opened_with(stage, None)
        for chosen in (None, "reader", "reader", None, "usual"):
            await stage.choose(session, chosen)
            await stage.until_finished(await stage.say(session, "go"))
        for chosen in ("lost", "lost", "gone"):
            await stage.choose(session, chosen)
            await stage.until_finished(await stage.say(session, "go"))
    opened = stage.payloads(session, ContextOpened)
    assert [one.missing_preset for one in opened] == [None, None, None, "lost", "gone"]
    assert len(stage.payloads(session, Notice)) == 2
    # To choose the default by its name changes nothing.
    assert [(one.preset, one.cause) for one in opened] == [
        ("usual", "started"),
        ("reader", "preset"),
        ("usual", "preset"),
        ("usual", "preset"),
        ("usual", "preset"),
    ]
    assert [len(request.tools) for request in model.requests] == [4, 2, 2, 4, 4, 4, 4, 4]


async def test_what_was_opened_before_there_were_presets_is_not_opened_anew_for_that() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    silent = Presets([replace(NO_PRESET, id="silent")], default="silent")
    for presets in (Presets(), silent):
        async with working(worker_for(stage, model, Box(), presets=presets)):
            session = next(iter(stage.store.sessions), None) or await stage.open_session(title="named")
            await stage.until_finished(await stage.say(session, "go"))
            for event in stage.events(session):
                if isinstance(event.payload, ContextOpened):
                    object.__setattr__(event.payload, "preset", None)
    assert len(stage.payloads(session, ContextOpened)) == 1


async def test_one_that_is_gone_is_told_once_and_the_default_goes_on() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session = await opened_with(stage, "reader")
    less = Presets([preset("usual")], default="usual")
    for presets in (PRESETS, less, less, PRESETS, less):
        async with working(worker_for(stage, model, Box(), presets=presets, table=having(PLAN_MODE))):
            await stage.until_finished(await stage.say(session, "go"))
            await stage.until_finished(await stage.say(session, "go"))
    notice, once_more = stage.payloads(session, Notice)
    assert once_more == notice, "it was there again, and is gone again"
    assert (notice.code, notice.params) == ("unknown_preset", {"preset": "reader", "instead": "Usual"})
    assert notice.text == "The preset reader is not available any more. The preset Usual is used instead."
    assert [len(request.tools) for request in model.requests] == [2, 2, 4, 4, 4, 4, 2, 2, 4, 4]


async def test_one_that_was_gone_before_the_first_message_is_told_with_the_first_answer_that_comes() -> None:
    stage = Stage()
    model = ScriptedModel([ConnectionError("down")], SAID)
    session = await opened_with(stage, "gone", enable_plan_mode=True)
    async with working(worker_for(stage, model, Box(), presets=PRESETS)):
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "failed"
        assert stage.payloads(session, Notice) == []
        for _ in range(2):
            assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert [one.code for one in stage.payloads(session, Notice)] == ["unknown_preset"]


async def test_the_way_out_of_plan_mode_is_there_whatever_the_preset() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    async with working(worker_for(stage, model, Box(), presets=PRESETS)):
        session = await opened_with(stage, "reader", enable_plan_mode=True)
        await stage.until_finished(await stage.say(session, "go"))
    assert offered(model.requests[0]) == ["exit_plan_mode", "read", "task"]


async def test_what_was_approved_is_not_run_once_the_preset_has_no_such_tool() -> None:
    stage, box, model = Stage(), Box(), ScriptedModel(call("write"), SAID)
    session = await opened_with(stage, "careful")
    table = having(approval(expires_s=300.0))
    async with working(worker_for(stage, model, box, presets=PRESETS, table=table)):
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
    await stage.choose(session, "reader")
    (asked,) = stage.payloads(session, ApprovalRequested)
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    await answer(session, USER, asked.approval_id, Decision(decision="approve"))
    async with working(worker_for(stage, model, box, name="second", presets=PRESETS, table=table)):
        assert (await stage.until_finished(run_id)).status == "completed"
    assert box.started == []
    (told,) = (turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn))
    assert "switched write off" in told


async def test_its_model_is_asked_where_the_session_chose_none() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    presets = Presets([preset("usual"), preset("own", model="scripted"), preset("lost", model="lost")], default="usual")
    async with working(worker_for(stage, model, Box(), presets=presets)):
        for chosen, notices in (("own", 0), ("lost", 1)):
            session = await opened_with(stage, chosen)
            await stage.until_finished(await stage.say(session, "go"))
            assert len(stage.payloads(session, Notice)) == notices, chosen


async def test_without_a_computer_none_is_spoken_of() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    talk = Presets([preset("usual"), preset("talk", "task")], default="usual")
    async with working(worker_for(stage, model, Box(), presets=talk)):
        for chosen in ("talk", None):
            session = await opened_with(stage, chosen)
            await stage.until_finished(await stage.say(session, "go"))
    without, with_one = (request.system for request in model.requests)
    assert "Here you have no computer" in without
    assert "You have a computer of your own" in with_one
    for word in ("/workspace", "desktop", "Keep long content in files"):
        assert word not in without
        assert word in with_one


def test_the_shipped_tools_that_need_no_computer_say_so() -> None:
    needless = {tool.name for tool in known_tools() if not tool.needs_sandbox}
    assert needless == {
        *("load_tools", "use_tool"),
        *("think", "utc_now", "web_search", "web_fetch", "ask_user", "ask_to_drive", "task", "compact", "plan_update"),
        *("enter_plan_mode", "exit_plan_mode", "todo_write", "todo_add", "todo_complete", "todo_list"),
        *("task_create", "task_get", "task_update", "task_list", "list_skills", "read_skill", "install_skill"),
        *(name for module in ALL for name in module.without_computer),
        *("papers_search", "paper_details", "paper_read", "paper_citations", "paper_references", "papers_recommend"),
        *("papers_by_author", "paper_code", "paper_data", "corpus_add", "corpus_list", "corpus_read", "corpus_tag"),
        *("project_create", "project_list", "outline_set", "section_write", "section_refine", "section_read"),
        *("citation_add", "citations_check", "draft_read"),
        *("corpus_annotate", "corpus_delete", "findings_submit"),
        *("resource_add", "resource_list", "resource_update", "resource_remove"),
        *("spawn_teammate", "list_teammates", "send_message", "read_inbox", "broadcast", "shutdown_request"),
        *("check_protocol", "plan_review", "submit_plan", "answer_shutdown"),
    }


async def test_none_lifts_what_the_layers_below_protect_by_and_a_session_may() -> None:
    loose = preset("loose", enable_approval=False, denied_tools=frozenset(), allowed_tools=frozenset("*"))
    defaults = Options(denied_tools=frozenset({"read"}), enable_approval=True)
    stage, box, model = Stage(), Box(), ScriptedModel(call("read"), call("write"), SAID)
    presets, table = Presets([loose], default="loose"), having(DENIED_TOOLS, approval(expires_s=300.0))
    async with working(worker_for(stage, model, box, presets=presets, defaults=defaults, table=table)):
        session = await opened_with(stage, "loose")
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
        assert box.started == []
        model.go_on_with(call("read"), call("write"), SAID)
        lifted = await opened_with(stage, "loose", denied_tools=[], enable_approval=False)
        await stage.until_finished(await stage.say(lifted, "go"))
        assert [name for name, _ in box.started] == ["read", "write"]
