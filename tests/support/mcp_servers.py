"""MCP servers of tests, on loopback: one by the official package, and one that sends what it is told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import uvicorn
from mcp import MCPError
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import INTERNAL_ERROR
from starlette.requests import Request

from support.listening import on_loopback

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000028000000280806000000") + b"\0" * 40 + b"IEND\xaeB`\x82"

Writing = Callable[[asyncio.StreamWriter, dict[str, Any]], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Ordinary:
    """A well-behaved server. `cancelled` is set once a call of `wait` was, which breaks off half way once it
    `may_break`; `headers` are those of the last call."""

    url: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    may_break: asyncio.Event = field(default_factory=asyncio.Event)
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def server(self, **options: Any) -> MCPServer[Any]:
        """With tools that add, fail, wait, draw and tell headers."""
        server: MCPServer[Any] = MCPServer("ordinary", **options)

        @server.tool(description="Adds two numbers.")
        def add(a: int, b: int) -> int:
            return a + b

        @server.tool()
        def fail() -> str:
            raise ToolError("no luck today")

        @server.tool()
        async def wait() -> str:
            self.begun.set()
            try:
                await self.may_break.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            raise MCPError(code=INTERNAL_ERROR, message="broken half way")

        @server.tool(structured_output=False)
        def draw() -> Image:
            return Image(data=PNG, format="png")

        @server.tool()
        def echo_headers(context: Context[Any, Any]) -> str:
            request = context.request_context.request
            assert isinstance(request, Request)
            self.headers = dict(request.headers)
            return json.dumps(self.headers)

        return server


@asynccontextmanager
async def ordinary_server(transport: str = "http", *, port: int = 0) -> AsyncGenerator[Ordinary]:
    """With `port`, where another one was."""
    ordinary = Ordinary()
    server = ordinary.server()
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    async with on_loopback(running, port=port) as address:
        ordinary.url = f"{address}/{'sse' if transport == 'sse' else 'mcp'}"
        yield ordinary


@dataclass(slots=True)
class Hostile:
    """Answers each method by `says`: a result, bytes that are sent as they are, or what writes by itself."""

    says: dict[str, Any] = field(default_factory=dict[str, Any])
    asked: list[str] = field(default_factory=list[str])
    port: int = 0
    status: bytes = b"200 OK"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
            body = await reader.readexactly(length)
            asked: dict[str, Any] = json.loads(body) if body else {}
            method = str(asked.get("method", "GET"))
            self.asked.append(method)
            await self._answer(writer, method, asked)
        writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, method: str, asked: dict[str, Any]) -> None:
        says = self.says.get(method)
        if callable(says):
            await cast("Writing", says)(writer, asked)
            return
        if isinstance(says, bytes):
            writer.write(says)
        elif "id" not in asked:
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        else:
            answer = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": says or {}}).encode()
            head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            writer.write(head % (self.status, len(answer)) + answer)
        await writer.drain()


OPENED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "hostile", "version": "1"},
}


def listed(*tools: Mapping[str, Any]) -> dict[str, Any]:
    """A result of `tools/list`."""
    return {"tools": [{"inputSchema": {"type": "object"}, "description": "A tool.", **tool} for tool in tools]}


@asynccontextmanager
async def hostile_server(**says: Any) -> AsyncGenerator[Hostile]:
    """`says` by method with `_` for `/`; what opens a connection is as it should be."""
    hostile = Hostile(says={"initialize": OPENED} | {name.replace("_", "/"): said for name, said in says.items()})
    server = await asyncio.start_server(hostile.serve, "127.0.0.1", 0)
    hostile.port = server.sockets[0].getsockname()[1]
    try:
        yield hostile
    finally:
        server.close()
