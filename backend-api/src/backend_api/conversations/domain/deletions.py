"""Deletions of sessions that are not through yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A session nobody has any more, whose sandbox may still be there."""

    session_id: SessionId
    user_id: UserId


class Deletions(Protocol):
    """`SessionRepository.delete` leaves the wish here, with the session's id and its last user."""

    async def claim_next(self) -> Deleted | None:
        """One that nobody has worked at for a while, for the caller to work at next; None when there is none."""
        ...

    async def finish(self, session_id: SessionId) -> None:
        """Nothing is left of it elsewhere: remove what is left of it here."""
        ...
