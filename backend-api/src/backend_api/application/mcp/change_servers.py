"""MCP servers as their user sees and changes them, and trying one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from backend_api.application.identity.limits import Limits
from backend_api.application.mcp.own_servers import ServersOfUsers
from backend_api.domain.errors import InvalidError, UnavailableError
from backend_api.domain.identity.entity import UserId
from backend_api.domain.identity.ports import RateLimiter
from backend_api.domain.mcp.entity import McpServer, McpTarget
from backend_api.domain.mcp.own import (
    McpProgramError,
    McpServerNameTakenError,
    McpServerNotFoundError,
    McpTrial,
    OwnMcpServer,
    SecretValues,
)
from backend_api.domain.mcp.ports import McpConnector, McpServerError, Place

TRIAL_S = 10.0
UNREADABLE = "Its values can't be read with the SECRETS_KEY that the server has now: give them anew."
Status = Literal["unknown", "ready", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMcpServer:
    """`is_hidden`: the deployment has one of this name since, which is used instead."""

    server: McpServer
    status: Status = "unknown"
    tools: tuple[str, ...] = ()
    error: str | None = None
    tried_at: datetime | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMcpServers:
    """A change acts from the next run on, in every process. `parse` makes a server of what `mcp.json` says of one, and
    raises `ValueError` with what is wrong."""

    servers: ServersOfUsers
    connector: McpConnector
    parse: Callable[[str, Mapping[str, Any]], McpServer]
    limiter: RateLimiter
    limits: Limits

    async def read(self, user_id: UserId) -> list[ShownMcpServer]:
        """Those of everybody, then the user's own. Raises `StoreUnavailableError`."""
        shared = [ShownMcpServer(server=target.server) for target in self.servers.shared]
        return [*shared, *(self._shown(user_id, own) for own in await self.servers.store.of(user_id))]

    async def put(self, user_id: UserId, name: str, said: Mapping[str, Any]) -> ShownMcpServer:
        """Add it, or replace the one of its name. A value that is None stays what it was, if it is sent to where it
        was sent before. Raises `InvalidError`, `McpServerNameTakenError`, `TooManyMcpServersError`, `SecretsOffError`,
        `LimitError`, `StoreUnavailableError`."""
        await self._count(user_id)
        if self.servers.is_shared(name):
            raise McpServerNameTakenError(f"Everybody has an MCP server {name} already. Choose another name.")
        known = await self._own(user_id, name)
        said = _with_kept(said, self.servers.opened(user_id, known) if known is not None else None, known)
        try:
            server = self.parse(name, said)
        except ValueError as error:
            raise InvalidError(str(error), field="body") from error
        own = self.servers.sealed(user_id, server)
        await self.servers.store.put(user_id, own)
        return self._shown(user_id, own)

    async def delete(self, user_id: UserId, name: str) -> None:
        """Only of the user's own. Raises `McpServerNotFoundError`, `LimitError`, `StoreUnavailableError`."""
        await self._count(user_id)
        if not await self.servers.store.delete(user_id, name):
            raise McpServerNotFoundError("You have no MCP server of this name.")

    async def test(self, user_id: UserId, name: str) -> ShownMcpServer:
        """Connect to it and list its tools; of one of the user's own the outcome is kept. Raises
        `McpServerNotFoundError`, `McpProgramError`, `LimitError`, `StoreUnavailableError`."""
        await self.limiter.hit(f"mcp-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        shared = next((target for target in self.servers.shared if target.name == name), None)
        if shared is not None:
            return _shown_of(shared.server, await self._tried(user_id, shared))
        own = await self._own(user_id, name)
        if own is None:
            raise McpServerNotFoundError("You have no MCP server of this name.")
        target = self.servers.target(user_id, own)
        if target is None:
            return self._shown(user_id, own)
        trial = await self._tried(user_id, target)
        if await self.servers.store.keep_trial(user_id, own, trial):
            return self._shown(user_id, replace(own, trial=trial))
        # It was changed or deleted meanwhile, and the outcome is another one's.
        known = await self._own(user_id, name)
        if known is None:
            raise McpServerNotFoundError("You have no MCP server of this name.")
        return self._shown(user_id, known)

    async def _tried(self, user_id: UserId, target: McpTarget) -> McpTrial:
        if target.server.transport == "stdio":
            raise McpProgramError
        now = datetime.now(UTC)
        # As exact as it is stored.
        config, at = target.server.config, now.replace(microsecond=now.microsecond // 1000 * 1000)
        try:
            async with asyncio.timeout(TRIAL_S):
                connection = await self.connector.connect(target, Place("", user_id))
                try:
                    listing = await connection.listing()
                finally:
                    await connection.close()
        except (McpServerError, UnavailableError) as error:
            return McpTrial(config=config, at=at, status="failed", error=str(error))
        except TimeoutError:
            reason = f"It did not answer within {TRIAL_S:g} seconds."
            return McpTrial(config=config, at=at, status="failed", error=reason)
        left = "; ".join(listing.left_out)
        return McpTrial(
            config=config,
            at=at,
            status="ready",
            tools=[tool.public_name for tool in listing.tools],
            error=f"Left out: {left}" if left else None,
        )

    async def _own(self, user_id: UserId, name: str) -> OwnMcpServer | None:
        return next((own for own in await self.servers.store.of(user_id) if own.server.name == name), None)

    async def _count(self, user_id: UserId) -> None:
        await self.limiter.hit(f"settings:{user_id}", limit=self.limits.settings_per_minute, window_s=60)

    def _shown(self, user_id: UserId, own: OwnMcpServer) -> ShownMcpServer:
        hidden = self.servers.is_shared(own.server.name)
        if self.servers.opened(user_id, own) is None:
            return ShownMcpServer(server=own.server, status="failed", error=UNREADABLE, is_hidden=hidden)
        trial = own.trial if own.trial is not None and own.trial.config == own.server.config else None
        return replace(_shown_of(own.server, trial), is_hidden=hidden)


def _shown_of(server: McpServer, trial: McpTrial | None) -> ShownMcpServer:
    if trial is None:
        return ShownMcpServer(server=server)
    return ShownMcpServer(
        server=server, status=trial.status, tools=tuple(trial.tools), error=trial.error, tried_at=trial.at
    )


def _with_kept(said: Mapping[str, Any], values: SecretValues | None, known: OwnMcpServer | None) -> Mapping[str, Any]:
    """With the values that are None as they were saved; they were given for one server, and go to no other."""
    kept: dict[str, Any] = {**said}
    for part in ("env", "headers"):
        given: Mapping[str, str | None] = said.get(part) or {}
        saved = getattr(values, part, {})
        blank = [name for name, value in given.items() if value is None]
        if blank and (known is None or _may_lead_elsewhere(known.server, said)):
            raise InvalidError(f"Give {blank[0]} anew: it was not given for this server.", field=f"body.{part}")
        if missing := [name for name in blank if name not in saved]:
            raise InvalidError(f"Give {missing[0]}: no value of it is saved.", field=f"body.{part}")
        kept[part] = {name: saved[name] if value is None else value for name, value in given.items()}
    return kept


def _may_lead_elsewhere(known: McpServer, said: Mapping[str, Any]) -> bool:
    url = str(said.get("url") or "")
    if known.transport == "stdio" or said.get("command"):
        return (known.command, [*known.args]) != (said.get("command") or "", said.get("args") or [])
    env: Mapping[str, str | None] = said.get("env") or {}
    # An address with variables leads where their values say.
    return _origin(known.url) != _origin(url) or ("${" in url and any(value is not None for value in env.values()))


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.netloc.lower()
