"""Cancels one job, queued or running, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.application.get_job import GetJob
from backend_api.conversations.application.stop_run import StopRun
from backend_api.conversations.domain.entity import Run, RunId
from backend_api.conversations.domain.jobs import JobEndedError
from backend_api.kit.ids import UserId


@dataclass(frozen=True, slots=True)
class CancelJob:
    """Stops this run, but no later one of its session. Raises `JobNotFoundError`, `JobEndedError`."""

    get_job: GetJob
    stop_run: StopRun

    async def __call__(self, job_id: RunId, user_id: UserId) -> Run:
        run = await self.get_job(job_id, user_id)
        if run.status.is_end or await self.stop_run(run.session_id, user_id, job_id) is None:
            raise JobEndedError("This job has already ended.")
        return await self.get_job(job_id, user_id)
