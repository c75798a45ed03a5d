"""Schedules as documents and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Document
from backend_api.schedules.domain.entity import Missed, Schedule, ScheduledRun, ScheduleId

_MISSED = tuple(field.name for field in fields(Missed))


def document_of(schedule: Schedule) -> Document:
    """The stored fields but for the last run, which is written only when a message is sent."""
    fields = asdict(schedule)
    fields.pop("last_run")
    return {"_id": fields.pop("id"), "look_at": schedule.next_at, **fields}


def missed_document(missed: Missed | None) -> Document | None:
    """The form in which it is stored, and used in updates."""
    return None if missed is None else asdict(missed)


def with_status(schedule: Schedule, statuses: Mapping[str, str]) -> Schedule:
    """The schedule with the status of its last run, taken from `statuses` by the run's id."""
    last = schedule.last_run
    return schedule if last is None else replace(schedule, last_run=replace(last, status=statuses.get(last.run_id)))


def schedule_from(found: Document) -> Schedule:
    """The entity of a document."""
    return Schedule(
        id=ScheduleId(found["_id"]),
        user_id=UserId(found["user_id"]),
        text=found["text"],
        timezone=found["timezone"],
        created_at=found["created_at"],
        at=found.get("at"),
        cron=found.get("cron"),
        session_id=_session(found.get("session_id")),
        model=found.get("model"),
        preset=found.get("preset"),
        options=found.get("options") or {},
        paused=found["paused"],
        pause_reason=found.get("pause_reason"),
        next_at=found.get("next_at"),
        missed=_missed_from(found.get("missed")),
        last_run=_last_run_from(found.get("last_run")),
        version=found["version"],
    )


def _session(session_id: str | None) -> SessionId | None:
    return None if session_id is None else SessionId(session_id)


def _missed_from(found: dict[str, Any] | None) -> Missed | None:
    # A newer version may have stored more fields.
    return None if found is None else Missed(**{name: found[name] for name in _MISSED if name in found})


def _last_run_from(found: dict[str, Any] | None) -> ScheduledRun | None:
    if found is None:
        return None
    return ScheduledRun(
        at=found["at"],
        due_at=found["due_at"],
        session_id=SessionId(found["session_id"]),
        run_id=RunId(found["run_id"]),
        missed=_missed_from(found["missed"]),
    )
