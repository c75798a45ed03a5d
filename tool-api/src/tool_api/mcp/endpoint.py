"""The MCP server of a sandbox, started at the first client's request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from starlette.types import Message, Receive, Scope, Send

from tool_api.access import Grant
from tool_api.calls import Calls
from tool_api.mcp.grants import with_grant
from tool_api.tools.tool import AnyTool

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_SEND_S = 30.0


class McpEndpoint:
    """Answers requests of MCP clients; an async context manager that ends all sessions, and with them their calls."""

    def __init__(self, tools: Mapping[str, AnyTool], calls: Calls, *, version: str, max_body_bytes: int) -> None:
        self._tools = tools
        self._calls = calls
        self._version = version
        self._max_body_bytes = max_body_bytes
        self._serving: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    async def __aenter__(self) -> McpEndpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving])

    async def answer(self, grant: Grant, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with what its token allows. A client that does not read is cut off after a time."""

        async def bounded_send(message: Message) -> None:
            async with asyncio.timeout(_SEND_S):
                await send(message)

        manager = await asyncio.shield(self._manager_future())
        await manager.handle_request(with_grant(scope, grant), receive, bounded_send)

    def _manager_future(self) -> asyncio.Future[StreamableHTTPSessionManager]:
        if self._manager is None or (self._serving is not None and self._serving.done()):
            loop = asyncio.get_running_loop()
            self._manager = loop.create_future()
            self._serving = loop.create_task(self._serve(self._manager), name="mcp")
        return self._manager

    async def _serve(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Run the server in a task of its own, so that it outlives the first client's request."""
        try:
            session_manager = await asyncio.to_thread(_load)
            manager = session_manager(
                self._tools, self._calls, version=self._version, max_body_bytes=self._max_body_bytes
            )
            async with manager.run():
                started.set_result(manager)
                await asyncio.Event().wait()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)
        finally:
            started.cancel()


def _load() -> Callable[..., StreamableHTTPSessionManager]:
    """Import the server, which takes a second: in a thread, so that nobody's call waits for it."""
    from tool_api.mcp.server import session_manager

    return session_manager
