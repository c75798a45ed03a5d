"""Runs as jobs: listed over all sessions by state, and cancelled."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from backend_api.conversations.application.cancel_job import CancelJob
from backend_api.conversations.application.get_job import GetJob
from backend_api.conversations.domain.entity import Run, RunId
from backend_api.conversations.domain.jobs import JobStatus, RunRecords, job_status
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import Time

router = APIRouter(prefix="/api/jobs", tags=["runs"])


class JobBody(BaseModel):
    """A job is a run: its id is the run's. `message_id` is null if it began without a message, `attempt` counts the
    workers that took it."""

    id: str
    session_id: str
    message_id: str | None
    status: JobStatus
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    worker: str | None
    attempt: int
    reason: str | None

    @classmethod
    def of(cls, run: Run) -> JobBody:
        return cls(
            id=run.id,
            session_id=run.session_id,
            message_id=run.message_id,
            status=job_status(run),
            created_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.finished_at,
            worker=run.worker,
            attempt=run.attempt,
            reason=run.reason,
        )


class JobPageBody(BaseModel):
    """Jobs, newest first."""

    items: list[JobBody]
    next_cursor: str | None


@router.get("")
async def list_jobs(
    caller: CurrentCaller,
    run_records: Annotated[RunRecords, port("run_records")],
    status: JobStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> JobPageBody:
    """List the caller's jobs, newest first."""
    page = await run_records.page(caller.user.id, status=status, limit=limit, cursor=cursor)
    return JobPageBody(items=[JobBody.of(run) for run in page.items], next_cursor=page.next_cursor)


@router.get("/{job_id}")
async def get_job(job_id: str, caller: CurrentCaller, get_job: Annotated[GetJob, port("get_job")]) -> JobBody:
    """Return one job."""
    return JobBody.of(await get_job(RunId(job_id), caller.user.id))


@router.post("/{job_id}/cancel", status_code=202, responses={409: {}})
async def cancel_job(
    job_id: str, caller: CurrentCaller, cancel_job: Annotated[CancelJob, port("cancel_job")]
) -> JobBody:
    """Cancel a queued or running job; a running one ends within half a second. 409 when it has ended."""
    return JobBody.of(await cancel_job(RunId(job_id), caller.user.id))
