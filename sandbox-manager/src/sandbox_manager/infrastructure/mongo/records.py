"""Sandbox records as MongoDB holds them."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from sandbox_manager.domain.configuration import STANDARD, Configuration, Size
from sandbox_manager.domain.sandbox import Identity, Sandbox
from sandbox_manager.infrastructure.mongo.documents import SandboxDocument

_LEASE = ("lease_owner", "lease_until")


def to_mongo(sandbox: Sandbox) -> dict[str, Any]:
    return {
        "_id": sandbox.id,
        "session_id": sandbox.identity.session_id,
        "user_id": sandbox.identity.user_id,
        "generation": sandbox.identity.generation,
        "runtime": sandbox.runtime,
        "status": sandbox.status.value,
        "created_at": sandbox.created_at,
        "expires_at": sandbox.expires_at,
        "idle_expires_at": sandbox.idle_expires_at,
        "lease_owner": sandbox.lease_owner,
        "lease_until": sandbox.lease_until,
        "place": sandbox.place,
        "occupied": sandbox.occupied,
        "cleanup": sandbox.cleanup.value,
        "reason": sandbox.reason,
        "retryable": sandbox.retryable,
        "has_desktop": sandbox.has_desktop,
        "has_network": sandbox.has_network,
        "door": sandbox.endpoint,
        "settled_at": sandbox.settled_at,
        "notice": sandbox.notice,
        "fill": sandbox.fill.value,
        "disk_notice": sandbox.disk_notice,
        "disk_revision": sandbox.disk_revision,
        "disk_limit_mb": sandbox.disk_limit_mb,
        "asked_at": sandbox.asked_at,
        "recipe": sandbox.fingerprint,
        "waking_since": sandbox.waking_since,
        "configuration": None if sandbox.configuration.is_default else asdict(sandbox.configuration),
        "revision": sandbox.revision,
        "version": sandbox.version,
    }


def update_of(sandbox: Sandbox, *, with_lease: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Filter and update that store the next version. Leases change by their own calls only, but for an admission.

    Only fields that differ reach the change stream, which distinguishes changes of `revision` from others.
    """
    fields = to_mongo(replace(sandbox, version=sandbox.version + 1))
    identifier = fields.pop("_id")
    if not with_lease:
        for name in _LEASE:
            del fields[name]
    return {"_id": identifier, "version": sandbox.version}, {"$set": fields}


def from_mongo(document: dict[str, Any]) -> Sandbox:
    return to_sandbox(SandboxDocument.model_validate({**document, "id": document["_id"]}))


def to_sandbox(document: SandboxDocument) -> Sandbox:
    return Sandbox(
        identity=Identity(
            sandbox_id=document.id,
            session_id=document.session_id,
            user_id=document.user_id,
            generation=document.generation,
        ),
        runtime=document.runtime,
        status=document.status,
        created_at=document.created_at,
        expires_at=document.expires_at,
        idle_expires_at=document.idle_expires_at,
        lease_owner=document.lease_owner,
        lease_until=document.lease_until,
        place=document.place,
        occupied=document.occupied,
        cleanup=document.cleanup,
        reason=document.reason,
        retryable=document.retryable,
        has_desktop=document.has_desktop,
        has_network=document.has_network,
        endpoint=document.door,
        settled_at=document.settled_at,
        notice=document.notice,
        fill=document.fill,
        disk_notice=document.disk_notice,
        disk_revision=document.disk_revision,
        disk_limit_mb=document.disk_limit_mb,
        asked_at=document.asked_at,
        fingerprint=document.recipe,
        waking_since=document.waking_since,
        configuration=_configuration(document.configuration),
        revision=document.revision,
        version=document.version,
    )


def _configuration(stored: dict[str, Any] | None) -> Configuration:
    if stored is None:
        return STANDARD
    size = stored["size"]
    return Configuration(
        image_name=stored["image_name"],
        size_name=stored["size_name"],
        image=stored["image"],
        size=Size(**size) if size else None,
        places=stored["places"],
    )
