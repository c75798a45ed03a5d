"""Several tool boxes as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend_api.domain.agent.tools import CallContext, OnOutput, Tool, ToolBox, ToolOutcome


class CompositeToolBox:
    """The tools of all boxes; of two tools of one name the first box's counts."""

    def __init__(self, boxes: Sequence[ToolBox]) -> None:
        self._tools: list[Tool] = []
        self._box_of: dict[str, ToolBox] = {}
        for box in boxes:
            for tool in box.tools():
                if tool.name not in self._box_of:
                    self._tools.append(tool)
                    self._box_of[tool.name] = box

    def tools(self) -> Sequence[Tool]:
        return self._tools

    async def call(
        self, context: CallContext, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        return await self._box_of[name].call(context, name, arguments, on_output)
