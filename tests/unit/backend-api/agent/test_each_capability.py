"""What each capability of the table is there for. Without it that is lost.

A new one has its line in `SHOWN_BY`: a test says so where it lacks.
"""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent import loop
from backend_api.agent.capabilities.pictures import BLIND
from backend_api.agent.capabilities.teams import SPAWN
from backend_api.agent.capability import Capabilities, Capability, Deny, ProposedCall, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import BackgroundStarted, ContextCompacted, PlanStep, Task, Todo, ToolCalled, Usage
from backend_api.agent.model import (
    FinishPart,
    ModelRequest,
    NoteTurn,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
)
from backend_api.agent.plan_fold import ActivePlan
from backend_api.agent.preset import NO_PRESET
from backend_api.agent.subagent_kinds import SubagentKind
from backend_api.agent.team import Membership, Team
from backend_api.agent.tool import Done
from backend_api.agent.tool_families import ToolSet, families_of
from backend_api.agent.tools.think import THINK
from backend_api.conversations.domain.entity import RunStatus
from backend_api.folders.domain import Folder, FolderId, FolderOfSession
from backend_api.kit.ids import SessionId, UserId
from backend_api.models.providers import PROVIDERS
from backend_api.runs.capabilities import capabilities
from backend_api.skills.application.skill_offers import SkillOffer
from backend_api.targets.capability import RemoteHost
from support.modules import OF_MODULES, known_tools
from support.of_modules import ALL, OfModule
from support.photographs import png
from support.scripted import ANY, SCRIPTED, HandlerBox, Script, ScriptedModel
from support.stage import Stage, until, worker_for, working

STOP, CALLS, LENGTH = FinishPart("stop"), FinishPart("tool_calls"), FinishPart("length")
WITH_A_SANDBOX = replace(ANY, tools=[replace(THINK.spec, needs_sandbox=True)])
SAID: Script = [TextPart("Done."), STOP]


def call(tool: str, used: int = 0, **arguments: Any) -> Script:
    usage = [UsagePart(Usage(input=used, output=1))] if used else []
    return [*usage, ToolCallPart(ToolRequest(call_id="c", name=tool, arguments=arguments)), CALLS]


class Table:
    """The deployment's."""

    def __call__(self, *sources: Any, **bounds: Any) -> Sequence[Capability]:
        given: dict[str, Any] = bounds | {"of_modules": OF_MODULES}
        return capabilities(*sources, **given)

    def prompt(self, setup: Setup = ANY) -> str:
        return Capabilities(self(), setup).system_prompt()

    async def told(
        self, *scripts: Script, options: dict[str, Any] | None = None, waits: bool = False, **bounds: Any
    ) -> Told:
        """One message to a model that answers so."""
        stage, model, box = Stage(), ScriptedModel(*scripts), HandlerBox()
        number = 0

        async def work(*_: Any) -> Done:
            nonlocal number
            number += 1
            return Done(success=True, output=f"{number}: ".ljust(400, "x"))

        async def same(*_: Any) -> Done:
            return Done(success=True, output="same")

        async def shoot(*_: Any) -> Done:
            return Done(success=True, output="shot", body=png(), body_media_type="image/png")

        box.add("work", work)
        box.add("same", same, read_only=True)
        box.add("shoot", shoot, read_only=True)
        async with working(worker_for(stage, model, box, table=self, **bounds)):
            session = await stage.open_session(title="named", **(options or {}))
            run_id = await stage.say(session, "go")
            ended = {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.WAITING}
            await until(lambda: stage.run(run_id).status in ended)
        return Told(stage, session, model.requests, box, stage.run(run_id).status)


@dataclass(frozen=True, slots=True)
class Told:
    stage: Stage
    session: SessionId
    requests: list[ModelRequest]
    box: HandlerBox
    status: RunStatus

    def notes(self) -> str:
        return "\n".join(turn.text for turn in self.requests[-1].turns if isinstance(turn, NoteTurn))

    def results(self) -> list[ToolTurn]:
        return [turn for turn in self.requests[-1].turns if isinstance(turn, ToolTurn)]


