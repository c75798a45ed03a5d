"""Stored events and bodies as documents and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.application.conversation.event_json import dump, payload_fields, payload_from
from backend_api.domain.agent.events import Event, MessageUser, StoredPayload
from backend_api.domain.conversation.ports import Body
from backend_api.infrastructure.mongo.connection import Database, Document

BODY_PART_BYTES = 8 * 1024 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024


def number(
    session_id: str, first_seq: int, at: datetime, run_id: str | None, payloads: Sequence[StoredPayload]
) -> list[Event]:
    """Events with consecutive numbers."""
    return [
        Event(seq=first_seq + index, at=at, session_id=session_id, run_id=run_id, payload=payload)
        for index, payload in enumerate(payloads)
    ]


def to_document(event: Event) -> Document:
    """The document of a stored event."""
    payload = event.payload
    document: Document = {
        "session_id": event.session_id,
        "seq": event.seq,
        "type": payload.type,
        "at": event.at,
        "run_id": event.run_id,
        "data": dump(payload_fields(payload)),
    }
    if isinstance(payload, MessageUser) and payload.client_message_id is not None:
        document["client_message_id"] = payload.client_message_id
    return document


def from_document(document: Document) -> Event:
    """The event of a document."""
    return Event(
        seq=document["seq"],
        at=document["at"],
        session_id=document["session_id"],
        run_id=document["run_id"],
        payload=payload_from(json.loads(document["data"])),
    )


async def insert_events(database: Database, session: AsyncClientSession, events: Sequence[Event]) -> None:
    """Insert events inside a transaction."""
    documents = [to_document(event) for event in events]
    if len(documents) == 1:
        await database["events"].insert_one(documents[0], session=session)
    else:
        await database["events"].insert_many(documents, session=session)


async def insert_body(
    database: Database, session: AsyncClientSession, session_id: str, seq: int | None, body: Body
) -> None:
    """Insert a body in parts that fit into documents; what is over the bound is cut."""
    content = body.content[:MAX_BODY_BYTES]
    parts: list[dict[str, Any]] = [
        {
            "session_id": session_id,
            "seq": seq,
            "part": index,
            "media_type": body.media_type,
            "content": content[start : start + BODY_PART_BYTES],
        }
        for index, start in enumerate(range(0, max(len(content), 1), BODY_PART_BYTES))
    ]
    for part in parts:
        await database["bodies"].insert_one(part, session=session)
