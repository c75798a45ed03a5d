"""Trade a ticket for the screen of a computer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.application.conversation.stream_places import StreamPlaces
from backend_api.application.files.own_computer import OwnComputer
from backend_api.application.identity.open_log_ins import HeldLogIn, OpenLogIns
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.identity.entity import AccessClaims, UserId
from backend_api.domain.sandbox.errors import NoDesktopError
from backend_api.domain.sandbox.ports import Screen, Screens
from backend_api.domain.sandbox.tickets import TicketInvalidError, Tickets


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedScreen:
    """A screen, and the log-in that it is open under."""

    screen: Screen
    held: HeldLogIn


@dataclass(frozen=True, slots=True)
class OpenScreen:
    """Raises `TicketInvalidError`, `TokenInvalidError`, `TooManyStreamsError`, `NoDesktopError`,
    `ComputerUnavailableError`, `SessionNotFoundError`."""

    tickets: Tickets
    log_ins: OpenLogIns
    places: StreamPlaces
    own_computer: OwnComputer
    screens: Screens

    @asynccontextmanager
    async def __call__(self, session_id: SessionId, secret: str) -> AsyncGenerator[OpenedScreen]:
        ticket = await self.tickets.redeem(secret)
        if ticket is None or ticket.session_id != session_id:
            raise TicketInvalidError("This ticket does not hold. Ask for a new one.")
        claims = AccessClaims(
            user_id=UserId(ticket.user_id),
            family=ticket.family,
            token_version=ticket.token_version,
            expires_at=ticket.expires_at,
        )
        await self.log_ins.check(claims)
        with self.places.take(claims, "screen") as held:
            computer = await self.own_computer(session_id, claims.user_id)
            if not computer.has_desktop:
                raise NoDesktopError("This computer has no desktop.")
            async with self.screens.open(computer, control=ticket.mode == "control") as screen:
                yield OpenedScreen(screen=screen, held=held)
