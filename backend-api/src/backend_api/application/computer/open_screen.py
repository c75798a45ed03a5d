"""Trade a ticket for the screen of a computer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.application.files.own_computer import OwnComputer
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.identity.entity import UserId
from backend_api.domain.sandbox.errors import NoDesktopError
from backend_api.domain.sandbox.ports import Screen, Screens
from backend_api.domain.sandbox.tickets import TicketInvalidError, Tickets


@dataclass(frozen=True, slots=True)
class OpenScreen:
    """Raises `TicketInvalidError`, `NoDesktopError`, `ComputerUnavailableError`, `SessionNotFoundError`."""

    tickets: Tickets
    own_computer: OwnComputer
    screens: Screens

    @asynccontextmanager
    async def __call__(self, session_id: SessionId, secret: str) -> AsyncGenerator[Screen]:
        ticket = await self.tickets.redeem(secret)
        if ticket is None or ticket.session_id != session_id:
            raise TicketInvalidError("This ticket does not hold. Ask for a new one.")
        computer = await self.own_computer(session_id, UserId(ticket.user_id))
        if not computer.has_desktop:
            raise NoDesktopError("This computer has no desktop.")
        async with self.screens.open(computer, control=ticket.mode == "control") as screen:
            yield screen
