"""Publish changes of sandboxes in their sessions' streams, also while no run is active."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.conversations.ports import SessionStream
from backend_api.kit.errors import UnavailableError
from backend_api.sandboxes.domain.changes import SandboxChangeLog, SandboxChangeSource

logger = logging.getLogger(__name__)

AGAIN_S = 2.0


@dataclass(frozen=True, slots=True)
class PublishSandboxChanges:
    """Every gateway subscribes and the first one stores, so each change is stored once and none depends on one
    process."""

    source: SandboxChangeSource
    log: SandboxChangeLog
    stream: SessionStream
    again_s: float = AGAIN_S

    async def publish_until_cancelled(self) -> None:
        """Publish until cancelled; resubscribes after faults of manager and stores."""
        while True:
            try:
                await self.publish_changes()
            except UnavailableError as error:
                logger.info("changes of sandboxes are not received", extra={"reason": error.detail})
            except Exception:
                logger.exception("publishing changes of sandboxes crashed")
            await asyncio.sleep(self.again_s)

    async def publish_changes(self) -> None:
        """Publish until the subscription ends. A change that could not be stored is received again."""
        async with self.source.subscribe() as changes:
            async for change in changes:
                events = await self.log.append_once(change)
                if events:
                    await self.stream.append(change.session_id, events)
