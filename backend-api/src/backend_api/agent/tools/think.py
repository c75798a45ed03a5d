"""`think`: a place to reason; it has no effect."""

from __future__ import annotations

from pydantic import Field

from backend_api.agent.capabilities.verification import THINK_TOOL
from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool


class ThinkArguments(Arguments):
    thought: str = Field(min_length=1, max_length=50_000, description="What you reason about.")


async def _run(call: ToolCall, arguments: ThinkArguments) -> Done:
    return Done(success=True, output="Noted.")


THINK = local_tool(
    name=THINK_TOOL,
    description=(
        "Write down a thought. It has no effect and no one is asked. Use it to plan several steps, to weigh results, "
        "and before you finish: list what was wanted, what you did, how you verified it, and what is still open."
    ),
    arguments=ThinkArguments,
    phrase="Thinking",
    effect="reads",
    run_call=_run,
    deadline_ms=5_000,
)
