"""Servers that forget their sessions, restart or go away: what can't have happened is told apart from what may have."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.mcp.client.connector import McpConnections
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.ports import McpConnection, McpNotCalledError, McpServerError, Place
from support.mcp_servers import OPENED, hostile_server, listed, ordinary_server

CALL = ToolCall(session_id="s", user_id="u", run_id="r", call_id="c", name="x", arguments={"a": 1, "b": 1})


@asynccontextmanager
async def connected(url: str, transport_of: Any = "http") -> AsyncGenerator[McpConnection]:
    rules = FetchRules(allowed_hosts([url.split("/")[2]]))
    target = McpTarget(server=McpServer(name="box", transport=transport_of, url=url, source="user"))
    async with guarded_transport(rules) as transport, asyncio.timeout(20):
        network = Network(transport=transport, rules=rules)
        connection = await McpConnections(Networks(shared=network, own=network)).connect(target, Place("s", "u"))
        try:
            yield connection
        finally:
            await connection.close()


def answer(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    return head.encode() + b"\r\n" + body


def opened_with_session() -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": OPENED}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: first\r\nConnection: close\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def rpc_error(code: int, message: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}).encode()


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        ("404 Not Found", "text/plain", b""),
        ("404 Not Found", "text/html", b"<h1>Not here</h1>"),
        ("404 Not Found", "application/json", rpc_error(-32001, "Session not found")),
        ("404 Not Found", "application/json", rpc_error(-32600, "Session terminated")),
        ("404 Not Found", "application/json", b'{"error": "MCP session not found"}'),
        ("400 Bad Request", "application/json", rpc_error(-32000, "Bad Request: No valid session ID provided")),
        ("400 Bad Request", "application/json", rpc_error(-32000, "Bad Request: Server not initialized")),
        ("400 Bad Request", "text/plain", b"Invalid session ID"),
        ("400 Bad Request", "text/plain", b"Missing Mcp-Session-Id header"),
    ],
)
async def test_a_call_in_a_session_that_the_server_forgot_is_known_not_to_have_happened(
    status: str, kind: str, body: bytes
) -> None:
    says = {"tools_list": listed({"name": "get"}), "tools_call": answer(status, kind, body)}
    async with hostile_server(**says) as server:
        server.says["initialize"] = opened_with_session()
        async with connected(server.url) as connection:
            with pytest.raises(McpNotCalledError, match=f"no longer recognises the session .*{status[:3]}"):
                await connection.call("get", CALL)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        ("404 Not Found", rpc_error(-32601, "There is no such method."), "There is no such method."),
        ("400 Bad Request", rpc_error(-32602, "A session id is required as an argument."), "is required"),
        ("400 Bad Request", rpc_error(-32000, "The arguments are wrong."), "The arguments are wrong."),
        ("400 Bad Request", b"no", "status 400."),
        ("503 Not now", b"no", "status 503. The call may have happened."),
        ("429 Too many", b"no", "status 429."),
    ],
)
async def test_another_refusal_is_told_and_never_asked_again(status: str, body: bytes, said: str) -> None:
    kind = "application/json" if body.startswith(b"{") else "text/plain"
    async with hostile_server(tools_call=answer(status, kind, body)) as server:
        server.says["initialize"] = opened_with_session()
        async with connected(server.url) as connection:
            done = await connection.call("get", CALL)
    assert not done.success
    assert said in done.output
    assert server.asked.count("tools/call") == 1


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        ("400 Bad Request", rpc_error(-32000, "transfer done; checkout session expired"), "checkout session expired"),
        ("410 Gone", b'{"error": "The voucher was redeemed"}', "status 410."),
        ("410 Gone", b"", "status 410."),
        ("404 Not Found", b'{"error": "mail sent; recipient folder not found"}', "status 404."),
        ("404 Not Found", rpc_error(-32000, "mail sent; folder not found"), "folder not found"),
    ],
)
async def test_what_a_server_hands_on_after_it_may_have_acted_is_told_as_such_and_its_session_is_left(
    status: str, body: bytes, said: str
) -> None:
    async with hostile_server(tools_call=answer(status, "application/json", body)) as server:
        server.says["initialize"] = opened_with_session()
        async with connected(server.url) as connection:
            assert not connection.is_doubtful
            done = await connection.call("get", CALL)
            assert connection.is_open
            assert connection.is_doubtful
    assert not done.success
    assert said in done.output
    assert done.output.endswith("The call may have happened.")
    assert server.asked.count("tools/call") == 1


async def test_a_server_without_sessions_that_answers_404_has_forgotten_none() -> None:
    async with hostile_server(tools_call=answer("404 Not Found", "text/plain", b"")) as server:
        async with connected(server.url) as connection:
            done = await connection.call("get", CALL)
    assert (done.success, done.output) == (False, "The server responded to the call with status 404.")


async def test_a_list_in_a_session_that_the_server_forgot_may_be_asked_for_again() -> None:
    async with hostile_server(tools_list=answer("404 Not Found", "text/plain", b"")) as server:
        server.says["initialize"] = opened_with_session()
        async with connected(server.url) as connection:
            with pytest.raises(McpNotCalledError):
                await connection.listing()


async def test_a_call_to_a_server_that_is_not_there_any_more_has_not_happened() -> None:
    async with hostile_server() as server:
        connecting = connected(server.url)
        connection = await connecting.__aenter__()
    with pytest.raises(McpNotCalledError, match="The server can't be reached"):
        await connection.call("get", CALL)
    with pytest.raises(McpNotCalledError):
        await connection.call("get", CALL)
    await connecting.__aexit__(None, None, None)


async def test_a_call_whose_answer_never_came_may_have_happened() -> None:
    async def hang_up(writer: asyncio.StreamWriter, _: object) -> None:
        writer.transport.abort()

    async with hostile_server(tools_call=hang_up) as server, connected(server.url) as connection:
        [ended] = await asyncio.gather(connection.call("get", CALL), return_exceptions=True)
    assert not isinstance(ended, McpNotCalledError)
    assert isinstance(ended, McpServerError) or (isinstance(ended, Done) and "may have happened" in ended.output)
    assert server.asked.count("tools/call") == 1


async def test_a_stream_that_can_not_be_resumed_after_the_call_was_taken_may_have_happened() -> None:
    begun = answer("200 OK", "text/event-stream", b"").replace(b"Content-Length: 0\r\n", b"")
    event = b"id: 1\nretry: 1\ndata:\n\n"
    says = {"tools_call": begun + event, "GET": answer("404 Not Found", "text/plain", b"")}
    async with hostile_server(**says) as server:
        server.says["initialize"] = opened_with_session()
        async with connected(server.url) as connection:
            [ended] = await asyncio.gather(connection.call("get", CALL), return_exceptions=True)
    assert not isinstance(ended, McpNotCalledError)
    assert isinstance(ended, Done)
    assert "may have happened" in ended.output


async def test_of_the_older_protocol_a_message_that_is_refused_ends_the_wait_for_its_answer() -> None:
    """Another gateway of the server knows the stream, and this one does not."""
    gone = answer("404 Not Found", "text/plain", b"Could not find session")
    opened = asyncio.Event()

    async def stream(writer: asyncio.StreamWriter, _: object) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.write(b"event: endpoint\ndata: /mcp?session_id=1\n\n")
        await writer.drain()
        await opened.wait()
        said = json.dumps({"jsonrpc": "2.0", "id": 1, "result": OPENED}).encode()
        writer.write(b"event: message\ndata: " + said + b"\n\n")
        await writer.drain()
        await asyncio.sleep(15)

    async def initialize(writer: asyncio.StreamWriter, _: object) -> None:
        writer.write(answer("202 Accepted", "text/plain", b""))
        await writer.drain()
        opened.set()

    async with hostile_server(GET=stream, tools_call=gone) as server:
        server.says["initialize"] = initialize
        async with connected(server.url, "sse") as connection, asyncio.timeout(5):
            with pytest.raises(McpNotCalledError, match="no longer recognises the session"):
                await connection.call("get", CALL)
            assert not connection.is_open


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_after_a_restart_of_the_server_a_new_connection_can_call(transport: str) -> None:
    async with ordinary_server(transport) as server:
        connecting = connected(server.url, transport)
        connection = await connecting.__aenter__()
        assert (await connection.call("add", CALL)).output == "2"
        port = int(server.url.split(":")[2].split("/")[0])
    async with ordinary_server(transport, port=port) as server:
        with pytest.raises(McpNotCalledError):
            await connection.call("add", CALL)
        async with connected(server.url, transport) as fresh:
            assert (await fresh.call("add", CALL)).output == "2"
    await connecting.__aexit__(None, None, None)
