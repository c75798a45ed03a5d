"""What a conversation's first request comes to, for every agent of every preset that is shipped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest
from pydantic_core import to_json

from backend_api.agent.capability import Capabilities, Setup, offered, tools_of
from backend_api.agent.conversation import Conversation
from backend_api.agent.model import ModelRequest, NoteTurn, UserTurn
from backend_api.agent.preset import NO_PRESET, Preset
from backend_api.agent.presets.preset_files import read_presets
from backend_api.agent.subagent_kinds import BUILT_IN, MAIN, SubagentKind
from backend_api.agent.team import LEAD, TEAMMATE, Membership, Team
from backend_api.agent.tool import Done, Tool, ToolCall, ToolSpec
from backend_api.agent.tool_families import DESKTOP, PAIR, choose_prompt_tools
from backend_api.agent.tools.task import TaskTool, task_tool
from backend_api.agent.tools.team import TeamTools, team_tools
from backend_api.models.anthropic import computer as anthropic_computer
from backend_api.models.openai import chat_messages
from backend_api.models.openai import computer as openai_computer
from backend_api.runs.capabilities import capabilities
from backend_api.skills.application.skill_offers import SkillOffer
from support.modules import OF_MODULES, known_tools
from support.of_modules import ALL

MOST_BYTES, MOST_TOOLS = 24_000, 30
PRESETS = {preset.id: preset for preset in read_presets()}
OF_MAIN = {"plan_update", "compact", "enter_plan_mode", "exit_plan_mode", "install_skill", "download"}
BACKGROUND = {"background_run", "check_background", "background_stop"}
OF_SOURCES = {task_tool().spec.name, *(tool.spec.name for tool in team_tools())}


async def _idle(call: ToolCall) -> Done:
    del call
    return Done(success=True, output="")


def tool(spec: ToolSpec) -> Tool:
    return Tool(spec=spec, run_call=_idle)


SERVERS = [
    tool(
        ToolSpec(
            name=f"mcp__server{server}__find_things_{number}",
            description="Finds things of this kind. " * 8,
            parameters={"type": "object", "properties": {"name": {"type": "string", "description": "Which."}}},
            phrase="Finding",
        )
    )
    for server, number in product(range(3), range(100))
]


class Shipped:
    """`ToolSource` of all tools of the product, and those of MCP servers."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        left_out = OF_SOURCES if setup.kind == MAIN else OF_SOURCES | OF_MAIN | BACKGROUND
        own = [tool(spec) for spec in known_tools() if spec.name not in left_out]
        return [*own, *await TaskTool().tools(setup), *await TeamTools(5).tools(setup), *setup.mcp_tools]


TABLE = capabilities(Shipped(), of_modules=OF_MODULES)


def agents(preset: Preset) -> Iterator[tuple[str, Setup]]:
    usual = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), preset=preset)
    lead = Membership(name=LEAD, role="", team=Team)
    yield "main", usual
    yield "lead", replace(usual, membership=lead)
    mate = Membership(name="tester", role="Tests what the others make", team=Team)
    yield "teammate", replace(usual, kind=TEAMMATE.name, kinds=(TEAMMATE,), membership=mate)
    for kind in BUILT_IN:
        yield kind.name, replace(usual, kind=kind.name)


async def first_request(setup: Setup, *, knows_desktop: bool = False) -> ModelRequest:
    specs = offered(TABLE, setup, await tools_of(TABLE, setup))
    setup = replace(setup, tools=specs)
    prompt = Capabilities(TABLE, setup).system_prompt()
    told = choose_prompt_tools(specs, setup.first_tools, len(json.dumps(prompt)), DESKTOP if knows_desktop else ())
    its = Capabilities(TABLE, replace(setup, tool_set=told))
    said = UserTurn(text="Hello, what can you do for me today?")
    conversation = Conversation(turns=[said], seen_seq=1, next_turn=1, is_answered=False)
    notes = [NoteTurn(text=note.text) for note in its.notes(conversation)]
    return ModelRequest(
        model="m", system=its.system_prompt(), turns=[said, *notes], tools=told.first, max_output_tokens=16_384
    )


