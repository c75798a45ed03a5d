"""Remove a session with everything that belongs to it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import RunLedger, SessionRepository
from backend_api.domain.errors import UnavailableError
from backend_api.domain.identity.entity import UserId
from backend_api.domain.notifier import Notifier, Topic
from backend_api.domain.sandbox.ports import Sandboxes

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Raises `SessionNotFoundError`. What is not reached of its sandbox is left to `FinishDeletions`."""

    sessions: SessionRepository
    ledger: RunLedger
    notifier: Notifier
    sandboxes: Sandboxes

    async def __call__(self, session_id: SessionId, user_id: UserId) -> None:
        run = await self.ledger.request_stop(session_id, user_id)
        if run is not None:
            await self.notifier.notify(Topic.RUN_INBOX, run.id)
        await self.sessions.delete(session_id, user_id)
        try:
            await self.sandboxes.delete(session_id, user_id)
        except UnavailableError:
            logger.warning("computer not yet removed with its session", extra={"session_id": session_id})
