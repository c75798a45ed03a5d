"""What control of computers needs from the outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from backend_api.agent.events import Event
from backend_api.control.domain import ControlLease, Taken
from backend_api.kit.ids import SessionId, UserId


class ControlLeases(Protocol):
    """The leases of all sessions, by the store's clock. What changes who controls a computer is stored in one
    transaction with the event that tells of it, and of two at once the second one sees what the first one did."""

    async def find(self, session_id: SessionId) -> ControlLease | None:
        """The one that has not expired."""
        ...

    async def take(
        self, session_id: SessionId, user_id: UserId, client: str, holder: str, *, takes_over: bool
    ) -> Taken:
        """Raises `ControlHeldError` where another client has it, unless it `takes_over`, and
        `SessionNotFoundError`."""
        ...

    async def renew(self, session_id: SessionId, client: str) -> ControlLease:
        """Raises `ControlLostError`."""
        ...

    async def give_back(
        self, session_id: SessionId, user_id: UserId, client: str | None, note: str | None
    ) -> Sequence[Event]:
        """End the lease, of this client or of any. A note is stored also where nobody has one. Raises
        `SessionNotFoundError`, and `ControlLostError` where another client has it."""
        ...

    async def expired(self) -> Sequence[SessionId]:
        """Sessions whose lease has expired, and nobody told of it."""
        ...

    async def expire(self, session_id: SessionId) -> Sequence[Event]:
        """End the lease where it has expired; none where it has not, or somebody else did so first."""
        ...
