"""Read markers, stored with the session's counters."""

from __future__ import annotations

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.conversations.domain.entity import Session
from backend_api.conversations.mongo.documents import SessionDocument
from backend_api.conversations.mongo.session_repository import session_from
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, store_errors

MAX_UNREAD = 1_000
"""The largest number of unread messages that is counted."""


class MongoReadMarkers:
    """`ReadMarkers` on the collections sessions and events."""

    def __init__(self, database: Database) -> None:
        # The driver: transactions belong to its client, and events are only counted.
        self._sessions = database["sessions"]
        self._database = database

    async def mark(self, session_id: SessionId, user_id: UserId, seq: int) -> Session:
        """Counts in the same transaction, so that a run ending meanwhile is counted once."""
        own = {"_id": session_id, "user_id": user_id}
        async with store_errors():
            session = _session_from(await self._sessions.find_one(own))
        if min(seq, session.last_seq) <= session.read_seq:
            return session

        async def work(transaction: AsyncClientSession) -> Session:
            session = _session_from(await self._sessions.find_one(own, session=transaction))
            marker = max(session.read_seq, min(seq, session.last_seq))
            later = {"session_id": session_id, "is_answer": True, "seq": {"$gt": marker}}
            unread = await self._database["events"].count_documents(later, limit=MAX_UNREAD, session=transaction)
            marked = await self._sessions.find_one_and_update(
                own,
                # The run that failed is the last that ended: nothing unread says that its end was read.
                {"$set": {"read_seq": marker, "unread": unread, "failed": session.failed and unread > 0}},
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            return _session_from(marked)

        return await in_transaction(self._database, work)


def _session_from(found: Document | None) -> Session:
    return session_from(SessionDocument.model_validate(found) if found else None)