async def identity(table: Table) -> None:
    assert "You are an agent" in table.prompt(WITH_A_SANDBOX)


async def sandbox(table: Table) -> None:
    assert "Your computer" in table.prompt(WITH_A_SANDBOX)


async def instructions(table: Table) -> None:
    assert "How to work" in table.prompt()


async def preset(table: Table) -> None:
    assert "Write as a poet." in table.prompt(replace(ANY, preset=replace(NO_PRESET, prompt="Write as a poet.")))


async def verification(table: Table) -> None:
    assert "check your work against what was asked" in table.prompt(replace(ANY, tools=[THINK.spec]))


async def subagent(table: Table) -> None:
    assert "You work on one task for another agent" in table.prompt(replace(ANY, kind="general"))


async def teams(table: Table) -> None:
    lead = Membership(name="lead", role="", team=Team)
    assert "Your team" in table.prompt(replace(ANY, membership=lead, tools=[replace(THINK.spec, name=SPAWN)]))


async def plan_mode(table: Table) -> None:
    told = await table.told(call("work"), SAID, options={"enable_plan_mode": True})
    assert "work" not in [tool.name for tool in told.requests[0].tools]
    assert told.box.started == []


async def plan_steps(table: Table) -> None:
    steps = ActivePlan(steps=[PlanStep(title="Plant", status="pending")])
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False, plan=steps)
    assert "Plant" in "".join(Capabilities(table(), ANY).notes_after_compaction(conversation))


async def todos(table: Table) -> None:
    left = [Todo(content="Water", status="pending")]
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False, todos=left)
    assert "Water" in "".join(Capabilities(table(), ANY).notes_after_compaction(conversation))


async def skills(table: Table) -> None:
    offers = [SkillOffer(name="knots", description="How to tie.")]
    setup = replace(ANY, tools=[replace(THINK.spec, name="read_skill")], loaded={"skills": offers})
    assert "knots: How to tie." in table.prompt(setup)


async def tool_families(table: Table) -> None:
    families = families_of([replace(THINK.spec, name="desktop_mouse")])
    setup = replace(ANY, tools=[THINK.spec], tool_set=ToolSet(first=[THINK.spec], families=families))
    assert "- desktop: " in table.prompt(setup)


async def tasks(table: Table) -> None:
    left = [Task(id="1", subject="Rake")]
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False, tasks=left)
    assert "Rake" in "".join(Capabilities(table(), ANY).notes_after_compaction(conversation))


async def background(table: Table) -> None:
    runs = [BackgroundStarted(background_id="bg_1", call_id="c", command="make", timeout_s=9)]
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False, background=runs)
    assert "bg_1: make" in "".join(Capabilities(table(), ANY).notes_after_compaction(conversation))


async def pictures(table: Table) -> None:
    told = await table.told(call("shoot"), SAID)
    assert [one.note for one in told.results()] == [BLIND]


async def old_results(table: Table) -> None:
    told = await table.told(*[call("work", at=at) for at in range(8)], SAID, micro_compact_min_tokens=1)
    assert "[Previous: used work]" in [one.output for one in told.results()]


async def current_date(table: Table) -> None:
    assert "Today is " in (await table.told(SAID)).notes()


async def folder_instructions(table: Table) -> None:
    conversation = Conversation(
        turns=[], seen_seq=1, next_turn=1, is_answered=False, instructions={"AGENTS.md": "Tabs."}
    )
    assert ["Tabs." in note.text for note in Capabilities(table(), ANY).notes(conversation)].count(True) == 1


async def folder(table: Table) -> None:
    work = Folder(
        id=FolderId("f"), user_id=UserId("u"), name="Work", instructions="Cite sources.", created_at=datetime.now(UTC)
    )
    found = FolderOfSession(folder=work, file_names=("a.txt", "b.txt"))
    assert "folder “Work”" in table.prompt(replace(ANY, loaded={"folder": found}))
    told = "in `folder/` of the workspace: `a.txt`, `b.txt`."
    assert told in table.prompt(replace(WITH_A_SANDBOX, loaded={"folder": found}))
    assert told not in table.prompt(replace(ANY, loaded={"folder": found}))


