"""Completes deletions of sessions, whoever began them."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.conversations.domain.deletions import Deletions
from backend_api.kit.errors import UnavailableError
from backend_api.sandboxes.ports import Sandboxes

logger = logging.getLogger(__name__)

SWEEP_S = 5.0


@dataclass(frozen=True, slots=True)
class FinishDeletions:
    """Every gateway and worker sweeps, and continues after faults of manager and stores. The sandbox is deleted again
    even if the request did so: a call under way at the time may have started another one."""

    deletions: Deletions
    sandboxes: Sandboxes
    sweep_s: float = SWEEP_S

    async def delete_until_cancelled(self) -> None:
        """Sweeps for ever."""
        while True:
            try:
                await self()
            except Exception:
                logger.exception("finishing deletions crashed")
            await asyncio.sleep(self.sweep_s)

    async def __call__(self) -> None:
        """Handles all due deletions. One whose sandbox can't be reached becomes due again later."""
        while (deleted := await self.deletions.claim_next()) is not None:
            try:
                await self.sandboxes.delete(deleted.session_id, deleted.user_id)
            except UnavailableError as error:
                fields = {"session_id": deleted.session_id, "reason": error.detail}
                logger.warning("computer of a deleted session not yet removed", extra=fields)
            else:
                await self.deletions.finish(deleted.session_id)
