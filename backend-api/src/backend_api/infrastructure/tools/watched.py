"""Calls of tools, counted and traced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from backend_api.application import measures
from backend_api.domain.agent.capability import Setup, ToolSource
from backend_api.domain.agent.tools import Done, Tool, ToolCall, Waits
from service_kit.observation.spans import span


class WatchedTools:
    """`ToolSource` around another one."""

    def __init__(self, inner: ToolSource) -> None:
        self._inner = inner

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The same ones, watched."""
        return [_watched(tool) for tool in await self._inner.tools(setup)]


def _watched(tool: Tool) -> Tool:
    """The same tool, its calls counted and traced."""

    async def run(call: ToolCall) -> Done | Waits:
        began = time.perf_counter()
        outcome = "fault"
        with span("tool call", attributes={"tool.name": call.name, "tool.call_id": call.call_id}) as current:
            try:
                result = await tool.run(call)
                outcome = "waits" if isinstance(result, Waits) else "success" if result.success else "failure"
                return result
            except asyncio.CancelledError:
                outcome = "cancelled"
                raise
            finally:
                measures.TOOL_CALLS.labels(call.name, outcome).inc()
                measures.TOOL_SECONDS.labels(call.name).observe(time.perf_counter() - began)
                current.set_attribute("outcome", outcome)

    return replace(tool, run=run)
