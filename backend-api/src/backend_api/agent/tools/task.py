"""`task`: a part of the work for an agent of its own, whose last answer is the result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pydantic import AliasChoices, Field

from backend_api.agent.capability import Setup
from backend_api.agent.subagent_kinds import BUILT_IN, MAIN, SubagentKind
from backend_api.agent.tool import Assignment, Done, Tool, ToolCall, Waits
from backend_api.agent.tools.local import Arguments, Words, local_tool

WITHIN_S = 1_800.0
MAX_KINDS_CHARACTERS = 1_500
"""The most characters for descriptions of kinds, beside their names."""
_DESCRIPTION = """\
Give a part of the work to another agent, which knows nothing of this conversation; its last answer is the result. \
Good for a search that reads much and finds little, and for parts that don't depend on each other: several in one \
answer work at once.
Which agent (`agent_type`): {kinds}."""


class TaskArguments(Arguments):
    # The second names are those of earlier versions, of which a recorded call may still be open.
    description: str = Field(
        validation_alias=AliasChoices("description", "title"),
        min_length=1,
        max_length=80,
        description="The task in a few words, for the person.",
    )
    prompt: Words = Field(
        validation_alias=AliasChoices("prompt", "task"),
        min_length=1,
        max_length=20_000,
        description="What to do and to answer, with all it needs to know.",
    )
    # An unknown kind is reported in the result, which lists the existing ones.
    agent_type: str = Field(
        default="general",
        validation_alias=AliasChoices("agent_type", "kind"),
        max_length=100,
        description="Which agent does it, by its name.",
    )


class TaskTool:
    """`ToolSource` of `task`, which only the main agent has: sub-agents can't delegate."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tool, for the main agent alone."""
        return [task_tool(tuple(setup.kinds))] if setup.kind == MAIN else []


@lru_cache(maxsize=64)
def task_tool(kinds: tuple[SubagentKind, ...] = BUILT_IN) -> Tool:
    """The tool, for an agent that delegates to agents of these kinds."""

    async def run_call(call: ToolCall, arguments: TaskArguments) -> Done | Waits:
        if call.delegate is None:
            return Done(success=False, output="There is no other agent to give it to.")
        return await call.delegate(
            call, Assignment(kind=arguments.agent_type, task=arguments.prompt, within_s=WITHIN_S)
        )

    # The call itself changes nothing: the sub-agent's own calls are judged and ordered one by one. A worker that
    # takes the run over calls the tool again, and the sub-agent continues where it was.
    return local_tool(
        name="task",
        description=_DESCRIPTION.format(kinds=_describe_kinds(kinds)),
        arguments=TaskArguments,
        phrase="Handing on: {description}",
        run_call=run_call,
        effect="reads",
        deadline_ms=round(WITHIN_S * 1_000),
    )


def _describe_kinds(kinds: Sequence[SubagentKind]) -> str:
    # A sentence for each is enough, as its prompt is for the sub-agent itself. Beyond the limit there are only names.
    told, left = list[str](), MAX_KINDS_CHARACTERS
    for kind in kinds:
        what = f" {kind.description.rstrip('.')}"
        left -= len(what)
        told.append(f"`{kind.name}`{what if left >= 0 else ''}")
    return "; ".join(told)
