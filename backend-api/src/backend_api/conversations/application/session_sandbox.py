"""The sandbox of a session, for its owner."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.ports import SessionRepository
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.ports import Sandboxes

QUEUE_S = 8.0
"""Seconds in the queue after which a waiting person gets an error that others are in use; agents wait longer."""


@dataclass(frozen=True, slots=True)
class SessionSandbox:
    """Returns the session's sandbox, and starts it if needed. Raises `SessionNotFoundError`, `SandboxQueuedError`,
    `SandboxUnavailableError`."""

    sessions: SessionRepository
    sandboxes: Sandboxes
    queue_s: float | None = QUEUE_S

    async def __call__(self, session_id: SessionId, user_id: UserId) -> Sandbox:
        await self.sessions.get(session_id, user_id)
        sandbox = await self.sandboxes.ensure(session_id, user_id, queue_s=self.queue_s)
        await self.sandboxes.keep_alive(session_id)
        return sandbox
