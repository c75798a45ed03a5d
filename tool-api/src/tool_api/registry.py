"""The literal table of all tools; building it opens nothing, so the manifest can be written without a sandbox."""

from __future__ import annotations

from collections.abc import Mapping

from tool_api.tools.tool import AnyTool


def tool_table(tools: tuple[AnyTool, ...]) -> Mapping[str, AnyTool]:
    """Tools by name; two of one name are a mistake in the table."""
    table = {tool.name: tool for tool in tools}
    if len(table) != len(tools):
        raise ValueError("two tools share a name")
    return table