async def target(table: Table) -> None:
    browser = replace(THINK.spec, name="browser_view", needs_sandbox=True)
    told = Capabilities(table(), replace(ANY, loaded={"target": RemoteHost("On a host.")}))
    assert isinstance(told.judge(ProposedCall(tool=browser, arguments={})), Deny)


def shown_by(module: OfModule) -> Callable[[Table], Awaitable[None]]:
    async def show(table: Table) -> None:
        module.show(table())

    return show


async def denied_tools(table: Table) -> None:
    assert (await table.told(call("same"), SAID, options={"denied_tools": ["same"]})).box.started == []


async def approval(table: Table) -> None:
    told = await table.told(call("work"), SAID, options={"enable_approval": True})
    assert (told.status, told.box.started) == (RunStatus.WAITING, [])


async def compaction(table: Table) -> None:
    small = replace(SCRIPTED, context_window=1_000)
    told = await table.told(call("work", 900), SAID, SAID, info=small)
    assert told.stage.payloads(told.session, ContextCompacted)


async def turn_limit(table: Table) -> None:
    told = await table.told(*[call("work", at=at) for at in range(5)], SAID, max_turns=2)
    assert len(told.stage.payloads(told.session, ToolCalled)) == 2


async def budget(table: Table) -> None:
    told = await table.told(call("work", 5_000), SAID, max_tokens=100)
    assert (told.status, len(told.requests)) == (RunStatus.FAILED, 1)


async def subagent_budget(table: Table) -> None:
    kind = SubagentKind(name="baker", description="", max_calls=40)
    assert "You have 40 calls of tools" in table.prompt(replace(ANY, kind="baker", kinds=(kind,)))


async def repetition(table: Table) -> None:
    assert (await table.told(*[call("same")] * 9, SAID)).status == RunStatus.FAILED


async def continuation(table: Table) -> None:
    assert len((await table.told([TextPart("Half"), LENGTH], SAID)).requests) == 2


SHOWN_BY: dict[str, Callable[[Table], Awaitable[None]]] = {
    "identity": identity,
    "sandbox": sandbox,
    "instructions": instructions,
    "preset": preset,
    "verification": verification,
    "subagent": subagent,
    "teams": teams,
    "plan mode": plan_mode,
    "plan steps": plan_steps,
    "todos": todos,
    "tasks": tasks,
    "background": background,
    "skills": skills,
    "tool families": tool_families,
    "pictures": pictures,
    "old results": old_results,
    "current date": current_date,
    "folder instructions": folder_instructions,
    **{one.capability.name: shown_by(one) for one in ALL},
    "folder": folder,
    "target": target,
    "denied tools": denied_tools,
    "approval": approval,
    "compaction": compaction,
    "turn limit": turn_limit,
    "budget": budget,
    "subagent budget": subagent_budget,
    "repetition": repetition,
    "continuation": continuation,
}


def in_the_table() -> set[str]:
    return {one.name for one in capabilities(of_modules=OF_MODULES)}


def test_each_capability_has_a_test_of_its_own() -> None:
    assert in_the_table() <= set(SHOWN_BY)


def test_the_loop_stays_small_and_names_no_capability_no_tool_and_no_provider() -> None:
    source = Path(loop.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 200
    found = list(ast.walk(ast.parse(source)))
    said = {node.value for node in found if isinstance(node, ast.Constant)}
    assert not said & (in_the_table() | {tool.name for tool in known_tools()} | {*PROVIDERS})
    imported = {node.module or "" for node in found if isinstance(node, ast.ImportFrom)}
    assert not [module for module in imported if ".capabilities." in module or ".infrastructure." in module]


@pytest.mark.parametrize("name", SHOWN_BY)
async def test_it_is_there(name: str) -> None:
    await SHOWN_BY[name](Table())