def sizes(request: ModelRequest) -> dict[str, int]:
    """Bytes of each form that a provider is sent."""
    said = b",".join(chat_messages.messages_of(request)).decode()
    system = json.dumps(request.system, ensure_ascii=False)
    forms = {
        "chat": "".join(f'{{"type":"function","function":{one.offer}}},' for one in request.tools),
        "responses": to_json(openai_computer.declared(request.tools, None)).decode(),
        "messages": to_json(anthropic_computer.declared(request.tools, with_toolset=False)).decode(),
    }
    return {name: len(f"{system}{said}{tools}".encode()) + 300 for name, tools in forms.items()}


@pytest.mark.parametrize("mode", ["normal", "plan"])
@pytest.mark.parametrize("preset", PRESETS)
async def test_a_first_request_is_small_for_every_agent_of_every_preset(preset: str, mode: str) -> None:
    for (name, setup), servers in product(agents(PRESETS[preset]), ([], SERVERS)):
        its = replace(setup, mode="plan" if mode == "plan" else "normal", mcp_tools=servers)
        request = await first_request(its)
        assert len(request.tools) <= MOST_TOOLS, name
        assert max(sizes(request).values()) <= MOST_BYTES, (name, sizes(request))


async def test_what_a_person_has_of_their_own_makes_it_no_larger() -> None:
    skills = [SkillOffer(name=f"skill-{number}", description="Does work of one kind. " * 12) for number in range(60)]
    kinds = [SubagentKind(name=f"kind-{number}", description="Does such work. " * 18) for number in range(40)]
    much = {one.capability.name: one.much for one in ALL}
    for preset in PRESETS.values():
        setup = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), preset=preset)
        setup = replace(setup, kinds=kinds, loaded={**much, "skills": skills}, mcp_tools=SERVERS)
        request = await first_request(setup)
        assert len(request.tools) <= MOST_TOOLS
        assert max(sizes(request).values()) <= MOST_BYTES, (preset.id, sizes(request))


async def test_a_family_beyond_it_is_one_line_and_nothing_is_left_out() -> None:
    setup = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), preset=PRESETS["general"], mcp_tools=SERVERS)
    request = await first_request(setup)
    told = {one.name for one in request.tools}
    lines = request.system.partition("\nMore tools\n")[2].partition("\n\n")[0].splitlines()
    assert sum(line.startswith("- mcp__server") for line in lines) == 3
    own = {one.spec.name for one in await Shipped().tools(replace(setup, mcp_tools=()))} - {"exit_plan_mode"}
    assert [name for name in sorted(own - told) if name not in "\n".join(lines)] == []
    assert told >= {"shell_exec", "file_edit", "web_search", "ask_user", "plan_update", "task", "browser_view", *PAIR}
    assert not {name for name in told if name.startswith(("todo_", "task_", "mcp__", "desktop_"))}


async def test_coding_is_told_how_to_find_its_way_in_code_and_chat_all_it_has() -> None:
    now = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    coding = await first_request(replace(now, preset=PRESETS["coding"]))
    assert {one.name for one in coding.tools} >= {"code_symbols", "code_definition", "code_references"}
    chat = await first_request(replace(now, preset=PRESETS["chat"]))
    assert {one.name for one in chat.tools} == {"web_search", "web_fetch", "ask_user", "utc_now", "compact"}
    assert "More tools" not in chat.system


async def test_a_model_that_knows_the_desktop_is_told_it_from_the_start() -> None:
    setup = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), preset=PRESETS["general"])
    request = await first_request(setup, knows_desktop=True)
    assert {one.name for one in request.tools} >= DESKTOP
    assert len(json.dumps(anthropic_computer.declared(request.tools, with_toolset=True))) < 18_000


async def test_tools_of_a_deployments_own_are_told_until_there_is_no_room() -> None:
    parameters = {"type": "object", "properties": {"what": {"type": "string", "description": "Which one of many."}}}
    own = [
        tool(ToolSpec(name=f"look_up_{number}", description="Looks up. " * 9, parameters=parameters, phrase="Looking"))
        for number in range(60)
    ]
    setup = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC), preset=NO_PRESET, mcp_tools=own)
    request = await first_request(setup)
    assert 1 <= sum(one.name.startswith("look_up_") for one in request.tools) < 10
    assert max(sizes(request).values()) <= MOST_BYTES
    assert "... (" in request.system.partition("- others: ")[2].splitlines()[0]
