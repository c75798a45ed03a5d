"""Runs as jobs, listed for their user apart from any conversation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from backend_api.conversations.domain.entity import Run, RunStatus
from backend_api.kit.errors import ConflictError, NotFoundError
from backend_api.kit.ids import UserId


class JobStatus(StrEnum):
    """The state of a job; the run's reason says how it came about."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def runs(self) -> frozenset[RunStatus]:
        """The states of a run that correspond to this one."""
        return frozenset(status for status, job in _JOBS.items() if job == self)


_JOBS = {
    RunStatus.QUEUED: JobStatus.QUEUED,
    RunStatus.RUNNING: JobStatus.RUNNING,
    RunStatus.WAITING: JobStatus.RUNNING,
    RunStatus.COMPLETED: JobStatus.COMPLETED,
    RunStatus.FAILED: JobStatus.FAILED,
    RunStatus.INTERRUPTED: JobStatus.FAILED,
    RunStatus.STOPPED: JobStatus.CANCELLED,
}


def job_status(run: Run) -> JobStatus:
    """The state of a run's job."""
    return _JOBS[run.status]


class JobNotFoundError(NotFoundError):
    """The job does not exist, or is another user's."""

    code = "job_not_found"


class JobEndedError(ConflictError):
    """The job is over; there is nothing to cancel."""

    code = "job_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    items: list[Run]
    next_cursor: str | None


class RunRecords(Protocol):
    """The runs of a user in all sessions."""

    async def page(self, user_id: UserId, *, status: JobStatus | None, limit: int, cursor: str | None) -> RunPage:
        """A page of runs, newest first. Raises `InvalidError` for an invalid cursor."""
        ...
