"""`load_tools` and `use_tool`: the way to the tools that are not in an agent's prompt."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool


class LoadArguments(Arguments):
    family: str = Field(max_length=200, description="Name of a family, or of one tool.")
    find: str = Field(
        default="",
        max_length=200,
        description="Only tools with these words in name or description: for large families.",
    )


class UseArguments(Arguments):
    name: str = Field(max_length=200, description="Name of the tool.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Its arguments.")


async def _load(call: ToolCall, arguments: LoadArguments) -> Done:
    return call.load_tools(arguments.family, arguments.find)


async def _use(call: ToolCall, arguments: UseArguments) -> Done:
    # A call of it is turned into one of the named tool before it is recorded.
    del call
    return Done(success=False, output=f"Nothing was run: {arguments.name} can't be called so.")


LOAD_TOOLS = local_tool(
    name="load_tools",
    description="Answer the tools of a family, with what each takes. They stay loaded.",
    arguments=LoadArguments,
    phrase="Loading the tools of {family}",
    effect="reads",
    run_call=_load,
    deadline_ms=5_000,
)
USE_TOOL_OF_FAMILY = local_tool(
    name="use_tool",
    description="Call a tool of a family, as load_tools told it.",
    arguments=UseArguments,
    phrase="Using {name}",
    effect="reads",
    run_call=_use,
    deadline_ms=5_000,
)
