"""MCP servers that are programs, run in the sandboxes of sessions, over the endpoint's WebSocket."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from websockets.exceptions import WebSocketException

from backend_api.sandboxes.domain.entity import Scope
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.ports import Sandboxes
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sockets import BoundedConnection, open_socket
from contracts.mcp_programs import MAX_LINE_BYTES, PATH, McpProgramStart


@dataclass(frozen=True, slots=True)
class McpPrograms:
    """Starts programs in sandboxes."""

    sandboxes: Sandboxes
    endpoints: Endpoints

    @asynccontextmanager
    async def open(self, session_id: str, user_id: str, start: McpProgramStart) -> AsyncGenerator[BoundedConnection]:
        """Starts a program in the session's sandbox, which is started if there is none; each message is a line. The
        program ends with the block. Raises `SandboxUnavailableError`."""
        sandbox = await self.sandboxes.ensure(session_id, user_id)
        token = await self.endpoints.address(sandbox, (Scope.EXEC,))
        async with AsyncExitStack() as stack:
            try:
                socket = await stack.enter_async_context(open_socket(token, PATH, max_size=MAX_LINE_BYTES))
                await socket.send(start.model_dump_json())
            except (OSError, WebSocketException, TimeoutError) as error:
                await self.endpoints.forget(sandbox)
                raise SandboxUnavailableError("The computer does not answer. Try again in a moment.") from error
            yield socket
