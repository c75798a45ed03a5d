"""Tools that run in the gateway itself: each a record of what it is and a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from backend_api.domain.agent.tools import CallContext, OnOutput, Tool, ToolOutcome
from backend_api.domain.agent.wrong_arguments import ArgumentFault, wrong_arguments


class Arguments(BaseModel):
    """Base of every local tool's arguments: an unknown field is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTool:
    """`run` gets validated arguments of the class `arguments`."""

    name: str
    description: str
    arguments: type[Arguments]
    phrase: str
    run: Callable[[CallContext, Any], Awaitable[ToolOutcome]]
    read_only: bool = True
    deadline_ms: int = 30_000

    def spec(self) -> Tool:
        schema = self.arguments.model_json_schema()
        return Tool(
            name=self.name,
            description=self.description,
            parameters={"type": "object", "properties": {}, **schema},
            phrase=self.phrase,
            read_only=self.read_only,
            deadline_ms=self.deadline_ms,
        )


class LocalToolBox:
    """`ToolBox` over local tools."""

    def __init__(self, tools: Sequence[LocalTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._specs = [tool.spec() for tool in tools]

    def tools(self) -> Sequence[Tool]:
        return self._specs

    async def call(
        self, context: CallContext, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        tool = self._tools[name]
        try:
            checked = tool.arguments.model_validate(arguments)
        except ValidationError as error:
            faults = [
                ArgumentFault(tuple(str(part) for part in fault["loc"]), fault["msg"])
                for fault in error.errors(include_url=False, include_input=False)
            ]
            return ToolOutcome(success=False, output=wrong_arguments(name, faults, arguments))
        return await tool.run(context, checked)
