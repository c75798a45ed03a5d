"""Bring deletions of sessions to their end, whoever began them."""

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
    """Every gateway and worker sweeps; over faults of manager and stores it goes on. The sandbox is removed once
    more, also where the request saw to it: a call that was on its way then may have started another one."""

    deletions: Deletions
    sandboxes: Sandboxes
    sweep_s: float = SWEEP_S

    async def delete_until_cancelled(self) -> None:
        """For ever."""
        while True:
            try:
                await self()
            except Exception:
                logger.exception("finishing deletions crashed")
            await asyncio.sleep(self.sweep_s)

    async def __call__(self) -> None:
        """All that are due. One whose sandbox is not reached is due again later."""
        while (deleted := await self.deletions.claim_next()) is not None:
            try:
                await self.sandboxes.delete(deleted.session_id, deleted.user_id)
            except UnavailableError as error:
                fields = {"session_id": deleted.session_id, "reason": error.detail}
                logger.warning("computer of a deleted session not yet removed", extra=fields)
            else:
                await self.deletions.finish(deleted.session_id)
