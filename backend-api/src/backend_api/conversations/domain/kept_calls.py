"""How much is kept of model calls that were stored, so that they never fill the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backend_api.kit.ids import SessionId, UserId


class KeptCalls(Protocol):
    """Counts what was sent and answered, in bytes, of all sessions of a user together. What a session kept counts until
    it is deleted. Both raise `StoreUnavailableError`."""

    async def has_room(self, user_id: UserId) -> bool:
        """Whether the user's calls are still below the limit. What several runs keep at the same moment may go over it,
        each by one call."""
        ...

    async def add(self, session_id: SessionId, user_id: UserId, size: int) -> None:
        """Count so many bytes more, which were stored."""
        ...


@dataclass(frozen=True, slots=True)
class KeptCallsOfSession:
    """The same for whoever stores the calls of one session."""

    kept_calls: KeptCalls
    session_id: SessionId
    user_id: UserId

    async def has_room(self) -> bool:
        return await self.kept_calls.has_room(self.user_id)

    async def add(self, size: int) -> None:
        await self.kept_calls.add(self.session_id, self.user_id, size)
