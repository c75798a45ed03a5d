"""An MCP server over the tools of the registry. It is imported at the first client's request: the protocol's package
costs each sandbox a second and 20 MB, and most have no client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

import anyio
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic import ValidationError
from starlette.requests import Request

from contracts.tools import ToolResult
from tool_api.access import Grant
from tool_api.calls import Calls
from tool_api.errors import ScopeMissingError
from tool_api.mcp import forms
from tool_api.mcp.grants import grant_of_request
from tool_api.tools.tool import AnyTool, Arguments

logger = logging.getLogger(__name__)

MAX_SESSIONS = 32
_IDLE_S = 600.0
_Context = Any
"""`ServerRequestContext` of the package, whose request is untyped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTools:
    """Lists and calls the tools that the token of each request allows."""

    tools: Mapping[str, AnyTool]
    calls: Calls

    async def list_tools(self, context: _Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools that the token may call, all at once."""
        grant = _grant(context)
        return ListToolsResult(tools=[forms.listed(tool) for tool in self.tools.values() if grant.allows(tool.scope)])

    async def call_tool(self, context: _Context, params: CallToolRequestParams) -> CallToolResult:
        """Run one to its end; a client that cancels, or closes the stream of a stateless call, ends it."""
        tool = self.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name[:200]}.")
        try:
            _grant(context).demand(tool.scope)
        except ScopeMissingError as error:
            raise MCPError(INVALID_REQUEST, str(error)) from error
        try:
            arguments = tool.arguments.model_validate(params.arguments or {})
        except ValidationError as error:
            return forms.refused(error)
        return forms.to_call_result(await self._run(tool, arguments))

    async def _run(self, tool: AnyTool, arguments: Arguments) -> ToolResult:
        call = self.calls.start_call(f"mcp-{uuid4().hex}", tool, arguments)
        try:
            await asyncio.wait([call.task])
        finally:
            if not call.task.done():
                with anyio.CancelScope(shield=True):
                    await call.cancel()
        try:
            return call.result()
        except Exception as error:
            # As over REST, details of an internal fault are not shown.
            logger.exception("a tool failed", extra={"tool": tool.name})
            raise MCPError(INTERNAL_ERROR, "The tool could not be run.") from error


def session_manager(
    tools: Mapping[str, AnyTool], calls: Calls, *, version: str, max_body_bytes: int
) -> StreamableHTTPSessionManager:
    """The manager of client requests, of the stateless protocol and of the older ones with a session."""
    offered = McpTools(tools=tools, calls=calls)
    server: Server[Any] = Server(
        "sandbox", version=version, on_list_tools=offered.list_tools, on_call_tool=offered.call_tool
    )
    return StreamableHTTPSessionManager(
        server, session_idle_timeout=_IDLE_S, max_sessions=MAX_SESSIONS, max_request_body_size=max_body_bytes
    )


def _grant(context: _Context) -> Grant:
    """The grant of this request's token: a session may be used with several."""
    return grant_of_request(cast("Request", context.request).scope)
