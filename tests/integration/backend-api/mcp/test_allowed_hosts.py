"""At which hosts of its own a deployment lets users have MCP servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend_api.main.settings import read_settings
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.module import McpSettings, open_connections
from backend_api.mcp.ports import McpServerError, Place
from backend_api.settings.secret_box import AesSecretBox
from support.mcp_servers import ordinary_server
from support.memory.mcp_sign_ins import MemorySignIns
from support.memory.store import MemoryStore


async def listed(url: str, shared: list[McpTarget]) -> int:
    target = McpTarget(server=McpServer(name="box", transport="http", url=url, source="user"))
    sign_ins = SignInsOfUsers(MemorySignIns(MemoryStore()), AesSecretBox([]))
    async with open_connections(read_settings(McpSettings), shared, sign_ins) as parts:
        connection = await parts.connections.connect(target, Place("s", "u"))
        try:
            return len((await connection.listing()).tools)
        finally:
            await connection.close()


async def test_what_may_be_read_or_is_the_deployments_is_open_to_no_server_of_a_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    async with ordinary_server() as server:
        host = server.url.split("/")[2]
        shared = [McpTarget(server=McpServer(name="shared", transport="http", url=server.url))]
        monkeypatch.setenv("FETCH_ALLOWED_HOSTS", host)
        with pytest.raises(McpServerError, match="can allow others with MCP_ALLOWED_HOSTS"):
            await listed(server.url, shared)
        monkeypatch.setenv("MCP_ALLOWED_HOSTS", host)
        assert await listed(server.url, shared) == 5
