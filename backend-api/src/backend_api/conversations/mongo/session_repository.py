"""Sessions in MongoDB."""

from __future__ import annotations

import logging
import re
from typing import Any

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.conversations.domain.entity import RunId, Session, SessionStatus
from backend_api.conversations.domain.errors import SessionNotFoundError, SessionQuotaError
from backend_api.conversations.domain.session_changes import Changed, differing, updates_of
from backend_api.conversations.mongo.deletions import remove_contents
from backend_api.conversations.mongo.documents import SessionDocument
from backend_api.conversations.mongo.event_documents import insert_events, number
from backend_api.conversations.mongo.settings_marks import mark_new_session
from backend_api.conversations.ports import SessionPage
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.newest_first import newest_first
from backend_api.kit.mongo.transactions import in_transaction, store_errors

logger = logging.getLogger(__name__)

_REMOVED_AT_ONCE_S = 5.0
"""Timeout, in seconds, for deleting a session's contents within the request; most have little."""


class MongoSessionRepository:
    """`SessionRepository` on the collection sessions."""

    def __init__(self, database: Database) -> None:
        # Read at every request of a session: the driver is an eighth faster than Beanie.
        self._database = database
        self._sessions = database["sessions"]

    async def add(self, session: Session, *, at_most: int = 0) -> None:
        """Inserts the session; sessions added at the same moment are not counted."""
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
            preset=session.preset,
            options=session.options,
            pinned=session.pinned,
            archived=session.archived,
            target_id=session.target_id,
            created_at=session.created_at,
            updated_at=session.updated_at,
            active_at=session.active_at,
        )
        async with store_errors():
            await document.insert()
            await mark_new_session(self._database, session.id, session.user_id)

    async def get(self, session_id: SessionId, user_id: UserId) -> Session:
        """Finds it by id and owner at once."""
        async with store_errors():
            found = await self._sessions.find_one({"_id": session_id, "user_id": user_id})
        return session_from(SessionDocument.model_validate(found) if found else None)

    async def page(
        self,
        user_id: UserId,
        *,
        limit: int,
        cursor: str | None,
        query: str | None,
        folder_id: str | None = None,
        archived: bool | None = None,
    ) -> SessionPage:
        """Key-set paging by creation time."""
        wanted: Document = {"user_id": user_id}
        if folder_id is not None:
            wanted["folder_id"] = folder_id
        if archived is not None:
            wanted["archived"] = archived
        if query:
            wanted["title"] = {"$regex": re.escape(query), "$options": "i"}
        items, next_cursor = await newest_first(SessionDocument, wanted, session_from, limit=limit, cursor=cursor)
        return SessionPage(items=items, next_cursor=next_cursor)

    async def update(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        """Changes a session without an event in the stream."""
        return (await self._change(session_id, user_id, changes, is_told=False)).session

    async def change(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Changed:
        """Implements `SessionRepository.change`."""
        return await self._change(session_id, user_id, changes, is_told=True)

    async def name(self, session_id: SessionId, user_id: UserId, title: str) -> Changed:
        """Implements `SessionRepository.name`."""
        return await self._change(session_id, user_id, {"title": title}, is_told=True, if_unnamed=True)

    async def _change(
        self,
        session_id: SessionId,
        user_id: UserId,
        changes: dict[str, Any],
        *,
        is_told: bool,
        if_unnamed: bool = False,
    ) -> Changed:
        """Changes a session in one transaction, so that two changes at the same moment are both applied and the later
        one is sent last."""
        owned = {"_id": session_id, "user_id": user_id}

        async def work(transaction: AsyncClientSession) -> Changed:
            found = await self._sessions.find_one(owned, session=transaction)
            present = session_from(SessionDocument.model_validate(found) if found else None)
            values = differing(present, changes)
            if if_unnamed and present.title:
                return Changed(session=present, events=[])
            # A title set by the user is final, even if it equals the present one.
            is_given = "title" in changes and not if_unnamed and bool((found or {}).get("title_due"))
            if not values:
                if is_given:
                    await self._sessions.update_one(owned, {"$unset": {"title_due": 1}}, session=transaction)
                return Changed(session=present, events=[])
            payloads = updates_of(values, present) if is_told else []
            due = {"title_due": {"attempts": 0, "token": "", "next": present.created_at}} if if_unnamed else {}
            stored = await self._sessions.find_one_and_update(
                owned,
                {
                    "$set": values | due,
                    "$inc": {"last_seq": len(payloads)},
                    "$currentDate": {"updated_at": True},
                    **({"$unset": {"title_due": 1}} if is_given else {}),
                },
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            session = session_from(SessionDocument.model_validate(stored) if stored else None)
            events = number(session_id, session.last_seq, session.updated_at, None, payloads)
            if events:
                await insert_events(self._database, transaction, events)
            return Changed(session=session, events=events)

        return await in_transaction(self._database, work)

    async def delete(self, session_id: SessionId, user_id: UserId) -> None:
        """Removes the owner first, which fences every writer; then the contents. The rest is up to `MongoDeletions`."""
        async with store_errors():
            found = await find_one_and_update(
                SessionDocument,
                {"_id": session_id, "user_id": user_id},
                # The change names the former owner, so that the feed knows whom to notify.
                {
                    "$set": {"user_id": "", "owner": user_id, "active_run_id": None},
                    "$currentDate": {"deleted_at": True},
                },
            )
            if found is None:
                raise SessionNotFoundError("There is no such session.")
        try:
            async with store_errors(within_s=_REMOVED_AT_ONCE_S):
                await remove_contents(session_id)
        except StoreUnavailableError:
            # The session is deleted all the same: after an error a retry would find none to delete.
            logger.warning("contents not yet removed with their session", extra={"session_id": session_id})


def session_from(document: SessionDocument | None) -> Session:
    """The entity of a document. Raises `SessionNotFoundError` for None."""
    if document is None:
        raise SessionNotFoundError("There is no such session.")
    run_id = document.active_run_id
    return Session(
        id=SessionId(document.id),
        user_id=UserId(document.user_id),
        title=document.title,
        status=SessionStatus(document.status),
        model=document.model,
        preset=document.preset,
        options=document.options,
        pinned=document.pinned,
        archived=document.archived,
        folder_id=document.folder_id,
        target_id=document.target_id,
        created_at=document.created_at,
        updated_at=document.updated_at,
        active_at=document.active_at or document.updated_at,
        last_seq=document.last_seq,
        read_seq=document.read_seq,
        unread=document.unread,
        failed=document.failed,
        sandbox=document.sandbox,
        active_run_id=RunId(run_id) if run_id else None,
    )
