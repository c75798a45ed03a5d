"""Records how far a session was read."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.domain.entity import Session
from backend_api.conversations.domain.feed import ReadMarkers
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True)
class MarkRead:
    """Moves the read marker, which never goes back: two pages of one user can't undo each other. Raises
    `SessionNotFoundError`."""

    markers: ReadMarkers

    async def __call__(self, session_id: SessionId, user_id: UserId, seq: int) -> Session:
        return await self.markers.mark(session_id, user_id, seq)
