"""Keeps what a user is writing to a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.ports import SessionRepository
from backend_api.drafts.domain import Draft, DraftChangedError, Written
from backend_api.drafts.ports import Drafts
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepDraft:
    """The drafts of a user's own sessions; for those of others it raises `SessionNotFoundError`."""

    sessions: SessionRepository
    store: Drafts

    async def read(self, session_id: SessionId, user_id: UserId) -> Draft:
        """The draft, also an empty one."""
        await self.sessions.get(session_id, user_id)
        return await self.store.of_session(session_id)

    async def save(self, session_id: SessionId, user_id: UserId, written: Written, version: int) -> Draft:
        """Save over the version that was read; an empty one clears the draft. Saving what is kept already changes
        nothing, so that a call whose answer was lost can be repeated. Raises `DraftChangedError`."""
        await self.sessions.get(session_id, user_id)
        present = await self.store.of_session(session_id)
        if present.written == written:
            return present
        saved = await self.store.replace(session_id, user_id, written, version)
        if saved is None:
            present = await self.store.of_session(session_id)
            if present.written != written:
                raise DraftChangedError(present)
            return present
        try:
            await self.sessions.get(session_id, user_id)
        except SessionNotFoundError:
            # Its contents may have been removed just before this was written.
            await self.store.remove(session_id)
            raise
        return saved
