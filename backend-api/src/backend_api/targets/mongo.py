"""Targets in MongoDB; a session's target is stored on the session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, ClassVar

from beanie import Document as Stored
from pymongo import ASCENDING, IndexModel

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Database
from backend_api.kit.mongo.transactions import store_errors
from backend_api.sandboxes.domain.choices import USUAL, SandboxConfiguration
from backend_api.settings.domain.entity import Sealed
from backend_api.settings.mongo.user_settings import notify_of_settings
from backend_api.targets.domain import HostKey, SandboxTarget, SshHost, Target, TargetId
from backend_api.targets.errors import TargetChangedError, TargetNotFoundError, TargetQuotaError

MAX_KNOWN = 10_000


class TargetDocument(Stored):
    """A target: `ssh` of a remote host, else `sandbox`. `sealed` is its encrypted private key, which is nowhere
    else."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    user_id: str
    name: str
    ssh: dict[str, Any] | None = None
    sandbox: dict[str, str | None] | None = None
    sealed: dict[str, str] | None = None
    version: int
    created_at: datetime
    updated_at: datetime

    class Settings:
        name = "targets"
        indexes: ClassVar = [IndexModel([("user_id", ASCENDING), ("name", ASCENDING)])]


class MongoTargets:
    """`Targets`, `TargetsOfSessions` and `SealedTargets`. A user with targets is marked as having settings: a run of a
    user without settings looks for none. A session's target is cached, as it never changes."""

    def __init__(self, database: Database) -> None:
        # The driver: sessions belong to another module.
        self._sessions = database["sessions"]
        self._known: dict[str, TargetId | None] = {}

    async def add(self, target: Target | SandboxTarget, *, at_most: int) -> None:
        async with store_errors():
            if await TargetDocument.find({"user_id": target.user_id}, limit=at_most).count() >= at_most:
                raise TargetQuotaError.of(at_most)
            await notify_of_settings(target.user_id)
            await TargetDocument.model_validate(_fields(target) | {"_id": target.id}).insert()

    async def of(self, user_id: UserId) -> Sequence[Target | SandboxTarget]:
        async with store_errors():
            found = await TargetDocument.find({"user_id": user_id}).sort("name").to_list()
        return [_target(one) for one in found]

    async def get(self, target_id: TargetId, user_id: UserId) -> Target | SandboxTarget:
        async with store_errors():
            found = await TargetDocument.find_one({"_id": target_id, "user_id": user_id})
        if found is None:
            raise TargetNotFoundError("You have no such computer.")
        return _target(found)

    async def put(self, target: Target | SandboxTarget) -> None:
        former = {"_id": target.id, "user_id": target.user_id, "version": target.version - 1}
        async with store_errors():
            found = await find_one_and_update(TargetDocument, former, {"$set": _fields(target)})
        if found is None:
            await self.get(target.id, target.user_id)
            raise TargetChangedError("This computer was changed elsewhere in the meantime. Reload it.")

    async def delete(self, target_id: TargetId, user_id: UserId) -> None:
        async with store_errors():
            found = await TargetDocument.find_one({"_id": target_id, "user_id": user_id})
            if found is None:
                raise TargetNotFoundError("You have no such computer.")
            await found.delete()

    async def id_of(self, session_id: str) -> TargetId | None:
        if session_id in self._known:
            return self._known[session_id]
        async with store_errors():
            session = await self._sessions.find_one({"_id": session_id}, {"target_id": 1})
        if session is None:
            return None
        while len(self._known) >= MAX_KNOWN:
            del self._known[next(iter(self._known))]
        found = session.get("target_id")
        self._known[session_id] = TargetId(found) if found else None
        return self._known[session_id]

    async def of_session(self, session_id: str) -> Target | None:
        found = await self._of_session(session_id)
        return found if isinstance(found, Target) else None

    async def configuration_of(self, session_id: str) -> SandboxConfiguration:
        found = await self._of_session(session_id)
        return found.made_of if isinstance(found, SandboxTarget) else USUAL

    async def _of_session(self, session_id: str) -> Target | SandboxTarget | None:
        if (target_id := await self.id_of(session_id)) is None:
            return None
        async with store_errors():
            session = await self._sessions.find_one({"_id": session_id}, {"user_id": 1})
            owner = (session or {}).get("user_id")
            found = await TargetDocument.find_one({"_id": target_id, "user_id": owner}) if owner else None
        return _target(found) if found else None

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[Target]:
        async with store_errors():
            async for found in TargetDocument.find({"sealed": {"$ne": None}, "sealed.key_id": {"$ne": key_id}}):
                if isinstance(target := _target(found), Target):
                    yield target

    async def reseal(self, target: Target, fresh: Sealed) -> bool:
        if target.sealed is None:
            return False
        former = {"_id": target.id, "sealed": asdict(target.sealed)}
        async with store_errors():
            found = await find_one_and_update(TargetDocument, former, {"$set": {"sealed": asdict(fresh)}})
        return found is not None


def _fields(target: Target | SandboxTarget) -> dict[str, Any]:
    return {
        "user_id": target.user_id,
        "name": target.name,
        **_own_fields(target),
        "version": target.version,
        "created_at": target.created_at,
        "updated_at": target.updated_at,
    }


def _own_fields(target: Target | SandboxTarget) -> dict[str, Any]:
    if isinstance(target, SandboxTarget):
        return {"ssh": None, "sealed": None, "sandbox": asdict(target.made_of)}
    return {"ssh": asdict(target.ssh), "sealed": asdict(target.sealed) if target.sealed else None, "sandbox": None}


def _target(found: TargetDocument) -> Target | SandboxTarget:
    if found.ssh is None:
        return SandboxTarget(
            id=TargetId(found.id),
            user_id=UserId(found.user_id),
            name=found.name,
            made_of=SandboxConfiguration(**(found.sandbox or {})),
            version=found.version,
            created_at=_in_utc(found.created_at),
            updated_at=_in_utc(found.updated_at),
        )
    return Target(
        id=TargetId(found.id),
        user_id=UserId(found.user_id),
        name=found.name,
        ssh=_host(found.ssh),
        sealed=Sealed(**found.sealed) if found.sealed else None,
        version=found.version,
        created_at=_in_utc(found.created_at),
        updated_at=_in_utc(found.updated_at),
    )


def _host(stored: dict[str, Any]) -> SshHost:
    keys: dict[str, Any] = {name: HostKey(**stored[name]) for name in ("host_key", "seen_key") if stored.get(name)}
    return SshHost(**{**stored, **keys})


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
