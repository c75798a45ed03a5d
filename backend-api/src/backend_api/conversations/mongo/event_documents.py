"""Stored events and bodies as documents and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType

from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.cursor import AsyncCursor
from pymongo.errors import BulkWriteError, DuplicateKeyError

from backend_api.agent.events import Event, MessageUser, PathSelected, StoredPayload, agent_of, is_answer
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.application.event_json import dump, payload_fields, payload_from
from backend_api.conversations.application.stored_events import count_stored
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.mongo.shared_bodies import is_shared, read_shared, share
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction, on_commit, store_errors

PART_CHARACTERS = 60_000
"""The most characters of an event's JSON in one document: at four bytes each, and with the envelope, it stays below 256
KB."""
BODY_PART_BYTES = 240_000
MAX_BODY_BYTES = 64 * 1024 * 1024
_DUPLICATE = 11000
_NO_OUTPUTS: Mapping[int, str] = MappingProxyType({})


def number(
    session_id: str, first_seq: int, at: datetime, run_id: str | None, payloads: Sequence[StoredPayload]
) -> list[Event]:
    """Events with consecutive numbers."""
    return [
        Event(seq=first_seq + index, at=at, session_id=session_id, run_id=run_id, payload=payload)
        for index, payload in enumerate(payloads)
    ]


def to_documents(event: Event, output: str | None = None) -> list[Document]:
    """The document of a stored event with the text the model read of it, and documents with the rest of a long one."""
    payload = event.payload
    data = dump(payload_fields(payload))
    document: Document = {
        "session_id": event.session_id,
        "seq": event.seq,
        "type": payload.type,
        "at": event.at,
        "run_id": event.run_id,
        "data": data[:PART_CHARACTERS],
    }
    if isinstance(payload, MessageUser) and payload.client_message_id is not None:
        document["client_message_id"] = payload.client_message_id
    if isinstance(payload, PathSelected) and payload.client_request_id is not None:
        document["client_request_id"] = payload.client_request_id
    if (agent_id := agent_of(payload)) is not None:
        document["agent_id"] = agent_id
    if is_answer(payload):
        document["is_answer"] = True
    if output is not None:
        document["output"] = output
    rest: list[Document] = [
        {"session_id": event.session_id, "seq": event.seq, "part": part, "data": data[start : start + PART_CHARACTERS]}
        for part, start in enumerate(range(PART_CHARACTERS, len(data), PART_CHARACTERS), start=1)
    ]
    if rest:
        document["parts"] = len(rest)
    return [document, *rest]


def from_document(document: Document) -> Event:
    """The event of a document with complete data."""
    return Event(
        seq=document["seq"],
        at=document["at"],
        session_id=document["session_id"],
        run_id=document["run_id"],
        payload=payload_from(json.loads(document["data"])),
    )


async def insert_events(
    database: Database, session: AsyncClientSession, events: Sequence[Event], outputs: Mapping[int, str] = _NO_OUTPUTS
) -> None:
    """Inserts events inside a transaction. `outputs` are the texts the model read, by the events' numbers."""
    documents: list[Document] = []
    parts: list[Document] = []
    for event in events:
        document, *rest = to_documents(event, outputs.get(event.seq or 0))
        documents.append(document)
        parts += rest
    await _insert(database["events"], session, documents)
    if parts:
        await _insert(database["event_parts"], session, parts)
    on_commit(partial(count_stored, events))


async def insert_recorded(
    database: Database, session: AsyncClientSession, events: Sequence[Event], items: Sequence[NewEvent]
) -> None:
    """Inserts the events of a writer's items with their bodies and outputs; events without an item may follow."""
    beside = [(event, item) for event, item in zip(events, items, strict=False)]
    outputs = {event.seq or 0: item.output for event, item in beside if item.output is not None}
    await insert_events(database, session, events, outputs)
    for event, item in beside:
        if item.body is None:
            continue
        if is_shared(item.payload, item.body):
            # Stored outside the transaction, and only the first time.
            reference = _reference(event, item.body.media_type, await share(database, item.body))
            await _insert(database["bodies"], session, [reference])
        else:
            await insert_body(database, session, event.session_id, event.seq, item.body)


