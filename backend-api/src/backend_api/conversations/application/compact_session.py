"""Summarises a conversation at the person's request."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.events import CompactionWanted, RunQueued
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import RunLedger, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic


@dataclass(frozen=True, slots=True)
class CompactSession:
    """Requests a compaction: before the next answer of an active run, otherwise by a new run. It counts toward the
    limit of messages.

    Raises `SessionNotFoundError`, `NothingToCompactError`, `LimitError`.
    """

    ledger: RunLedger
    stream: SessionStream
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, session_id: SessionId, user_id: UserId, focus: str | None) -> RunId:
        await self.limiter.hit(f"messages:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        events = await self.ledger.compact(session_id, user_id, CompactionWanted(focus=focus))
        run_id = RunId(events[-1].run_id or "")
        if isinstance(events[-1].payload, RunQueued):
            await self.notifier.notify(Topic.RUN_QUEUED, run_id)
        await self.stream.append(session_id, events)
        return run_id
