"""`compact`: the agent has its own conversation summed up before it goes on."""

from __future__ import annotations

from pydantic import Field

from backend_api.agent.events import MAX_FOCUS_CHARACTERS, CompactionWanted
from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool


class CompactArguments(Arguments):
    focus: str | None = Field(
        default=None, max_length=MAX_FOCUS_CHARACTERS, description="What the summary is to tell most of."
    )


async def _run(call: ToolCall, arguments: CompactArguments) -> Done:
    output = "The conversation is summed up before your next step."
    return Done(success=True, output=output, events=[CompactionWanted(focus=arguments.focus)])


COMPACT = local_tool(
    name="compact",
    description=(
        "Have the conversation so far replaced by a summary of it. Use it where the person asks for it, or where one "
        "piece of work is done, much of what was read for it is not needed any more, and much is still to come."
    ),
    arguments=CompactArguments,
    phrase="Summing up the conversation",
    effect="reads",
    run_call=_run,
    deadline_ms=5_000,
)
