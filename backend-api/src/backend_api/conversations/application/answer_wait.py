"""Answers a run's wait: a question, an approval or a plan."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.waits import Answer
from backend_api.conversations.ports import Resolved, SessionStream, Waits
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic


@dataclass(frozen=True, slots=True)
class AnswerWait:
    """Answers a wait; the run continues with the answer, on any worker. Raises what `Waits.answer` raises."""

    waits: Waits
    stream: SessionStream
    notifier: Notifier

    async def __call__(self, session_id: SessionId, user_id: UserId, wait_id: str, answer: Answer) -> Resolved:
        resolved = await self.waits.answer(session_id, user_id, wait_id, answer)
        await publish_resolution(resolved, self.stream, self.notifier)
        return resolved


async def publish_resolution(resolved: Resolved, stream: SessionStream, notifier: Notifier) -> None:
    """Wakes a worker for the run whose wait ended, and sends the events to readers."""
    if resolved.is_queued:
        await notifier.notify(Topic.RUN_QUEUED, resolved.run_id)
    await stream.append(resolved.session_id, resolved.events)
