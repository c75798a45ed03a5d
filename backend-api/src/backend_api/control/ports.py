"""The ports of the control of computers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from backend_api.agent.events import Event
from backend_api.control.domain import ControlLease, TakenLease
from backend_api.kit.ids import SessionId, UserId


class ControlLeases(Protocol):
    """The leases of all sessions, by the store's clock. A change of control is stored in one transaction with its
    event, and of two at once the second one sees what the first one did."""

    async def find(self, session_id: SessionId) -> ControlLease | None:
        """The lease, unless it has expired."""
        ...

    async def take(
        self, session_id: SessionId, user_id: UserId, client: str, holder: str, *, takes_over: bool
    ) -> TakenLease:
        """Take control. Raises `ControlHeldError` if another client has it, unless it `takes_over`, and
        `SessionNotFoundError`."""
        ...

    async def renew(self, session_id: SessionId, client: str) -> ControlLease:
        """Extend the lease. Raises `ControlLostError`."""
        ...

    async def give_back(
        self, session_id: SessionId, user_id: UserId, client: str | None, note: str | None
    ) -> Sequence[Event]:
        """End the lease, of this client or of any. A note is stored also if nobody has a lease. Raises
        `SessionNotFoundError`, and `ControlLostError` if another client has it."""
        ...

    async def expired(self) -> Sequence[SessionId]:
        """Sessions with an expired lease whose end is not recorded yet."""
        ...

    async def expire(self, session_id: SessionId) -> Sequence[Event]:
        """End the lease if it has expired. Returns no events if it has not, or another process was first."""
        ...
