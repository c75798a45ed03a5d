"""Sandboxes as the contract has them."""

from __future__ import annotations

from contracts.sandboxes import Sandbox, SandboxStatus
from sandbox_manager.domain import sandbox as domain


def to_wire(sandbox: domain.Sandbox, *, queue_position: int | None = None) -> Sandbox:
    return Sandbox(
        id=sandbox.id,
        session_id=sandbox.identity.session_id,
        user_id=sandbox.identity.user_id,
        generation=sandbox.identity.generation,
        runtime=sandbox.runtime,
        status=SandboxStatus(sandbox.shown.value),
        reason=sandbox.reason,
        retryable=sandbox.retryable,
        has_desktop=sandbox.has_desktop,
        has_network=sandbox.has_network,
        created_at=sandbox.created_at,
        expires_at=sandbox.expires_at,
        idle_expires_at=sandbox.idle_expires_at,
        revision=sandbox.revision,
        notice=sandbox.notice,
        disk_notice=sandbox.disk_notice,
        disk_revision=sandbox.disk_revision,
        disk_fill=None if sandbox.disk_notice is None else sandbox.fill.name.lower(),
        disk_limit_mb=sandbox.disk_limit_mb,
        queue_position=queue_position,
    )
