"""Runs as documents and back."""

from __future__ import annotations

from datetime import datetime, timedelta

from backend_api.domain.conversation.entity import Run, RunId, RunStatus, SessionId, Taker
from backend_api.domain.identity.entity import UserId
from backend_api.infrastructure.mongo.connection import Document


def run_from(document: Document) -> Run:
    """The entity of a document."""
    return Run(
        id=RunId(document["_id"]),
        session_id=SessionId(document["session_id"]),
        user_id=UserId(document["user_id"]),
        message_id=document["message_id"],
        status=RunStatus(document["status"]),
        attempt=document["attempt"],
        stop_requested=document["stop_requested"],
        created_at=document["created_at"],
        started_at=document.get("started_at"),
        finished_at=document.get("finished_at"),
        reason=document.get("reason"),
        retryable=document.get("retryable", False),
    )


def queued_run(run_id: str, session_id: str, user_id: str, message_id: str, at: datetime) -> Document:
    """A run nobody took yet."""
    return {
        "_id": run_id,
        "session_id": session_id,
        "user_id": user_id,
        "message_id": message_id,
        "status": RunStatus.QUEUED.value,
        "active": True,
        "attempt": 0,
        "fence": 0,
        "stop_requested": False,
        "created_at": at,
    }


def taken_run(queued: Document, taker: Taker) -> Document:
    """The same run taken in the moment it was queued."""
    at: datetime = queued["created_at"]
    return queued | {
        "status": RunStatus.RUNNING.value,
        "worker": taker.worker,
        "attempt": 1,
        "fence": 1,
        "lease_expires_at": at + timedelta(seconds=taker.lease_s),
        "started_at": at,
    }
