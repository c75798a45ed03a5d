"""Runs as documents and back."""

from __future__ import annotations

from datetime import datetime, timedelta

from backend_api.conversations.domain.entity import Claimant, InboxMessage, Run, RunId, RunStatus
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Document
from service_kit.observation.context import current_work
from service_kit.observation.spans import current_traceparent


def run_from(document: Document) -> Run:
    """The entity of a document."""
    return Run(
        id=RunId(document["_id"]),
        session_id=SessionId(document["session_id"]),
        user_id=UserId(document["user_id"]),
        message_id=document["message_id"],
        status=RunStatus(document["status"]),
        attempt=document["attempt"],
        releases=document.get("handovers", 0),
        stop_requested=any(message.kind == "stop" for message in messages_from(document)),
        worker=document.get("worker"),
        created_at=document["created_at"],
        started_at=document.get("started_at"),
        finished_at=document.get("finished_at"),
        reason=document.get("reason"),
        retryable=document.get("retryable", False),
        request_id=document.get("request_id"),
        trace=document.get("trace"),
    )


def messages_from(document: Document) -> tuple[InboxMessage, ...]:
    """The messages waiting for the run's owner."""
    return tuple(
        InboxMessage(number=entry["number"], kind=entry["kind"], seq=entry["seq"])
        for entry in document.get("inbox") or ()
    )


def put_in_inbox(kind: str, seq: int) -> Document:
    """An update that puts a message in the inbox; a later one of the same kind replaces an earlier one."""
    number = {"$add": [{"$ifNull": ["$inbox_last", 0]}, 1]}
    others: Document = {"$filter": {"input": {"$ifNull": ["$inbox", []]}, "cond": {"$ne": ["$$this.kind", kind]}}}
    entry = {"number": number, "kind": kind, "seq": seq}
    return {"$set": {"inbox_last": number, "inbox": {"$concatArrays": [others, [entry]]}}}


def message_origin() -> Document:
    """The ids of the request that brings a message, if there is one."""
    origin = {"request_id": current_work().request_id, "trace": current_traceparent()}
    return {name: value for name, value in origin.items() if value is not None}


def queued_run(
    run_id: str, session_id: str, user_id: str, message_id: str | None, at: datetime, *, origin: Document | None = None
) -> Document:
    """A run that no worker has taken yet."""
    return {
        "_id": run_id,
        "session_id": session_id,
        "user_id": user_id,
        "message_id": message_id,
        "status": RunStatus.QUEUED.value,
        "active": True,
        "attempt": 0,
        "fence": 0,
        "created_at": at,
        **(origin or {}),
    }


def claimed_run(queued: Document, claimant: Claimant) -> Document:
    """The same run, taken at the moment it was queued."""
    at: datetime = queued["created_at"]
    return queued | {
        "status": RunStatus.RUNNING.value,
        "worker": claimant.worker,
        "attempt": 1,
        "fence": 1,
        "lease_expires_at": at + timedelta(seconds=claimant.lease_s),
        "started_at": at,
    }
