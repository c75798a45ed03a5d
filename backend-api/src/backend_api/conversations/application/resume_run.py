"""Resumes work that ended before it was done."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.events import ContextNote
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import RunLedger, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic

NOTE = ContextNote(
    kind="resume",
    text="Your work ended before it was done, and the person wants you to go on. Look what is there, then go on from "
    "it; don't begin anew.",
)


@dataclass(frozen=True, slots=True)
class ResumeRun:
    """Queues a run without a message. It counts toward the limit of messages.

    Raises `SessionNotFoundError`, `NothingToResumeError`, `LimitError`.
    """

    ledger: RunLedger
    stream: SessionStream
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, session_id: SessionId, user_id: UserId, run_id: RunId) -> RunId:
        await self.limiter.hit(f"messages:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        events = await self.ledger.resume(session_id, user_id, run_id, NOTE)
        queued = RunId(events[-1].run_id or "")
        await self.notifier.notify(Topic.RUN_QUEUED, queued)
        await self.stream.append(session_id, events)
        return queued
