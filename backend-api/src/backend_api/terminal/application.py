"""Tickets of terminals, and the connections they open."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.connection_auth import AuthenticatedConnections, ConnectionAuth
from backend_api.identity.application.limits import Limits
from backend_api.identity.domain.entity import AccessClaims
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import RunningSandboxes
from backend_api.terminal.domain import TICKET_S, TerminalState, TerminalTicket, TerminalTicketInvalidError
from backend_api.terminal.ports import OpenTerminal, Terminals, TerminalTickets


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedTerminalTicket:
    """The secret and the time at which it expires."""

    secret: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueTerminalTicket:
    """Raises `SessionNotFoundError`, `LimitError`, `UnavailableError`."""

    sessions: SessionRepository
    tickets: TerminalTickets
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, session_id: SessionId, claims: AccessClaims, terminal: str) -> IssuedTerminalTicket:
        await self.sessions.get(session_id, claims.user_id)
        await self.limiter.hit(f"tickets:{claims.user_id}", limit=self.limits.tickets_per_minute, window_s=60)
        ticket = TerminalTicket(
            user_id=claims.user_id,
            session_id=session_id,
            terminal=terminal,
            family=claims.family,
            token_version=claims.token_version,
            expires_at=claims.expires_at,
        )
        expires_at = datetime.now(UTC) + timedelta(seconds=TICKET_S)
        return IssuedTerminalTicket(secret=await self.tickets.issue(ticket, ttl_s=TICKET_S), expires_at=expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedTerminal:
    """A viewer's connection, and the log-in under which it is open."""

    terminal: OpenTerminal
    auth: ConnectionAuth


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectTerminal:
    """Raises `TerminalTicketInvalidError`, `TokenInvalidError`, `TooManyStreamsError`, `SessionNotFoundError`,
    `SandboxUnavailableError`."""

    tickets: TerminalTickets
    connections: AuthenticatedConnections
    slots: StreamSlots
    session_sandbox: SessionSandbox
    terminals: Terminals

    @asynccontextmanager
    async def __call__(
        self, session_id: SessionId, secret: str, *, after: int | None = None, began: int | None = None
    ) -> AsyncGenerator[ConnectedTerminal]:
        ticket = await self.tickets.redeem(secret)
        if ticket is None or ticket.session_id != session_id:
            raise TerminalTicketInvalidError("The ticket is invalid or has expired. Request a new one.")
        claims = AccessClaims(
            user_id=UserId(ticket.user_id),
            family=ticket.family,
            token_version=ticket.token_version,
            expires_at=ticket.expires_at,
        )
        await self.connections.check(claims)
        with self.slots.claim_slot(claims, "terminal") as auth:
            sandbox = await self.session_sandbox(session_id, claims.user_id)
            async with self.terminals.open(sandbox, ticket.terminal, after=after, began=began) as terminal:
                yield ConnectedTerminal(terminal=terminal, auth=auth)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTerminals:
    """The terminals of a session's sandbox, for its user. A sandbox that does not run is not started for them: it has
    no terminals. Raises `SessionNotFoundError`, `SandboxUnavailableError`, `SandboxLostError`."""

    sessions: SessionRepository
    running: RunningSandboxes
    terminals: Terminals

    async def list(self, session_id: SessionId, user_id: UserId) -> list[TerminalState]:
        """The open terminals."""
        await self.sessions.get(session_id, user_id)
        sandbox = await self.running.running(session_id)
        return [] if sandbox is None else await self.terminals.list(sandbox)

    async def close(self, session_id: SessionId, user_id: UserId, name: str) -> None:
        """End a terminal with all it started."""
        await self.sessions.get(session_id, user_id)
        sandbox = await self.running.running(session_id)
        if sandbox is not None:
            await self.terminals.close(sandbox, name)
