"""Routes of the sandboxes' resource usage."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path

from contracts.identifiers import SANDBOX_ID
from contracts.sandboxes import ManagerStats, SandboxStats, SandboxStatus
from sandbox_manager.interfaces.http.service_token import require_service_token
from sandbox_manager.interfaces.http.use_cases import Wired

router = APIRouter(tags=["stats"], dependencies=[Depends(require_service_token)])


@router.get("/sandboxes/{sandbox_id}/stats")
async def sandbox_stats(sandbox_id: Annotated[str, Path(pattern=SANDBOX_ID)], wired: Wired) -> SandboxStats:
    """One sandbox."""
    stats = await wired.stats(sandbox_id)
    return SandboxStats(
        id=stats.sandbox.id,
        status=SandboxStatus(stats.sandbox.shown.value),
        cpu_s=stats.usage.cpu_s if stats.usage else None,
        memory_bytes=stats.usage.memory_bytes if stats.usage else None,
        memory_limit_bytes=stats.usage.memory_limit_bytes if stats.usage else None,
        pids=stats.usage.pids if stats.usage else None,
        disk_bytes=stats.disk_bytes,
        unused_s=stats.unused_s,
    )


@router.get("/stats")
async def manager_stats(wired: Wired) -> ManagerStats:
    """The whole deployment."""
    totals = await wired.stats.totals()
    return ManagerStats(
        by_status=totals.by_status,
        users=totals.users,
        max_total=totals.max_total,
        free_memory_bytes=totals.free_memory_bytes,
    )
