"""The quota for stored model calls, so that they never fill the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backend_api.kit.ids import SessionId, UserId


class ModelCallQuota(Protocol):
    """Counts the stored requests and answers, in bytes, of all sessions of a user. They count until their session is
    deleted. Both methods raise `StoreUnavailableError`."""

    async def has_room(self, user_id: UserId) -> bool:
        """Whether the user is still below the limit. Several runs at the same moment may exceed it, each by one
        call."""
        ...

    async def add(self, session_id: SessionId, user_id: UserId, size: int) -> None:
        """Adds the size of a stored call, in bytes."""
        ...


@dataclass(frozen=True, slots=True)
class SessionCallQuota:
    """The quota for whoever stores the calls of one session."""

    model_call_quota: ModelCallQuota
    session_id: SessionId
    user_id: UserId

    async def has_room(self) -> bool:
        return await self.model_call_quota.has_room(self.user_id)

    async def add(self, size: int) -> None:
        await self.model_call_quota.add(self.session_id, self.user_id, size)
