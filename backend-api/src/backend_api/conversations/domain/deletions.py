"""Deletions of sessions that are not complete yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A session that was deleted, but whose sandbox may still exist."""

    session_id: SessionId
    user_id: UserId


class Deletions(Protocol):
    """`SessionRepository.delete` records the deletion here, with the session's id and its last user."""

    async def claim_next(self) -> Deleted | None:
        """Claims a deletion that nobody has worked on for a while; None if there is none."""
        ...

    async def finish(self, session_id: SessionId) -> None:
        """Removes the rest of the session here, once nothing of it is left elsewhere."""
        ...
