"""The port of drafts."""

from __future__ import annotations

from typing import Protocol

from backend_api.drafts.domain import Draft, Written
from backend_api.kit.ids import SessionId, UserId


class Drafts(Protocol):
    """The draft of each session."""

    async def of_session(self, session_id: SessionId) -> Draft:
        """The draft, also an empty one."""
        ...

    async def replace(self, session_id: SessionId, user_id: UserId, written: Written, version: int) -> Draft | None:
        """Replace the draft if it still has this version; None if it has another."""
        ...

    async def remove(self, session_id: SessionId) -> None:
        """Remove the draft with its version."""
        ...
