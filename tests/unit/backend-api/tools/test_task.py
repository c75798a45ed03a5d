"""The tool by which the agent gives work to another one."""

from __future__ import annotations

from dataclasses import replace

from backend_api.agent.subagent_kinds import BUILT_IN
from backend_api.agent.tools.task import TaskTool
from support.scripted import ANY, call_tool

OWN = replace(BUILT_IN[0], name="gardener", description="Digs.")


async def test_each_agent_is_told_of_its_own_kinds_whoever_was_told_of_others_before() -> None:
    source = TaskTool()
    for _ in range(2):
        (own,) = await source.tools(replace(ANY, kinds=[*BUILT_IN, OWN]))
        assert "`gardener` Digs" in own.spec.description
        (usual,) = await source.tools(ANY)
        assert "gardener" not in usual.spec.description


async def test_it_is_the_same_tool_for_agents_with_the_same_kinds() -> None:
    source = TaskTool()
    first, second = [await source.tools(replace(ANY, kinds=[*BUILT_IN, OWN])) for _ in range(2)]
    assert first[0] is second[0]


async def test_where_there_is_no_other_agent_it_says_so() -> None:
    done = await call_tool(TaskTool(), "task", {"description": "d", "prompt": "Dig."})
    assert (done.success, done.output) == (False, "There is no other agent to give it to.")
