"""Leave nothing running when the stack stops."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import SandboxRecords

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoveAll:
    """Delete every sandbox of this manager's place, workspaces kept; one that can't be deleted does not hold up the
    others. For the last manager of the place only."""

    registry: SandboxRecords
    delete: DeleteSandbox
    clean: CleanSandbox

    async def __call__(self) -> None:
        occupied = [one for one in await self.registry.find(occupied=True) if await self.clean.is_here(one)]
        results = await asyncio.gather(
            *(
                self.delete(one.id, keep_workspace=True, reason="The system was stopped; the workspace is kept.")
                for one in occupied
            ),
            return_exceptions=True,
        )
        for sandbox, result in zip(occupied, results, strict=True):
            if isinstance(result, DomainError):
                _log.warning("sandbox not removed", extra={"sandbox_id": sandbox.id, "reason": result.detail})
            elif isinstance(result, Exception):
                _log.error("sandbox not removed", extra={"sandbox_id": sandbox.id}, exc_info=result)
            elif result is not None:
                raise result
