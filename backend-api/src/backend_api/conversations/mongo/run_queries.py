"""Queries and updates of runs and sessions, for the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend_api.agent.events import RunStarted, StoredPayload, is_answer, is_for_the_person
from backend_api.agent.options import session_options
from backend_api.conversations.domain.entity import Claimant, Lease, RunId, RunStatus, SessionStatus
from backend_api.conversations.mongo.run_documents import messages_from, run_from
from backend_api.kit.mongo.database import Document

HAS_LAPSED: Document = {"status": RunStatus.RUNNING.value, "$expr": {"$lt": ["$lease_expires_at", "$$NOW"]}}
IS_FREE = {"$eq": [{"$ifNull": ["$active_run_id", None]}, None]}


_OF_SESSION = ("model", "preset", "options", "title", "title_due", "settings_version", "settings_model")
_ACCEPTED = (*_OF_SESSION, "last_user_seq", "active_run_id", "updated_at", "waiting", "status")
ACCEPTED_FIELDS = dict.fromkeys(_ACCEPTED, 1)
"""The fields an acceptance reads of the session it changed."""
TAKEN_FIELDS = dict.fromkeys((*_OF_SESSION, "last_seq", "updated_at"), 1)
"""The fields a claim reads of the session whose run it took."""


def run_started_by(claimant: Claimant | None) -> Document:
    """The changes of a session when its run begins; none if one is active."""
    if claimant is None:
        return {"status": {"$cond": [IS_FREE, SessionStatus.QUEUED.value, "$status"]}}
    return {
        "status": {"$cond": [IS_FREE, SessionStatus.RUNNING.value, "$status"]},
        "fence": {"$cond": [IS_FREE, 1, "$fence"]},
        "started_seq": {"$cond": [IS_FREE, {"$add": ["$last_seq", 3]}, "$started_seq"]},
    }


def assigned_to(claimant: Claimant, session: Document) -> Document:
    """The session's fields left with a run for a worker in another process, which reads it by `unconfirmed`."""
    return {"assigned": {name: session.get(name) for name in _OF_SESSION}} if claimant.is_elsewhere else {}


def unconfirmed(run_id: RunId, worker: str) -> Document:
    """The run as long as it is assigned to that worker, which has not confirmed it."""
    return {"_id": run_id, "worker": worker, "status": RunStatus.RUNNING.value, "assigned": {"$ne": None}}


def started_of(run: Document, session: Document, model: str) -> RunStarted:
    """The event that a run began. `model` is used if neither the session nor its user chose one."""
    return RunStarted(
        run_id=run["_id"],
        message_id=run["message_id"],
        model=session.get("model") or session.get("settings_model") or model,
        worker=run["worker"],
        attempt=run["attempt"],
    )


def lease_of(run: Document, session: Document, asked_at: float) -> Lease:
    """The lease on a run that was just taken."""
    return Lease(
        run=run_from(run),
        worker=run["worker"],
        fence=run["fence"],
        has_begun_before=run["attempt"] > 1,
        asked_at=asked_at,
        taken_over=run.get("taken_over", False),
        options=session_options(session.get("model"), session.get("options") or {}, session.get("preset")),
        is_named=bool(session.get("title")),
        is_title_due=bool(session.get("title_due")),
        has_settings=bool(session.get("settings_version")),
        messages=messages_from(run),
    )


def leased_session(lease: Lease) -> Document:
    """The session as long as this lease may write into it."""
    return {"_id": lease.run.session_id, "active_run_id": lease.run.id, "fence": lease.fence}


def leased_run(lease: Lease) -> Document:
    """The run as long as this lease holds it."""
    return {
        "_id": lease.run.id,
        "fence": lease.fence,
        "worker": lease.worker,
        "status": RunStatus.RUNNING.value,
    }


def unhandled(handled: int) -> Document:
    """The inbox without the messages handled."""
    return {"$filter": {"input": {"$ifNull": ["$inbox", []]}, "cond": {"$gt": ["$$this.number", handled]}}}


def claimable(run_id: RunId | None, *, but_not_of: list[str]) -> Document:
    """Queued runs, and those whose lease lapsed; with an id, that run if it is one of them."""
    queued: Document = {"status": RunStatus.QUEUED.value}
    if but_not_of:
        queued["user_id"] = {"$nin": but_not_of}
    wanted: Document = {"$or": [queued, HAS_LAPSED]}
    return wanted if run_id is None else wanted | {"_id": run_id}


def users_with(runs: int) -> list[Document]:
    """Users with so many active runs. Workers that claim at the same moment may begin one more each, which does no
    harm; an exact count would make each claim of a user wait for the others."""
    return [
        {"$match": {"status": RunStatus.RUNNING.value}},
        {"$group": {"_id": "$user_id", "runs": {"$sum": 1}}},
        {"$match": {"runs": {"$gte": runs}}},
    ]


def claimed_by(worker: str, lease_s: float) -> dict[str, Any]:
    """The changes of a run when a worker takes it."""
    return {
        "status": RunStatus.RUNNING.value,
        "worker": {"$literal": worker},
        "fence": {"$add": ["$fence", 1]},
        "attempt": {"$add": ["$attempt", 1]},
        "assigned": None,
        "taken_over": {"$eq": ["$status", RunStatus.RUNNING.value]},
        "lease_expires_at": {"$add": ["$$NOW", round(lease_s * 1000)]},
        "started_at": {"$ifNull": ["$started_at", "$$NOW"]},
    }


def more_unread(payloads: Sequence[StoredPayload]) -> Document:
    """The changes of a session when the agent says something, or a run ends."""
    answers = sum(map(is_answer, payloads))
    changes: Document = {"active_at": "$$NOW"} if any(map(is_for_the_person, payloads)) else {}
    return changes | ({"unread": {"$add": [{"$ifNull": ["$unread", 0]}, answers]}} if answers else {})


def unseen_after(seen: Any) -> Document:
    """The session's messages after a number, which no model has read."""
    return {"$filter": {"input": {"$ifNull": ["$waiting", []]}, "cond": {"$gt": ["$$this", seen]}}}