async def read_events(database: Database, documents: Sequence[Document]) -> list[Event]:
    """The events in documents of one session; their further parts are fetched in one query.

    Raises `SessionNotFoundError` if they are gone: parts are removed first.
    """
    split = {document["seq"]: [document["data"]] for document in documents if document.get("parts")}
    if split:
        wanted = {"session_id": documents[0]["session_id"], "seq": {"$in": list(split)}}
        async for part in database["event_parts"].find(wanted).sort([("seq", 1), ("part", 1)]):
            split[part["seq"]].append(part["data"])
        if any(len(split[document["seq"]]) != document["parts"] + 1 for document in documents if document.get("parts")):
            raise SessionNotFoundError("The session is being removed.")
        whole = {seq: "".join(texts) for seq, texts in split.items()}
        documents = [document | {"data": whole.get(document["seq"], document["data"])} for document in documents]
    return [from_document(document) for document in documents]


def is_repeated_message(error: DuplicateKeyError) -> bool:
    """Whether the duplicate key is the client's id of a stored message."""
    return "client_message_id" in (error.details or {}).get("keyPattern", {})


def is_repeated_request(error: DuplicateKeyError) -> bool:
    """Whether the duplicate key is the client's id of a request that is done."""
    return "client_request_id" in (error.details or {}).get("keyPattern", {})


async def message_sent_before(database: Database, session_id: str, client_message_id: str | None) -> Event:
    """The message that a client first sent under this id.

    Raises `SessionNotFoundError` if it is gone, as its session is.
    """
    sent = {"session_id": session_id, "client_message_id": client_message_id}
    await find_latest(database, sent)
    async with store_errors():
        events = await read_events(database, await database["events"].find(sent).to_list())
    if not events:
        raise SessionNotFoundError("There is no such session.")
    return events[0]


async def find_latest(database: Database, wanted: Document) -> int | None:
    """The number of an event, also of one that is stored at this moment and isn't durable yet: this waits until it is.
    Other reads see what is durable alone, so they may miss an event that a transaction has just seen."""

    async def look(transaction: AsyncClientSession) -> Document | None:
        return await database["events"].find_one(wanted, {"seq": 1}, session=transaction)

    found = await in_transaction(database, look)
    return None if found is None else found["seq"]


async def is_sent(
    database: Database, session_id: str, client_message_id: str, transaction: AsyncClientSession | None = None
) -> bool:
    """Whether a message was sent under this id."""
    sent = {"session_id": session_id, "client_message_id": client_message_id}
    return await database["events"].find_one(sent, {"_id": 1}, session=transaction) is not None


async def read_up_to(cursor: AsyncCursor[Document], most: int | None) -> tuple[list[Document], bool]:
    """The documents of events up to `most` bytes, but at least one, and whether there were more."""
    if most is None:
        return await cursor.to_list(), False
    documents: list[Document] = []
    left: int = most
    async for document in cursor:
        left -= len(document["data"].encode()) * (1 + document.get("parts", 0))
        left -= len(document.get("output") or "")
        if left < 0 and documents:
            await cursor.close()
            return documents, True
        documents.append(document)
    return documents, False


async def insert_body(
    database: Database, session: AsyncClientSession, session_id: str, seq: int | None, body: Body
) -> None:
    """Inserts a body in parts that fit into documents; content beyond the limit is cut."""
    content = body.content[:MAX_BODY_BYTES]
    parts: list[Document] = [
        {
            "session_id": session_id,
            "seq": seq,
            "part": index,
            "media_type": body.media_type,
            "content": content[start : start + BODY_PART_BYTES],
        }
        for index, start in enumerate(range(0, max(len(content), 1), BODY_PART_BYTES))
    ]
    await _insert(database["bodies"], session, parts)


def _reference(event: Event, media_type: str, digest: str) -> Document:
    own: Document = {"session_id": event.session_id, "seq": event.seq, "part": 0, "media_type": media_type}
    return own | {"content": b"", "shared": digest}


async def read_body(database: Database, session_id: str, seq: int) -> Body | None:
    """The body from its parts, or None if there are none."""
    parts = await database["bodies"].find({"session_id": session_id, "seq": seq}).sort("part", 1).to_list()
    if not parts:
        return None
    if (digest := parts[0].get("shared")) is not None:
        return await read_shared(database, digest)
    return Body(content=b"".join(bytes(part["content"]) for part in parts), media_type=parts[0]["media_type"])


async def _insert(
    collection: AsyncCollection[Document], session: AsyncClientSession, documents: list[Document]
) -> None:
    if len(documents) == 1:
        await collection.insert_one(documents[0], session=session)
    else:
        try:
            await collection.insert_many(documents, session=session)
        except BulkWriteError as error:
            failed: list[Document] = (error.details or {}).get("writeErrors", [])
            if failed and failed[0]["code"] == _DUPLICATE:
                raise DuplicateKeyError("A record with this id already exists.", _DUPLICATE, failed[0]) from error
            raise
