"""Copies events of one session into another one, which begins with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend_api.agent.events import (
    ContextCompacted,
    ContextNote,
    Event,
    MessageCompleted,
    MessageUser,
    Payload,
    ThinkingCompleted,
    ToolCalled,
)
from backend_api.agent.path import BESIDE_PATHS
from backend_api.branches.domain import index_of
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.mongo.event_documents import read_events, to_documents
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document

_EVENTS_AT_ONCE = 500
_BODIES_AT_ONCE = 20
_LEFT_OUT = sorted(BESIDE_PATHS | {"path.selected", "branch.deleted", "message.withdrawn"})
NOTE = ContextNote(
    kind="branched",
    text="The conversation up to here was copied from another one of this person. The computer is a new one: files "
    "and programs that were made before are not on it.",
)


async def copied_numbers(database: Database, source: SessionId, ranges: Sequence[Sequence[int]]) -> list[int]:
    """Numbers of the events to copy: those of settings and the computer don't apply to another session."""
    within = [{"seq": {"$gte": first, "$lte": last}} for first, last in ranges]
    wanted: Document = {"session_id": source, "type": {"$nin": _LEFT_OUT}, "$or": within}
    found = database["events"].find(wanted, {"_id": 0, "seq": 1}).sort("seq", 1)
    return [one["seq"] async for one in found] if within else []


async def copy_events(database: Database, source: SessionId, target: Session, numbers: Sequence[int]) -> int:
    """Copy the events in pages, then add a note for the model; returns the last number."""
    for start in range(0, len(numbers), _EVENTS_AT_ONCE):
        page = numbers[start : start + _EVENTS_AT_ONCE]
        kept = set(page)
        wanted = {"session_id": source, "seq": {"$gte": page[0], "$lte": page[-1]}, "type": {"$nin": _LEFT_OUT}}
        found = [one async for one in database["events"].find(wanted).sort("seq", 1) if one["seq"] in kept]
        events = await read_events(database, found)
        outputs = [one.get("output") for one in found]
        await _insert(database, target, numbers, list(zip(events, outputs, strict=True)))
        await _stay(database, target.id)
    note = Event(seq=len(numbers) + 1, at=target.created_at, session_id=target.id, run_id=None, payload=NOTE)
    await database["events"].insert_many(to_documents(note))
    return len(numbers) + 1


async def _insert(
    database: Database, target: Session, numbers: Sequence[int], entries: Sequence[tuple[Event, str | None]]
) -> None:
    documents: list[Document] = []
    parts: list[Document] = []
    for event, output in entries:
        seq = index_of(numbers, event.seq or 0)
        payload = _renumbered(event.payload, numbers)
        moved: Any = replace(event, seq=seq, session_id=target.id, payload=payload)
        document, *rest = to_documents(moved, output)
        documents.append(document)
        parts += rest
    if documents:
        await database["events"].insert_many(documents)
    if parts:
        await database["event_parts"].insert_many(parts)


def _renumbered(payload: Payload, numbers: Sequence[int]) -> Payload:
    """The payload with its references to event numbers changed to those of the copy."""
    if isinstance(payload, MessageCompleted | ThinkingCompleted | ToolCalled):
        return replace(payload, seen_seq=index_of(numbers, payload.seen_seq))
    if isinstance(payload, ContextCompacted):
        return replace(payload, through_seq=index_of(numbers, payload.through_seq), transcript=None)
    if isinstance(payload, MessageUser):
        return replace(payload, client_message_id=None)
    return payload


async def copy_bodies(database: Database, source: SessionId, target: SessionId, numbers: Sequence[int]) -> None:
    """Copy the bodies of the events unchanged."""
    kept, batch = set(numbers), list[Document]()
    async for body in database["bodies"].find({"session_id": source}, batch_size=_BODIES_AT_ONCE):
        if body["seq"] not in kept:
            continue
        own = {name: value for name, value in body.items() if name != "_id"}
        batch.append(own | {"session_id": target, "seq": index_of(numbers, body["seq"])})
        if len(batch) == _BODIES_AT_ONCE:
            await database["bodies"].insert_many(batch)
            await _stay(database, target)
            batch = []
    if batch:
        await database["bodies"].insert_many(batch)


async def _stay(database: Database, target: SessionId) -> None:
    """Keep the copy from being swept as deleted for a while more."""
    await database["sessions"].update_one({"_id": target}, {"$currentDate": {"deleted_at": True}})
