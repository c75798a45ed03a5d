"""Sessions in MongoDB."""

from __future__ import annotations

import re
from typing import Any

from backend_api.domain.conversation.entity import RunId, Session, SessionId, SessionStatus
from backend_api.domain.conversation.errors import SessionNotFoundError, SessionQuotaError
from backend_api.domain.conversation.ports import SessionPage
from backend_api.domain.errors import ConflictError
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.database import Database, Document
from backend_api.infrastructure.mongo.deletions import remove_contents
from backend_api.infrastructure.mongo.documents import SessionDocument, find_one_and_update
from backend_api.infrastructure.mongo.newest_first import newest_first
from backend_api.infrastructure.mongo.transactions import store_errors

_CHANGEABLE = frozenset({"title", "model", "pinned", "archived"})
_MERGE_ATTEMPTS = 50


class MongoSessionRepository:
    """`SessionRepository` on the collection sessions."""

    def __init__(self, database: Database) -> None:
        # Every request of a session reads it: the driver takes an eighth less time than Beanie for that.
        self._sessions = database["sessions"]

    async def add(self, session: Session, *, at_most: int = 0) -> None:
        """One insert; those at the same moment are not counted."""
        if at_most:
            async with store_errors():
                held = await SessionDocument.find({"user_id": session.user_id}, limit=at_most).count()
            if held >= at_most:
                raise SessionQuotaError.of(at_most)
        document = SessionDocument(
            id=session.id,
            user_id=session.user_id,
            title=session.title,
            status=session.status.value,
            model=session.model,
            options=session.options,
            pinned=session.pinned,
            archived=session.archived,
            created_at=session.created_at,
            updated_at=session.updated_at,
        )
        async with store_errors():
            await document.insert()

    async def get(self, session_id: SessionId, user_id: UserId) -> Session:
        """By id and owner at once."""
        async with store_errors():
            found = await self._sessions.find_one({"_id": session_id, "user_id": user_id})
        return session_from(SessionDocument.model_validate(found) if found else None)

    async def page(self, user_id: UserId, *, limit: int, cursor: str | None, query: str | None) -> SessionPage:
        """Key-set paging by creation time."""
        wanted: Document = {"user_id": user_id}
        if query:
            wanted["title"] = {"$regex": re.escape(query), "$options": "i"}
        items, next_cursor = await newest_first(SessionDocument, wanted, session_from, limit=limit, cursor=cursor)
        return SessionPage(items=items, next_cursor=next_cursor)

    async def update(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        """Set only what a user may change. Options are set as a whole, for that is how the feed tells of them, and only
        over those that were read, so that two changes at the same moment both hold."""
        wanted = {key: value for key, value in changes.items() if key in _CHANGEABLE}
        owned = {"_id": session_id, "user_id": user_id}
        if not changes.get("options"):
            return session_from(await self._set(owned, wanted))
        for _ in range(_MERGE_ATTEMPTS):
            present = (await self.get(session_id, user_id)).options
            merged = {name: value for name, value in (present | changes["options"]).items() if value is not None}
            # A session without the field is one without options.
            unchanged = {"$or": [{"options": present}, *([{"options": {"$exists": False}}] if not present else [])]}
            if (document := await self._set(owned | unchanged, wanted | {"options": merged})) is not None:
                return session_from(document)
        raise ConflictError("The options were changed by other requests at the same time. Try again.")

    async def _set(self, wanted: Document, values: Document) -> SessionDocument | None:
        change: Document = {"$currentDate": {"updated_at": True}} | ({"$set": values} if values else {})
        async with store_errors():
            return await find_one_and_update(SessionDocument, wanted, change)

    async def delete(self, session_id: SessionId, user_id: UserId) -> None:
        """Disown first, which fences every writer; then remove what it holds; the rest is up to `MongoDeletions`."""
        async with store_errors():
            found = await find_one_and_update(
                SessionDocument,
                {"_id": session_id, "user_id": user_id},
                # The former owner stands in this change, so that the feed knows whom to tell.
                {
                    "$set": {"user_id": "", "owner": user_id, "active_run_id": None},
                    "$currentDate": {"deleted_at": True},
                },
            )
            if found is None:
                raise SessionNotFoundError("There is no such session.")
            await remove_contents(session_id)


def session_from(document: SessionDocument | None) -> Session:
    """The entity of a document. Raises `SessionNotFoundError` for none."""
    if document is None:
        raise SessionNotFoundError("There is no such session.")
    run_id = document.active_run_id
    return Session(
        id=SessionId(document.id),
        user_id=UserId(document.user_id),
        title=document.title,
        status=SessionStatus(document.status),
        model=document.model,
        options=document.options,
        pinned=document.pinned,
        archived=document.archived,
        created_at=document.created_at,
        updated_at=document.updated_at,
        last_seq=document.last_seq,
        read_seq=document.read_seq,
        unread=document.unread,
        sandbox=document.sandbox,
        active_run_id=RunId(run_id) if run_id else None,
    )
