"""The tools of a user's MCP servers, for whoever chooses among all tools before a run has found them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend_api.agent.tool import ToolSpec
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import LimitError, UnavailableError
from backend_api.kit.ids import UserId
from backend_api.mcp.application.run_servers import spec_of
from backend_api.mcp.application.user_servers import ServersOfUsers
from backend_api.mcp.domain.entity import Listing, McpTarget, McpTool, prefix_of, within_bound
from backend_api.mcp.ports import McpConnector, McpServerError, Place
from service_kit.amounts import duration_text

LIST_S = 5.0
"""Timeout, in seconds, for each server; all are queried at once."""
PROGRAM = "It is a program that runs in the computer of a conversation: its tools are known once it has started there."
TOO_OFTEN = "It was asked too often within a minute."
ALL_TOOLS = "All tools of the MCP server {}."


@dataclass(frozen=True, slots=True)
class OfferedMcpTool:
    """A tool of the server of this name. If the server can't be queried, a glob for all its tools, with the reason."""

    server: str
    spec: ToolSpec
    error: McpServerError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMcpTools:
    """Queries the servers that have an address. Programs are not started for it; if they were tried before, the names
    of the tools found then are returned."""

    servers: ServersOfUsers
    connector: McpConnector
    limiter: RateLimiter
    limits: Limits
    within_s: float = LIST_S

    async def of(self, user_id: UserId, may_have: Callable[[str], bool]) -> list[OfferedMcpTool]:
        """Lists the tools by server, for servers whose tool prefix `may_have` accepts, up to the most an agent may
        have. Raises `StoreUnavailableError`."""
        targets = await self._targets(user_id)
        targets = [target for target in targets if may_have(prefix_of(target.name))]
        if not targets:
            return []
        tried = await self._tested_tools(user_id)
        try:
            await self.limiter.hit(f"mcp-lists:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        except LimitError:
            asked: list[Listing | McpServerError] = [McpServerError(TOO_OFTEN, "asked_too_often")] * len(targets)
        else:
            asked = await asyncio.gather(*(self._list_server(user_id, target, tried) for target in targets))
        known = {target.name: one for target, one in zip(targets, asked, strict=True) if isinstance(one, Listing)}
        bounded = dict(within_bound(known.items()))
        found: list[OfferedMcpTool] = []
        for target, one in zip(targets, asked, strict=True):
            if isinstance(one, McpServerError):
                found.append(OfferedMcpTool(target.name, _wildcard_spec(target), one))
            else:
                found += [OfferedMcpTool(target.name, spec_of(target, tool)) for tool in bounded[target.name].tools]
        return found

    async def _targets(self, user_id: UserId) -> Sequence[McpTarget]:
        own = await self.servers.targets(user_id)
        return [*self.servers.shared, *(target for target in own if not self.servers.is_shared(target.name))]

    async def _tested_tools(self, user_id: UserId) -> dict[str, Sequence[str]]:
        """The tools that the last test of each server found, by the server's name."""
        return {
            own.server.name: own.trial.tools
            for own in await self.servers.store.of(user_id)
            if own.trial is not None and own.trial.status == "ready" and own.trial.config == own.server.config
        }

    async def _list_server(
        self, user_id: UserId, target: McpTarget, tried: dict[str, Sequence[str]]
    ) -> Listing | McpServerError:
        """The tools the server lists, or the reason they are unknown."""
        if target.is_program:
            unknown = McpServerError(PROGRAM, "program")
            names = tried.get(target.name, ()) if target.server.source == "user" else ()
            return Listing(tools=[_tool_named(target, name) for name in names]) if names else unknown
        try:
            async with asyncio.timeout(self.within_s):
                connection = await self.connector.connect(target, Place("", user_id))
                try:
                    return await connection.listing()
                finally:
                    await connection.close()
        except McpServerError as error:
            return error
        except UnavailableError as error:
            return McpServerError(error.detail)
        except TimeoutError:
            return McpServerError(f"It did not answer within {duration_text(self.within_s)}.", "timed_out")


def _tool_named(target: McpTarget, public_name: str) -> McpTool:
    description = f"A tool of the MCP server {target.name}."
    return McpTool(name=public_name, public_name=public_name, description=description, parameters={"type": "object"})


def _wildcard_spec(target: McpTarget) -> ToolSpec:
    name = f"{prefix_of(target.name)}*"
    tool = McpTool(
        name=name, public_name=name, description=ALL_TOOLS.format(target.name), parameters={"type": "object"}
    )
    return spec_of(target, tool)
