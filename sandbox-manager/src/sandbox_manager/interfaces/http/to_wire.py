"""Sandboxes as the contract has them."""

from __future__ import annotations

from contracts.sandboxes import Sandbox, SandboxStatus
from sandbox_manager.domain import sandbox as domain
from sandbox_manager.domain.admission import QueuePlace


def to_wire(sandbox: domain.Sandbox, place: QueuePlace | None = None) -> Sandbox:
    return Sandbox(
        id=sandbox.id,
        session_id=sandbox.identity.session_id,
        user_id=sandbox.identity.user_id,
        generation=sandbox.identity.generation,
        runtime=sandbox.runtime,
        image=sandbox.configuration.image_name or None,
        size=sandbox.configuration.size_name or None,
        status=SandboxStatus(sandbox.shown.value),
        reason=sandbox.reason,
        was_never_there=sandbox.was_never_there,
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
        # If the number of files is near its limit, only the notice says so.
        disk_fill=sandbox.fill.name.lower() if sandbox.disk_notice and sandbox.disk_limit_mb else None,
        disk_limit_mb=sandbox.disk_limit_mb,
        queue_position=place.position if place else None,
        queue_reason=place.reason if place else None,
    )
