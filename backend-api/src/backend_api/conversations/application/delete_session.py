"""Deletes a session with everything that belongs to it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.conversations.ports import RunLedger, SessionRepository
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic
from backend_api.sandboxes.ports import Sandboxes

logger = logging.getLogger(__name__)

SANDBOX_WAIT_S = 5.0
"""Longer than a removal takes if the sandbox manager responds: a person waits for it."""


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Deletes a session. Raises `SessionNotFoundError`. A sandbox that can't be reached is left to
    `FinishDeletions`."""

    sessions: SessionRepository
    ledger: RunLedger
    notifier: Notifier
    sandboxes: Sandboxes
    sandbox_wait_s: float = SANDBOX_WAIT_S

    async def __call__(self, session_id: SessionId, user_id: UserId) -> None:
        run = await self.ledger.request_stop(session_id, user_id)
        if run is not None:
            await self.notifier.notify(Topic.RUN_INBOX, run.id)
        await self.sessions.delete(session_id, user_id)
        try:
            async with asyncio.timeout(self.sandbox_wait_s):
                await self.sandboxes.delete(session_id, user_id)
        except (UnavailableError, TimeoutError):
            logger.warning("computer not yet removed with its session", extra={"session_id": session_id})
