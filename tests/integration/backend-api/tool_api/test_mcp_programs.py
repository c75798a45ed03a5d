"""MCP servers that are programs in a sandbox, as a run's agents use them: over the real tool API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from backend_api.agent.tool import ToolCall
from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import FetchRules
from backend_api.mcp.client.connector import McpConnections
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.mcp_programs import McpPrograms
from backend_api.mcp.ports import McpConnection, McpServerError, Place
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from support.endpoint import RunningEndpoint, await_true, processes_with
from support.mcp_program import program_config
from support.same_sandbox import SameSandbox

SECRET = "k3y-of-the-program-77"


def program(**env: str) -> dict[str, Any]:
    return program_config(**env)


@asynccontextmanager
async def connected(endpoints: Endpoints, sandbox: Sandbox, config: dict[str, Any]) -> AsyncGenerator[McpConnection]:
    server = McpServer(name="box", transport="stdio", source="user", **config)
    rules = FetchRules(frozenset())
    async with guarded_transport(rules) as transport, asyncio.timeout(40):
        network = Network(transport=transport, rules=rules)
        connections = McpConnections(
            Networks(shared=network, own=network), McpPrograms(SameSandbox(sandbox), endpoints)
        )
        connection = await connections.connect(McpTarget(server=server, values={"KEY": SECRET}), Place("s", "u"))
        try:
            yield connection
        finally:
            await connection.close()


def call(**arguments: Any) -> ToolCall:
    return ToolCall(session_id="s", user_id="u", run_id="r", call_id="c", name="x", arguments=arguments)


async def broken(connection: McpConnection, name: str) -> str:
    """What is told of a call in which the connection ends."""
    try:
        done = await connection.call(name, call())
    except McpServerError as error:
        return str(error)
    assert not done.success
    return done.output


async def until_closed(connection: McpConnection) -> None:
    async with asyncio.timeout(5):
        while connection.is_open:
            await asyncio.sleep(0.01)


async def test_its_tools_are_listed_and_called_and_its_failures_are_results(
    endpoints: Endpoints, sandbox: Sandbox, endpoint: RunningEndpoint
) -> None:
    async with connected(endpoints, sandbox, program(PROGRAM_KEY="${KEY}")) as connection:
        tools = [tool.public_name for tool in (await connection.listing()).tools]
        assert tools == [f"mcp__box__{name}" for name in ("add", "fail", "wait", "die", "where", "flood")]
        assert (await connection.call("add", call(a=2, b=3))).output == "5"
        failed = await connection.call("fail", call())
        assert not failed.success
        assert "no luck today" in failed.output
        where = (await connection.call("where", call())).output
        assert where.startswith(f"{endpoint.workspace} with ")
        assert SECRET not in where
        assert "no key" not in where


async def test_a_call_that_is_cancelled_is_told_to_it_and_the_end_leaves_nothing(
    endpoints: Endpoints, sandbox: Sandbox, endpoint: RunningEndpoint
) -> None:
    async with connected(endpoints, sandbox, program(SLEEP_S="7263.5")) as connection:
        calling = asyncio.create_task(connection.call("wait", call()))
        await asyncio.to_thread(await_true, (endpoint.workspace / "waiting.txt").exists)
        calling.cancel()
        await asyncio.wait({calling})
        await asyncio.to_thread(await_true, (endpoint.workspace / "cancelled.txt").exists)
        assert (await connection.call("add", call(a=1, b=1))).output == "2"
        await asyncio.to_thread(await_true, lambda: processes_with("sleep 7263.5") != [])
        began = time.monotonic()
        await connection.close()
        assert time.monotonic() - began < 1
    await asyncio.to_thread(await_true, lambda: not processes_with("sleep 7263.5"))


async def test_one_that_dies_in_a_call_says_why(endpoints: Endpoints, sandbox: Sandbox) -> None:
    async with connected(endpoints, sandbox, program()) as connection:
        assert "exit code 3: out of coffee" in await broken(connection, "die")
        await until_closed(connection)


async def test_one_that_floods_is_ended(endpoints: Endpoints, sandbox: Sandbox) -> None:
    async with connected(endpoints, sandbox, program()) as connection:
        assert "more than 4 MB" in await broken(connection, "flood")
        await until_closed(connection)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ({"command": "no-such-program"}, "exit code 127: no-such-program: No such file or directory"),
        ({"command": "sh", "args": ["-c", "echo $KEY_OF_IT >&2; exit 1"], "env": {"KEY_OF_IT": SECRET}}, "exit code 1"),
        ({"command": "sh", "args": ["-c", "yes"]}, "too many events|sent more"),
    ],
)
async def test_one_that_does_not_speak_the_protocol_is_told_without_its_secrets(
    endpoints: Endpoints, sandbox: Sandbox, command: dict[str, Any], reason: str
) -> None:
    with pytest.raises(McpServerError, match=reason) as told:
        async with connected(endpoints, sandbox, command):
            pass
    assert SECRET not in str(told.value)
