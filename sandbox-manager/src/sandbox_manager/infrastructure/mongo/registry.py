"""Sandbox records in MongoDB."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from pymongo.errors import DuplicateKeyError, PyMongoError

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.domain.sandbox import Identity, Sandbox
from sandbox_manager.infrastructure.mongo.documents import SandboxDocument, collection_of


@contextlib.contextmanager
def registry_errors() -> Generator[None]:
    """Driver errors as the domain names them."""
    try:
        yield
    except PyMongoError as error:
        raise RegistryUnavailableError("The manager's database does not answer; try again later.") from error


class MongoRegistry:
    """Expects Beanie to be initialised with this package's documents."""

    async def add(self, sandbox: Sandbox) -> bool:
        with registry_errors():
            try:
                await collection_of(SandboxDocument).insert_one(_to_mongo(sandbox))
            except DuplicateKeyError:
                return False
        return True

    async def get(self, sandbox_id: str) -> Sandbox | None:
        with registry_errors():
            document = await SandboxDocument.get(sandbox_id)
        return _to_sandbox(document) if document else None

    async def find(
        self, *, user_id: str | None = None, session_id: str | None = None, occupied: bool | None = None
    ) -> list[Sandbox]:
        wanted = {"user_id": user_id, "session_id": session_id, "occupied": occupied}
        query = {name: value for name, value in wanted.items() if value is not None}
        with registry_errors():
            documents = await SandboxDocument.find(query).sort("-created_at", "-generation").to_list()
        return [_to_sandbox(document) for document in documents]

    async def save(self, sandbox: Sandbox) -> bool:
        changed = replace(sandbox, version=sandbox.version + 1)
        with registry_errors():
            result = await collection_of(SandboxDocument).replace_one(
                {"_id": sandbox.id, "version": sandbox.version}, _to_mongo(changed)
            )
        return result.matched_count == 1

    async def check(self) -> None:
        with registry_errors():
            await collection_of(SandboxDocument).database.command("ping")


def _to_mongo(sandbox: Sandbox) -> dict[str, Any]:
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
        "occupied": sandbox.occupied,
        "cleanup": sandbox.cleanup.value,
        "reason": sandbox.reason,
        "retryable": sandbox.retryable,
        "has_desktop": sandbox.has_desktop,
        "has_network": sandbox.has_network,
        "door": sandbox.door,
        "settled_at": sandbox.settled_at,
        "version": sandbox.version,
    }


def _to_sandbox(document: SandboxDocument) -> Sandbox:
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
        occupied=document.occupied,
        cleanup=document.cleanup,
        reason=document.reason,
        retryable=document.retryable,
        has_desktop=document.has_desktop,
        has_network=document.has_network,
        door=document.door,
        settled_at=document.settled_at,
        version=document.version,
    )
