"""Calls of tools, counted and traced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from backend_api.application import measures
from backend_api.domain.agent.tools import CallContext, OnOutput, Tool, ToolBox, ToolOutcome
from service_kit.observation.spans import span


class WatchedToolBox:
    """`ToolBox` around another one."""

    def __init__(self, inner: ToolBox) -> None:
        self._inner = inner

    def tools(self) -> Sequence[Tool]:
        return self._inner.tools()

    async def call(
        self, context: CallContext, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        began = time.perf_counter()
        outcome = "fault"
        with span("tool call", attributes={"tool.name": name, "tool.call_id": context.call_id}) as current:
            try:
                result = await self._inner.call(context, name, arguments, on_output)
                outcome = "success" if result.success else "failure"
                return result
            except asyncio.CancelledError:
                outcome = "cancelled"
                raise
            finally:
                measures.TOOL_CALLS.add(name, outcome)
                measures.TOOL_SECONDS.observe(time.perf_counter() - began, name)
                current.set_attribute("outcome", outcome)
