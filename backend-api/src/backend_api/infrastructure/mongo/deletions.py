"""`Deletions` in MongoDB: the session's own document stays, disowned, until nothing else is left of it."""

from __future__ import annotations

from backend_api.domain.conversation.deletions import Deleted
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.documents import (
    BodyDocument,
    EventDocument,
    EventPartDocument,
    RunDocument,
    SessionDocument,
    find_one_and_update,
)
from backend_api.infrastructure.mongo.transactions import store_errors

_REMOVED_S = 300.0
"""All that a session ever said is more than is deleted in a moment."""
DUE_S = 30.0
"""Longer than a call to the manager that was on its way when the session was deleted is repeated."""


class MongoDeletions:
    """By the database's clock, so that of all that sweep one at a time works at each."""

    def __init__(self, *, due_s: float = DUE_S) -> None:
        self._due_ms = round(due_s * 1000)

    async def claim_next(self) -> Deleted | None:
        long_ago = {"$subtract": ["$$NOW", self._due_ms]}
        async with store_errors():
            found = await find_one_and_update(
                SessionDocument,
                {"user_id": "", "$expr": {"$lte": ["$deleted_at", long_ago]}},
                {"$currentDate": {"deleted_at": True}},
            )
        if found is None:
            return None
        return Deleted(session_id=SessionId(found.id), user_id=UserId(found.owner or ""))

    async def finish(self, session_id: SessionId) -> None:
        async with store_errors(within_s=_REMOVED_S):
            await remove_contents(session_id)
            await SessionDocument.find_one({"_id": session_id, "user_id": ""}).delete()


async def remove_contents(session_id: SessionId) -> None:
    """All of a session but its document."""
    for document in (RunDocument, BodyDocument, EventPartDocument, EventDocument):
        await document.find({"session_id": session_id}).delete()
