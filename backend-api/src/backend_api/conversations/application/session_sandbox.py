"""The sandbox of a session, for its owner."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from backend_api.conversations.ports import SessionRepository
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.ports import Sandboxes

logger = logging.getLogger(__name__)

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
        try:
            await self.sandboxes.keep_alive(session_id)
        except SandboxUnavailableError:
            # The sandbox may answer all the same: of the files of one page, a single one would fail.
            logger.warning("a sandbox's use could not be reported to the manager", extra={"session_id": session_id})
        return sandbox
