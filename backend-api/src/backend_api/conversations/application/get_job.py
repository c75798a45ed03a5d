"""One job of a user."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.domain.entity import Run, RunId
from backend_api.conversations.domain.jobs import JobNotFoundError
from backend_api.conversations.ports import RunLedger
from backend_api.kit.ids import UserId


@dataclass(frozen=True, slots=True)
class GetJob:
    """Returns a job. Raises `JobNotFoundError` for another user's id as for an unknown one."""

    ledger: RunLedger

    async def __call__(self, job_id: RunId, user_id: UserId) -> Run:
        run = await self.ledger.get(job_id)
        if run is None or run.user_id != user_id:
            raise JobNotFoundError("There is no such job.")
        return run
