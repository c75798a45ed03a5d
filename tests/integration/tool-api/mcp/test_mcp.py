"""The tools of a sandbox for MCP clients: the official one, in the protocol of today and in that with sessions, over
the real endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from support.endpoint import RunningEndpoint, await_true, processes_with, running_endpoint
from support.route_rules import scope_of
from tool_api.http.body_limit import MAX_BODY_BYTES
from tool_api.mcp.server import MAX_SESSIONS

MODES = ("auto", "legacy")
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@asynccontextmanager
async def client_of(endpoint: RunningEndpoint, mode: str, **claims: Any) -> AsyncGenerator[Client]:
    transport = httpx2.AsyncHTTPTransport(uds=str(endpoint.socket))
    headers = {"Authorization": f"Bearer {endpoint.keys.token(**claims)}"}
    async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=30) as http:
        stream = streamable_http_client("http://endpoint/mcp", http_client=http)
        async with Client(stream, mode=mode) as client:
            yield client


def text_of(result: Any) -> str:
    part = result.content[0]
    assert isinstance(part, TextContent)
    return part.text


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_is_told_of_the_same_tools_as_over_rest(endpoint: RunningEndpoint, mode: str) -> None:
    with endpoint.client() as rest:
        wanted = {tool["name"]: tool for tool in rest.get("/tools").json()}
    async with client_of(endpoint, mode) as client:
        told = (await client.list_tools()).tools
    assert [tool.name for tool in told] == list(wanted)
    for tool in told:
        spec = wanted[tool.name]
        assert (tool.description, tool.input_schema) == (spec["description"], spec["parameters"])
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (
            spec["read_only"],
            spec["dangerous"],
        )


@pytest.mark.parametrize("mode", MODES)
async def test_calls_act_in_the_same_sandbox_and_failures_are_told_to_the_model(
    endpoint: RunningEndpoint, mode: str
) -> None:
    async with client_of(endpoint, mode) as client:
        made = await client.call_tool("shell_exec", {"command": f"echo made > {mode}.txt; cat {mode}.txt"})
        read = await client.call_tool("file_read", {"path": f"{mode}.txt"})
        missing = await client.call_tool("file_read", {"path": "nowhere.txt"})
        wrong = await client.call_tool("shell_exec", {"comand": "true", "x" * 5000: 1})
        with pytest.raises(MCPError, match="There is no tool") as unknown:
            await client.call_tool("n" * 5000, {})
    assert (made.is_error, text_of(made)) == (False, "made\n")
    assert "made" in text_of(read)
    assert (endpoint.workspace / f"{mode}.txt").read_text() == "made\n"
    assert missing.is_error
    assert "nowhere.txt" in text_of(missing)
    assert wrong.is_error
    assert "command: Field required" in text_of(wrong)
    assert len(text_of(wrong)) < 1000
    assert len(str(unknown.value)) < 1000


@pytest.mark.parametrize("mode", MODES)
async def test_the_scopes_of_the_token_hold(endpoint: RunningEndpoint, mode: str) -> None:
    async with client_of(endpoint, mode, scopes=["files"]) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        with pytest.raises(MCPError, match="lacks the scope exec"):
            await client.call_tool("shell_exec", {"command": "touch reached"})
        assert not (await client.call_tool("file_write", {"path": "allowed.txt", "content": "x"})).is_error
    assert {scope_of(name) for name in names} == {"files"}
    assert {"file_read", "save_to_pdf", "code_symbols"} <= names
    assert not (endpoint.workspace / "reached").exists()


async def test_a_session_gives_a_token_no_more_than_it_allows(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as rest, endpoint.client(scopes=["files"]) as other:
        session = rest.post("/mcp", json=OPENING, headers=HEADERS).headers["mcp-session-id"]
        call = {"name": "shell_exec", "arguments": {"command": "touch reached"}}
        answer = other.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
            headers=HEADERS | {"Mcp-Session-Id": session},
        )
        assert rest.request("DELETE", "/mcp", headers={"Mcp-Session-Id": session}).status_code == 200
    assert "lacks the scope exec" in answer.text
    assert not (endpoint.workspace / "reached").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_is_cancelled_ends_all_it_started(endpoint: RunningEndpoint, mode: str) -> None:
    mark = f"sleep 98{MODES.index(mode)}.75"
    async with client_of(endpoint, mode) as client:
        call = asyncio.create_task(client.call_tool("shell_exec", {"command": f"{mark} & {mark}"}))
        await asyncio.to_thread(await_true, lambda: len(processes_with(mark)) >= 2)
        call.cancel()
        await asyncio.wait([call])
        await asyncio.to_thread(await_true, lambda: not processes_with(mark), 5)
        after = await client.call_tool("shell_exec", {"command": "echo still here"})
    assert text_of(after) == "still here\n"


async def test_a_session_that_is_ended_ends_its_calls(endpoint: RunningEndpoint) -> None:
    mark = "sleep 982.75"
    with endpoint.client() as rest:
        session = rest.post("/mcp", json=OPENING, headers=HEADERS).headers["mcp-session-id"]
        told = HEADERS | {"Mcp-Session-Id": session}
        params = {"name": "shell_exec", "arguments": {"command": mark}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}

        def ask() -> None:
            with endpoint.client() as other:
                other.post("/mcp", json=body, headers=told)

        asked = asyncio.create_task(asyncio.to_thread(ask))
        await asyncio.to_thread(await_true, lambda: processes_with(mark))
        assert rest.request("DELETE", "/mcp", headers=told).status_code == 200
        await asyncio.to_thread(await_true, lambda: not processes_with(mark), 5)
        await asyncio.wait([asked], timeout=5)
        assert rest.post("/mcp", json=body | {"id": 3}, headers=told).status_code == 404


@pytest.fixture
def fresh(tmp_path: Path) -> Generator[RunningEndpoint]:
    with running_endpoint(tmp_path) as running:
        yield running


@pytest.mark.thorough
async def test_sessions_are_bounded_and_those_that_are_open_go_on(fresh: RunningEndpoint) -> None:
    with fresh.client() as rest:
        opened = [rest.post("/mcp", json=OPENING, headers=HEADERS) for _ in range(MAX_SESSIONS + 1)]
        assert [answer.status_code for answer in opened] == [200] * MAX_SESSIONS + [503]
        first = HEADERS | {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert rest.post("/mcp", json=ping, headers=first).status_code == 200
        assert rest.request("DELETE", "/mcp", headers=first).status_code == 200
        assert rest.post("/mcp", json=OPENING, headers=HEADERS).status_code == 200


async def test_a_sandbox_that_ends_waits_for_no_client(fresh: RunningEndpoint) -> None:
    mark = "sleep 983.75"
    async with client_of(fresh, "legacy") as client:
        call = asyncio.create_task(client.call_tool("shell_exec", {"command": mark}))
        await asyncio.to_thread(await_true, lambda: processes_with(mark))
        fresh.process.terminate()
        await asyncio.to_thread(fresh.process.wait, 10)
        assert not processes_with(mark)
        call.cancel()
        await asyncio.wait([call])


BAD = [
    b"",
    b"nothing",
    b"[]",
    b"null",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}',
    b"[" * 200_000,
    b'{"a":' * 100_000,
    b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
]


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25", "none at all", None])
def test_a_bad_body_is_refused_and_the_next_is_answered(endpoint: RunningEndpoint, version: str | None) -> None:
    headers = HEADERS | ({"MCP-Protocol-Version": version} if version is not None else {})
    with endpoint.client() as rest:
        for body in BAD:
            answer = rest.post("/mcp", content=body, headers=headers)
            assert 400 <= answer.status_code < 500, (body[:50], answer.status_code, answer.text[:300])
        answer = rest.post("/mcp", json=OPENING, headers=HEADERS)
        assert answer.status_code == 200
        rest.request("DELETE", "/mcp", headers={"Mcp-Session-Id": answer.headers["mcp-session-id"]})


def test_bodies_are_bounded_as_those_of_every_route(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as rest:
        large = rest.post("/mcp", content=b" " * (MAX_BODY_BYTES + 1), headers=HEADERS)
        endless = rest.post("/mcp", content=iter([json.dumps(OPENING).encode()]), headers=HEADERS)
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
    assert (endless.status_code, endless.json()["code"]) == (411, "length_required")


def test_no_stream_stays_open_without_a_call(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as rest:
        assert rest.get("/mcp", headers={"Accept": "text/event-stream"}).status_code == 405
