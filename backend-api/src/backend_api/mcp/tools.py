"""The tools of MCP servers, which a run finds when it begins."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Tool


class McpTools:
    """`ToolSource`."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The same tools for all agents of a run."""
        return setup.mcp_tools
