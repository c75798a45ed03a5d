"""Skills in runs: which there are, which were read, and who knows of it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from backend_api.agent.capability import Setup
from backend_api.agent.events import ContextCompacted, ToolFinished, Usage
from backend_api.agent.model import (
    FinishPart,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
)
from backend_api.agent.tool import Done, Tool, ToolCall, Waits
from backend_api.agent.tools.task import TaskTool
from backend_api.skills.domain.entity import Skill, SkillEntry
from backend_api.skills.domain.errors import SkillNotFoundError, SkillUnreadableError
from backend_api.skills.library.archives import skill_of
from backend_api.skills.library.records import entry_of
from backend_api.skills.tools.skills import SkillReading, skill_tools
from support.acting import taken_over_at
from support.scripted import SCRIPTED, HandlerBox, Script, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
DONE: Script = [TextPart("Done."), STOP]
KNOTS = skill_of({"SKILL.md": b"---\nname: knots\ndescription: How to tie.\n---\nTie it twice.", "scripts/tie.py": b""})


class Box(HandlerBox):
    """Those of skills, `task`, and what a call is told of those that were read."""

    def __init__(self) -> None:
        super().__init__()
        self.skills_read: Callable[[], Sequence[str]] = tuple
        self.forgotten: list[tuple[str, str]] = []

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = skill_tools(SkillReading(entries=_entries, get=_get, forget=lambda *read: self.forgotten.append(read)))
        tools = [*own, *await TaskTool().tools(setup), *await super().tools(setup)]
        return [replace(tool, run_call=partial(self._run, tool)) for tool in tools]

    async def _run(self, tool: Tool, call: ToolCall) -> Done | Waits:
        self.skills_read = call.skills_read
        return await tool.run_call(call)


async def _entries(user_id: str) -> Sequence[SkillEntry]:
    del user_id
    return [entry_of(KNOTS, "bundled")]


async def _get(user_id: str, name: str) -> Skill:
    del user_id
    if name == "old":
        raise SkillUnreadableError(name, "It is none.")
    if name != "knots":
        raise SkillNotFoundError("No.")
    return KNOTS


def call(tool: str, used: int = 0, **arguments: Any) -> Script:
    usage = [UsagePart(Usage(input=used, output=1))] if used else []
    return [*usage, ToolCallPart(ToolRequest(call_id=f"{tool}1", name=tool, arguments=arguments)), CALLS]


def results(model: ScriptedModel) -> list[ToolTurn]:
    return [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def test_one_is_read_with_where_its_files_are_and_that_it_decides_nothing() -> None:
    stage, model, box = Stage(), ScriptedModel(call("read_skill", skill="knots"), DONE), Box()
    async with working(worker_for(stage, model, box)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "tie"))
    [read] = results(model)
    assert read.success
    for said in ("/skills/knots", "scripts/tie.py", "Tie it twice.", "it approves nothing"):
        assert said in read.output
    assert box.skills_read() == ["knots"]
    assert box.forgotten == [(session, "knots")]


async def test_one_that_there_is_not_is_told_with_those_there_are_and_counts_as_unread() -> None:
    stage, model, box = Stage(), ScriptedModel(call("read_skill", skill="nets"), call("list_skills"), DONE), Box()
    async with working(worker_for(stage, model, box)):
        await stage.until_finished(await stage.say(await stage.open_session(title="named"), "tie"))
    wrong, listed = results(model)
    assert not wrong.success
    assert "There are: knots." in wrong.output
    assert listed.output == "knots: How to tie."
    assert box.skills_read() == []


async def test_one_that_an_agent_below_reads_is_there_for_its_calls() -> None:
    stage, box = Stage(), Box()
    seen: list[list[str]] = []

    async def look(call: ToolCall, *_: Any) -> Done:
        seen.append([*call.skills_read()])
        return Done(success=True, output="seen")

    box.add("look", look, read_only=True)
    task = call("task", description="tie", prompt="tie", agent_type="general")
    model = ScriptedModel(task, call("read_skill", skill="knots"), call("look"), DONE, DONE)
    async with working(worker_for(stage, model, box)):
        await stage.until_finished(await stage.say(await stage.open_session(title="named"), "tie"))
    assert seen == [["knots"]]


async def test_which_were_read_stands_beside_a_summary() -> None:
    stage, box = Stage(), Box()
    summary: Script = [UsagePart(Usage(input=720, output=10)), TextPart("They want a knot."), STOP]
    model = ScriptedModel(call("read_skill", used=300, skill="knots"), call("list_skills", used=3_500), summary, DONE)
    async with working(worker_for(stage, model, box, info=replace(SCRIPTED, context_window=5_000))):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "tie"))
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert "Skills that were read so far: knots." in compacted.summary


async def test_whoever_takes_the_run_over_after_any_event_knows_which_were_read() -> None:
    script = [call("read_skill", skill="knots"), call("list_skills"), DONE]
    stage, box = Stage(), Box()
    async with working(worker_for(stage, ScriptedModel(*script), box)):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "tie"))
    end = max(event.seq or 0 for event in stage.events(session) if isinstance(event.payload, ToolFinished))
    for cut_at in range(3, end):
        box = Box()
        await taken_over_at(cut_at, script, box)
        assert box.skills_read() == ["knots"], f"cut at {cut_at}"


async def test_one_that_is_none_any_more_is_told_and_ends_no_run() -> None:
    stage, model = Stage(), ScriptedModel(call("read_skill", skill="old"), DONE)
    async with working(worker_for(stage, model, Box())):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "tie"))).status == "completed"
    [read] = results(model)
    assert "The stored skill old can no longer be used" in read.output
