"""MCP servers with an address, over real sockets: those by the official package, and those that mean harm."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.mcp.client.connector import McpConnections
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.client.session import MAX_LISTED
from backend_api.mcp.domain.entity import MAX_TOOLS, McpServer, McpTarget
from backend_api.mcp.ports import McpConnection, McpServerError, Place
from support.mcp_servers import OPENED, PNG, hostile_server, listed, ordinary_server

SECRET = "s3cret-of-the-server-42"


@asynccontextmanager
async def connected(url: str, *, allowed: bool = True, **fields: Any) -> AsyncGenerator[McpConnection]:
    host = url.split("/")[2]
    rules = FetchRules(allowed_hosts([host] if allowed else []))
    transport_of: Any = fields.pop("transport", "sse" if url.endswith("/sse") else "http")
    server = McpServer(name="box", transport=transport_of, url=url, source="user", **fields)
    target = McpTarget(server=server, values={"TOKEN": SECRET})
    async with guarded_transport(rules) as transport, asyncio.timeout(20):
        network = Network(transport=transport, rules=rules)
        connection = await McpConnections(Networks(shared=network, own=network)).connect(target, Place("s", "u"))
        try:
            yield connection
        finally:
            await connection.close()


def call(**arguments: Any) -> ToolCall:
    return ToolCall(session_id="s", user_id="u", run_id="r", call_id="c", name="x", arguments=arguments)


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_tools_are_listed_and_called_and_their_failures_are_results(transport: str) -> None:
    async with ordinary_server(transport) as server, connected(server.url) as connection:
        tools = {tool.public_name: tool for tool in (await connection.listing()).tools}
        assert list(tools) == [f"mcp__box__{name}" for name in ("add", "fail", "wait", "draw", "echo_headers")]
        assert tools["mcp__box__add"].description == "[Of the MCP server box] Adds two numbers."
        assert tools["mcp__box__add"].parameters["required"] == ["a", "b"]
        added = await connection.call("add", call(a=2, b=3))
        assert (added.success, added.output) == (True, "5")
        failed = await connection.call("fail", call())
        assert not failed.success
        assert "no luck today" in failed.output
        wrong = await connection.call("add", call(a="x"))
        unknown = await connection.call("nothing", call())
        assert not wrong.success
        assert not unknown.success
        drawn = await connection.call("draw", call())
        assert (drawn.body, drawn.body_media_type) == (PNG, "image/png")


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_call_that_is_cancelled_ends_at_the_server_within_half_a_second(transport: str) -> None:
    async with ordinary_server(transport) as server, connected(server.url) as connection:
        calling = asyncio.create_task(connection.call("wait", call()))
        await server.begun.wait()
        since = time.perf_counter()
        calling.cancel()
        await asyncio.wait({calling})
        await server.cancelled.wait()
        assert time.perf_counter() - since < 0.5
        assert (await connection.call("add", call(a=1, b=1))).output == "2"


async def test_headers_are_sent_with_their_variables_and_read_nowhere() -> None:
    headers = {"Authorization": "Bearer ${TOKEN}"}
    async with ordinary_server() as server, connected(server.url, headers=headers) as connection:
        told = await connection.call("echo_headers", call())
        assert server.headers["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in told.output
        assert "[masked]" in told.output


async def test_no_private_address_is_connected_to_that_is_not_allowed() -> None:
    async with ordinary_server() as server:
        with pytest.raises(McpServerError, match="Its address is not allowed: your own MCP servers"):
            async with connected(server.url, allowed=False):
                pass


async def test_one_that_leads_elsewhere_is_not_followed() -> None:
    async with ordinary_server() as server:
        away = f"HTTP/1.1 307 Away\r\nLocation: {server.url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        async with hostile_server(initialize=away.encode()) as hostile:
            with pytest.raises(McpServerError, match="does not respond as an MCP server"):
                async with connected(hostile.url):
                    pass
        assert server.headers == {}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "requires a token"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "status 503"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
            "as an MCP",
        ),
        (b"garbage\r\n\r\n", "as an MCP"),
        (b"", "as an MCP"),
        ({"protocolVersion": "1.0", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}, "as an MCP"),
        ({"protocolVersion": 7}, "as an MCP"),
    ],
)
async def test_why_one_can_not_be_used_is_said(answer: object, reason: str) -> None:
    async with hostile_server(initialize=answer) as server:
        with pytest.raises(McpServerError, match=reason):
            async with connected(server.url):
                pass


def packed(kind: bytes, size: int, piece: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nConnection: close\r\n\r\n" % kind
    return head + piece * max(size // len(piece), 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (packed(b"application/json", 10_000_000, b" "), "more than 4 MB"),
        (packed(b"text/event-stream", 10_000_000, b"data: " + b"x" * 10_000), "too large"),
        (packed(b"text/event-stream", 1_000_000, b"data:\n\n"), "more than 4 MB, or too many events"),
    ],
    ids=["json", "one event", "small events"],
)
async def test_of_a_result_without_end_a_bounded_part_is_read(answer: bytes, reason: str) -> None:
    says = {"tools_list": listed({"name": "flood"}), "tools_call": answer}
    async with hostile_server(**says) as server, connected(server.url) as connection:
        assert "flood" in str(await connection.listing())
        since = time.perf_counter()
        [ended] = await asyncio.gather(connection.call("flood", call()), return_exceptions=True)
        said = str(ended) if isinstance(ended, McpServerError) else ended.output if isinstance(ended, Done) else ""
        assert reason in said
        assert time.perf_counter() - since < 5


@pytest.mark.parametrize(
    "said",
    [
        b'{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"x":[%b0]}}}' % (b"[]," * 300_000),
        b"data: [" + b"[],\r\ndata: " * 9_000 + b"[" + b"{}," * 290_000 + b"0]]\r\n\r\n",
        b"data: [" + b"{}," * 290_000,
    ],
    ids=["json", "an event of many lines", "an event without end"],
)
async def test_an_answer_of_too_many_values_is_not_made_into_objects(said: bytes) -> None:
    kind = b"application/json" if said.startswith(b"{") else b"text/event-stream; charset=utf-16"
    says = {"tools_list": listed({"name": "many"}), "tools_call": packed(kind, len(said), said)}
    async with hostile_server(**says) as server, connected(server.url) as connection:
        done = await connection.call("many", call())
        assert not done.success
        assert "more than 100,000 values" in done.output


async def test_a_stream_that_is_ended_at_once_again_and_again_is_asked_for_once_a_second() -> None:
    times: list[float] = []
    came = asyncio.Event()

    async def end(writer: asyncio.StreamWriter, _: object) -> None:
        times.append(time.monotonic())
        writer.write(packed(b"text/event-stream", 1, b"retry: 0\nid: 1\ndata:\n\n"))
        await writer.drain()
        if len(times) == 7:
            came.set()

    opened = json.dumps({"jsonrpc": "2.0", "id": 1, "result": OPENED}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nConnection: close\r\n\r\n"
    began = time.monotonic()
    async with hostile_server(initialize=head + opened, GET=end) as server, connected(server.url):
        await asyncio.wait_for(came.wait(), 10)
    # Since the beginning: what a busy machine answers late would leave the next one too short a second.
    assert times[4] - times[0] < 1
    assert times[5] - began > 0.9
    assert times[6] - began > 1.9


async def test_a_call_that_hangs_or_a_server_that_dies_is_told_and_closing_takes_no_time() -> None:
    called = asyncio.Event()

    async def hang(*_: object) -> None:
        called.set()
        await asyncio.sleep(60)

    says: Mapping[str, Any] = {"tools_list": listed({"name": "hang"}), "tools_call": hang}
    async with hostile_server(**says) as server, connected(server.url) as connection:
        calling = asyncio.create_task(connection.call("hang", call()))
        await asyncio.wait_for(called.wait(), 5)
        since = time.perf_counter()
        await connection.close()
        [ended] = await asyncio.gather(calling, return_exceptions=True)
        assert isinstance(ended, McpServerError | Done)
        assert time.perf_counter() - since < 1


async def test_an_error_of_the_servers_own_is_told_in_its_words_whatever_its_number() -> None:
    async def fail(writer: asyncio.StreamWriter, asked: dict[str, Any]) -> None:
        error = {"code": -32000, "message": "The page is gone."}
        said = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode()
        writer.write(packed(b"application/json", len(said), said))
        await writer.drain()

    async with hostile_server(tools_list=listed({"name": "get"}), tools_call=fail) as server:
        async with connected(server.url) as connection:
            done = await connection.call("get", call())
    assert (done.success, done.output) == (False, "The server refuses the call: The page is gone.")


async def test_what_is_no_result_of_a_tool_is_told_as_such() -> None:
    says = {"tools_list": listed({"name": "odd"}), "tools_call": {"content": "not a list"}}
    async with hostile_server(**says) as server, connected(server.url) as connection:
        done = await connection.call("odd", call())
        assert not done.success
        assert "not a tool result" in done.output


async def test_a_result_that_would_take_for_ever_to_check_by_its_own_schema_is_just_read() -> None:
    lies = {"name": "slow", "outputSchema": {"type": "object", "properties": {"x": {"pattern": "^(a+)+$"}}}}
    result = {"content": [], "structuredContent": {"x": "a" * 40 + "!"}}
    async with hostile_server(tools_list=listed(lies), tools_call=result) as server:
        async with connected(server.url) as connection:
            await connection.listing()
            since = time.perf_counter()
            assert "aaaa" in (await connection.call("slow", call())).output
            assert time.perf_counter() - since < 2


async def test_a_list_that_never_ends_is_left() -> None:
    async with hostile_server(tools_list={**listed({"name": "a"}), "nextCursor": "again"}) as server:
        async with connected(server.url) as connection:
            listing = await connection.listing()
    assert [tool.name for tool in listing.tools] == ["a"]
    assert "another tool has the same name" in listing.left_out[0]
    assert server.asked.count("tools/list") == 20


async def test_of_a_list_of_thousands_the_first_thousand_are_looked_at() -> None:
    page = listed(*({"name": f"t{number}"} for number in range(600)))
    more = listed(*({"name": f"u{number}"} for number in range(600)))
    pages = iter([{**page, "nextCursor": "2"}, {**more, "nextCursor": "3"}])

    async def answer(writer: asyncio.StreamWriter, asked: dict[str, Any]) -> None:
        said = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": next(pages)}).encode()
        writer.write(packed(b"application/json", len(said), said))
        await writer.drain()

    async with hostile_server(tools_list=answer) as server, connected(server.url) as connection:
        listing = await connection.listing()
    assert len(listing.tools) == MAX_TOOLS
    assert listing.left_out[-1] == f"{MAX_LISTED - MAX_TOOLS - 5} more"
    assert server.asked.count("tools/list") == 2
