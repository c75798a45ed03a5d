"""MCP servers as their user sees and changes them, and trying one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError, UnavailableError
from backend_api.kit.http_address import HttpAddressError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.stored_time import to_millisecond
from backend_api.mcp.application.revocation import revoke
from backend_api.mcp.application.user_servers import ServersOfUsers
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.domain.entity import McpCause, McpServer, McpTarget
from backend_api.mcp.domain.sign_in import Authorizer, SignIn, binding_of, may_sign_in, server_key
from backend_api.mcp.domain.user_servers import (
    McpProgramError,
    McpServerNameTakenError,
    McpServerNotFoundError,
    McpTrial,
    SecretValues,
    UserMcpServer,
)
from backend_api.mcp.ports import McpConnector, McpServerError, Place
from service_kit.amounts import duration_text

TRIAL_S = 10.0
PROGRAM_S = 60.0
"""Extra time, in seconds, for a program: its sandbox may have to be started, and its packages downloaded."""
UNREADABLE = "Its values can't be decrypted with the server's current SECRETS_KEY: enter them again."
NEEDS_SIGN_IN = "It needs you to sign in."
NEEDS_SCOPE = "It asks for more than you allowed it when you signed in: sign in again."
Status = Literal["unknown", "ready", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMcpServer:
    """`is_hidden`: the deployment has one of this name since, which is used instead. `is_signed_in`: its user is."""

    server: McpServer
    status: Status = "unknown"
    tools: tuple[str, ...] = ()
    error: str | None = None
    cause: McpCause | None = None
    tried_at: datetime | None = None
    is_hidden: bool = False
    is_signed_in: bool = False
    has_client_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMcpServers:
    """A change acts from the next run on, in every process. `parse` makes a server of what `mcp.json` says of one, and
    raises `HttpAddressError` for its address, `ValueError` with what else is wrong."""

    servers: ServersOfUsers
    connector: McpConnector
    sign_ins: SignInsOfUsers
    authorizer: Authorizer
    sessions: SessionRepository
    parse: Callable[[str, Mapping[str, Any]], McpServer]
    limiter: RateLimiter
    limits: Limits

    async def read(self, user_id: UserId) -> list[ShownMcpServer]:
        """Lists the deployment's servers, then the user's own. Raises `StoreUnavailableError`."""
        known = await self.sign_ins.of(user_id)
        shared = [self._show_target(target, None, known) for target in self.servers.shared]
        return [*shared, *(self._show(user_id, own, known) for own in await self.servers.store.of(user_id))]

    async def put(self, user_id: UserId, name: str, body: Mapping[str, Any]) -> ShownMcpServer:
        """Adds a server, or replaces the one of the same name. A value that is None keeps its saved value, provided it
        goes to the same place as before. Raises `InvalidError`, `McpServerNameTakenError`, `TooManyMcpServersError`,
        `SecretsOffError`, `LimitError`, `StoreUnavailableError`."""
        await self._count(user_id)
        if self.servers.is_shared(name):
            raise McpServerNameTakenError(f"The server already provides an MCP server {name}. Choose another name.")
        known = await self._find_own(user_id, name)
        body = _with_saved(body, self.servers.opened(user_id, known) if known is not None else None, known)
        try:
            server = self.parse(name, body)
        except HttpAddressError as error:
            reason = f"This address can't be used: {error}."
            raise InvalidError(reason, field="body.url", fault=f"mcp_url_{error.fault}") from error
        except ValueError as error:
            raise InvalidError(str(error), field="body") from error
        own = self.servers.sealed(user_id, server)
        await self.servers.store.put(user_id, own)
        await self._drop_other_sign_in(user_id, own)
        return self._show(user_id, own, await self.sign_ins.of(user_id))

    async def delete(self, user_id: UserId, name: str) -> None:
        """Deletes one of the user's own servers. Raises `McpServerNotFoundError`, `LimitError`,
        `StoreUnavailableError`."""
        await self._count(user_id)
        known = await self._find_own(user_id, name)
        if not await self.servers.store.delete(user_id, name) or known is None:
            raise McpServerNotFoundError
        await self._drop_sign_in(user_id, known.server)

    async def test(self, user_id: UserId, name: str, session_id: SessionId | None = None) -> ShownMcpServer:
        """Connects to a server and lists its tools; a program is started in the sandbox of this session. The outcome is
        stored if the server is the user's own. Raises `McpServerNotFoundError`, `McpProgramError`,
        `SessionNotFoundError`, `LimitError`, `StoreUnavailableError`."""
        await self.limiter.hit(f"mcp-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        if session_id is not None:
            await self.sessions.get(session_id, user_id)
        shared = next((target for target in self.servers.shared if target.name == name), None)
        if shared is not None:
            trial = await self._try_server(user_id, shared, session_id)
            return self._show_target(shared, trial, await self.sign_ins.of(user_id))
        own = await self._existing(user_id, name)
        target = self.servers.target(user_id, own)
        if target is None:
            return self._show(user_id, own, {})
        trial = await self._try_server(user_id, target, session_id)
        if await self.servers.store.store_trial(user_id, own, trial):
            return self._show(user_id, replace(own, trial=trial), await self.sign_ins.of(user_id))
        # The server was changed or deleted meanwhile, so the outcome is not stored.
        known = await self._existing(user_id, name)
        return self._show(user_id, known, await self.sign_ins.of(user_id))

    async def _try_server(self, user_id: UserId, target: McpTarget, session_id: SessionId | None) -> McpTrial:
        if target.is_program and session_id is None:
            raise McpProgramError
        within_s = TRIAL_S + (PROGRAM_S if target.is_program else 0)
        config, at = target.server.config, to_millisecond(datetime.now(UTC))
        try:
            async with asyncio.timeout(within_s):
                connection = await self.connector.connect(target, Place(session_id or "", user_id))
                try:
                    listing = await connection.listing()
                finally:
                    await connection.close()
        except McpServerError as error:
            return McpTrial(config=config, at=at, status="failed", error=str(error), cause=error.cause)
        except UnavailableError as error:
            return McpTrial(config=config, at=at, status="failed", error=str(error), cause="other")
        except TimeoutError:
            reason = f"It did not answer within {duration_text(within_s)}."
            return McpTrial(config=config, at=at, status="failed", error=reason, cause="timed_out")
        left = "; ".join(listing.left_out)
        return McpTrial(
            config=config,
            at=at,
            status="ready",
            tools=[tool.public_name for tool in listing.tools],
            error=f"Left out: {left}" if left else None,
        )

    async def _find_own(self, user_id: UserId, name: str) -> UserMcpServer | None:
        return next((own for own in await self.servers.store.of(user_id) if own.server.name == name), None)

    async def _existing(self, user_id: UserId, name: str) -> UserMcpServer:
        own = await self._find_own(user_id, name)
        if own is None:
            raise McpServerNotFoundError
        return own

    async def _count(self, user_id: UserId) -> None:
        await self.limiter.hit(f"settings:{user_id}", limit=self.limits.settings_per_minute, window_s=60)

    async def _drop_other_sign_in(self, user_id: UserId, own: UserMcpServer) -> None:
        """Drops the user's sign-in if it was for another address or client, where it is of no use to this server."""
        target, known = self.servers.target(user_id, own), await self.sign_ins.of(user_id)
        sign_in = known.get(server_key(own.server))
        if sign_in is not None and (target is None or sign_in.binding != binding_of(target)):
            await self._drop_sign_in(user_id, own.server)

    async def _drop_sign_in(self, user_id: UserId, server: McpServer) -> None:
        """Deletes the user's sign-in at a server and revokes its tokens."""
        dropped = await self.sign_ins.store.delete(user_id, server_key(server))
        if dropped is not None and (grant := self.sign_ins.opened(dropped)) is not None:
            await revoke(self.authorizer, server, user_id, grant)

    def _show(self, user_id: UserId, own: UserMcpServer, known: Mapping[str, SignIn]) -> ShownMcpServer:
        hidden = self.servers.is_shared(own.server.name)
        target = self.servers.target(user_id, own)
        if target is None:
            return ShownMcpServer(
                server=own.server, status="failed", error=UNREADABLE, cause="unreadable", is_hidden=hidden
            )
        trial = own.trial if own.trial is not None and own.trial.config == own.server.config else None
        shown = self._show_target(target, trial, known)
        return replace(shown, is_hidden=hidden, has_client_secret=bool(target.server.client_secret))

    def _show_target(self, target: McpTarget, trial: McpTrial | None, known: Mapping[str, SignIn]) -> ShownMcpServer:
        """The status by whatever came last: a trial, a sign-in, or the server's demand for one, which runs detect
        too."""
        sign_in = known.get(server_key(target.server))
        if sign_in is not None and (sign_in.binding != binding_of(target) or not may_sign_in(target.server)):
            sign_in = None
        is_signed_in = self.sign_ins.grant(sign_in, target) is not None
        shown = ShownMcpServer(server=target.server, is_signed_in=is_signed_in)
        if sign_in is not None and sign_in.sealed is None and (trial is None or trial.at <= sign_in.at):
            return replace(shown, status="failed", error=NEEDS_SIGN_IN, cause="needs_sign_in", tried_at=sign_in.at)
        is_past = trial is not None and trial.cause in ("needs_sign_in", "needs_scope") and is_signed_in
        if trial is not None and not is_past:
            shown = _with_trial(shown, trial)
        if sign_in is not None and sign_in.lacks_scopes and is_signed_in:
            return replace(shown, error=NEEDS_SCOPE, cause="needs_scope")
        return shown


