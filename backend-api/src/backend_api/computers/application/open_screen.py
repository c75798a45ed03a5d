"""Exchange a ticket for the screen of a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from backend_api.computers.domain import Controls, TicketInvalidError, Tickets
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.identity.application.connection_auth import AuthenticatedConnections, ConnectionAuth
from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.errors import NoDesktopError
from backend_api.sandboxes.ports import Screen, Screens


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedScreen:
    """A screen, and the log-in under which it is open."""

    screen: Screen
    auth: ConnectionAuth
    lost: asyncio.Event
    """The event is set once its viewer has lost control."""


@dataclass(frozen=True, slots=True)
class OpenScreen:
    """Raises `TicketInvalidError`, `TokenInvalidError`, `TooManyStreamsError`, `NoDesktopError`, `ControlLostError`,
    `SandboxUnavailableError`, `SessionNotFoundError`."""

    tickets: Tickets
    connections: AuthenticatedConnections
    slots: StreamSlots
    session_sandbox: SessionSandbox
    screens: Screens

    @asynccontextmanager
    async def __call__(
        self, session_id: SessionId, secret: str, leases: Controls | None = None
    ) -> AsyncGenerator[OpenedScreen]:
        """Open the screen; without `leases` every ticket for control gives control."""
        ticket = await self.tickets.redeem(secret)
        if ticket is None or ticket.session_id != session_id:
            raise TicketInvalidError("The ticket is invalid or has expired. Request a new one.")
        claims = AccessClaims(
            user_id=UserId(ticket.user_id),
            family=ticket.family,
            token_version=ticket.token_version,
            expires_at=ticket.expires_at,
        )
        await self.connections.check(claims)
        with self.slots.claim_slot(claims, "screen") as auth:
            sandbox = await self.session_sandbox(session_id, claims.user_id)
            if not sandbox.has_desktop:
                raise NoDesktopError("This computer has no desktop.")
            controls = ticket.mode == "control"
            async with AsyncExitStack() as stack:
                lost = asyncio.Event()
                if controls and leases is not None:
                    watch = leases.watch(session_id, claims.user_id, ticket.client)
                    lost = await stack.enter_async_context(watch)
                screen = await stack.enter_async_context(self.screens.open(sandbox, control=controls))
                yield OpenedScreen(screen=screen, auth=auth, lost=lost)
