"""What tools answer, for a client of the protocol; faults, pictures, and who does not read."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ImageContent, TextContent
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from contracts.sandboxes import Scope
from contracts.tools import BrowserDisplay, ImageDisplay, ToolResult
from tool_api.access import Grant
from tool_api.calls import Calls
from tool_api.mcp import endpoint as endpoint_module
from tool_api.mcp.endpoint import McpEndpoint
from tool_api.tools.tool import Arguments, CallContext, Tool, done, failed

GRANT = Grant(scopes=frozenset({"exec"}), expires_at=time.time() + 300)
PICTURE = "aGVsbG8="
MODES = ("auto", "legacy")


class Nothing(Arguments):
    """No arguments."""


async def page(_: CallContext, __: Nothing) -> ToolResult:
    return done("a page", display=BrowserDisplay(url="x", image=PICTURE, image_media_type="image/webp"))


async def picture(_: CallContext, __: Nothing) -> ToolResult:
    return failed("half a picture", display=ImageDisplay(image=PICTURE, image_media_type="image/png"))


async def without(_: CallContext, __: Nothing) -> ToolResult:
    return done("no picture", display=ImageDisplay(path="x.png"))


async def fault(_: CallContext, __: Nothing) -> ToolResult:
    raise RuntimeError("the secret of the house")


async def hang(_: CallContext, __: Nothing) -> ToolResult:
    await asyncio.Event().wait()
    raise AssertionError


def tool(name: str, handler: Callable[[CallContext, Nothing], Awaitable[ToolResult]]) -> Tool[Nothing]:
    limit = 100 if name == "hang" else 5_000
    return Tool(
        name=name,
        description="",
        arguments=Nothing,
        phrase="",
        scope=Scope.EXEC,
        deadline_ms=limit,
        handler=handler,
    )


TOOLS = {
    name: tool(name, handler)
    for name, handler in {
        "page": page,
        "picture": picture,
        "without": without,
        "fault": fault,
        "hang": hang,
    }.items()
}


@asynccontextmanager
async def client_of(mode: str) -> AsyncGenerator[Client]:
    async with Calls() as calls, McpEndpoint(TOOLS, calls, version="1", max_body_bytes=1_000_000) as served:

        async def app(scope: AsgiScope, receive: Receive, send: Send) -> None:
            await served.answer(GRANT, scope, receive, send)

        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http:
            stream = streamable_http_client("http://sandbox/mcp", http_client=http)
            async with Client(stream, mode=mode) as client:
                yield client


@pytest.mark.parametrize("mode", MODES)
async def test_a_picture_comes_with_the_text(mode: str) -> None:
    async with client_of(mode) as client:
        shown = await client.call_tool("page", {})
        partly = await client.call_tool("picture", {})
        none = await client.call_tool("without", {})
    assert shown.content == [TextContent(text="a page"), ImageContent(data=PICTURE, mime_type="image/webp")]
    assert not shown.is_error
    assert partly.content == [TextContent(text="half a picture"), ImageContent(data=PICTURE, mime_type="image/png")]
    assert partly.is_error
    assert none.content == [TextContent(text="no picture")]


@pytest.mark.parametrize("mode", MODES)
async def test_a_fault_is_told_without_its_text_and_the_next_call_runs(mode: str) -> None:
    async with client_of(mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("fault", {})
        after = await client.call_tool("without", {})
    assert str(raised.value.message) == "The tool could not be run."
    assert not after.is_error


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_over_its_tools_deadline_says_so(mode: str) -> None:
    async with client_of(mode) as client:
        late = await client.call_tool("hang", {})
    assert late.is_error
    assert isinstance(late.content[0], TextContent)
    assert "did not finish within 0.1 s" in late.content[0].text


async def test_who_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "_SEND_S", 0.05)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(_: Message) -> None:
        await asyncio.Event().wait()

    headers = [(b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    async with Calls() as calls, McpEndpoint(TOOLS, calls, version="1", max_body_bytes=1_000_000) as served:
        with pytest.raises(TimeoutError):
            await served.answer(GRANT, scope, receive, send)


async def test_one_that_could_not_start_is_started_by_the_next_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    load = endpoint_module._load  # pyright: ignore[reportPrivateUsage]
    answered: list[Message] = []

    def broken() -> None:
        raise OSError("no memory left")

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Message) -> None:
        answered.append(message)

    headers = [(b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    async with Calls() as calls, McpEndpoint(TOOLS, calls, version="1", max_body_bytes=1_000_000) as served:
        monkeypatch.setattr(endpoint_module, "_load", broken)
        with pytest.raises(OSError, match="no memory"):
            await served.answer(GRANT, scope, receive, send)
        monkeypatch.setattr(endpoint_module, "_load", load)
        await served.answer(GRANT, scope, receive, send)
    assert answered[0]["status"] == 400


def test_a_sandbox_loads_the_protocol_for_nobody() -> None:
    look = "import sys, tool_api.bootstrap.serve; assert not {'mcp', 'httpx2', 'jupyter_client'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", look], check=True, timeout=60)