def _with_trial(shown: ShownMcpServer, trial: McpTrial) -> ShownMcpServer:
    return replace(
        shown,
        status=trial.status,
        tools=tuple(trial.tools),
        error=trial.error,
        cause=trial.cause,
        tried_at=trial.at,
    )


def _with_saved(body: Mapping[str, Any], values: SecretValues | None, known: UserMcpServer | None) -> Mapping[str, Any]:
    """Fills in the saved values where the body has None; a value saved for one server is never sent to another."""
    kept: dict[str, Any] = {**body}
    for part in ("env", "headers"):
        given: Mapping[str, str | None] = body.get(part) or {}
        saved = getattr(values, part, {})
        blank = [name for name, value in given.items() if value is None]
        if blank and (known is None or _may_lead_elsewhere(known.server, body)):
            raise InvalidError(f"Give {blank[0]} again: it was not given for this server.", field=f"body.{part}")
        if missing := [name for name in blank if name not in saved]:
            raise InvalidError(f"Give {missing[0]}: no value of it is saved.", field=f"body.{part}")
        kept[part] = {name: saved[name] if value is None else value for name, value in given.items()}
    if body.get("oauth"):
        kept["oauth"] = _client_with_saved(body, values, known)
    return kept


def _client_with_saved(body: Mapping[str, Any], values: SecretValues | None, known: UserMcpServer | None) -> Any:
    client: Mapping[str, Any] = body["oauth"]
    if client.get("client_secret") is not None:
        return client
    saved = values.client_secret if values is not None else ""
    if saved and known is not None:
        is_other = client.get("client_id") != known.server.client_id
        if is_other or _may_lead_elsewhere(known.server, body):
            raise InvalidError("Give the client secret again: it was not given for this server.", field="body.oauth")
    return {**client, "client_secret": saved}


def _may_lead_elsewhere(known: McpServer, body: Mapping[str, Any]) -> bool:
    url = str(body.get("url") or "")
    if known.transport == "stdio" or body.get("command"):
        return (known.command, [*known.args]) != (body.get("command") or "", body.get("args") or [])
    env: Mapping[str, str | None] = body.get("env") or {}
    # An address with variables leads where their values say.
    return _origin(known.url) != _origin(url) or ("${" in url and any(value is not None for value in env.values()))


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.netloc.lower()
