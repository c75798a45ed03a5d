"""Beanie documents and their indexes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, cast

from beanie import Document
from pydantic import Field
from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.asynchronous.collection import AsyncCollection

from sandbox_manager.domain.disk import Fill
from sandbox_manager.domain.sandbox import ANY_PLACE, Cleanup, Status

_KEPT_S = 30 * 24 * 3600
_LEASES_KEPT_S = 7 * 24 * 3600


class SandboxDocument(Document):
    """A sandbox record; the unique indexes keep several managers from creating it twice."""

    id: str = Field()  # pyright: ignore[reportIncompatibleVariableOverride] - own id, no ObjectId
    session_id: str
    user_id: str
    generation: int
    runtime: str
    status: Status
    created_at: datetime
    expires_at: datetime
    idle_expires_at: datetime
    lease_owner: str
    lease_until: datetime
    # Records of before there were places were made at the one there was.
    place: str = ANY_PLACE
    occupied: bool
    cleanup: Cleanup
    reason: str | None
    retryable: bool
    has_desktop: bool
    has_network: bool
    door: str | None
    settled_at: datetime | None
    notice: str | None = None
    fill: Fill = Fill.FINE
    disk_notice: str | None = None
    disk_revision: int = 0
    disk_limit_mb: int = 0
    asked_at: datetime | None = None
    recipe: str | None = None
    waking_since: datetime | None = None
    # None is the default one, which those have that were stored before there were others.
    configuration: dict[str, Any] | None = None
    revision: int = 1
    version: int

    class Settings:
        name = "sandboxes"
        indexes: ClassVar = [
            IndexModel(
                [("session_id", ASCENDING)],
                name="one_occupied_per_session",
                unique=True,
                partialFilterExpression={"occupied": True},
            ),
            IndexModel([("session_id", ASCENDING), ("generation", DESCENDING)], name="session_generation", unique=True),
            IndexModel([("user_id", ASCENDING), ("created_at", DESCENDING)], name="user_newest"),
            IndexModel([("occupied", ASCENDING), ("created_at", DESCENDING)], name="occupied_newest"),
            IndexModel([("settled_at", ASCENDING)], name="forget_settled", expireAfterSeconds=_KEPT_S),
        ]


class LeaseDocument(Document):
    """A named lease; also the one document all admissions write to, which puts them one after the other."""

    id: str = Field()  # pyright: ignore[reportIncompatibleVariableOverride] - its name
    owner: str
    until: datetime

    class Settings:
        name = "leases"
        indexes: ClassVar = [
            IndexModel([("until", ASCENDING)], name="forget_lapsed", expireAfterSeconds=_LEASES_KEPT_S)
        ]


class TokenKeyDocument(Document):
    """The private key of the endpoints' tokens; there is one."""

    id: str = "door"  # pyright: ignore[reportIncompatibleVariableOverride] - a fixed id makes it one
    private_key: str

    class Settings:
        name = "door_keys"


def collection_of(document: type[Document]) -> AsyncCollection[dict[str, Any]]:
    """The driver's collection, for the compare-and-set Beanie has no call for; its own type is too vague."""
    return cast("Any", document).get_pymongo_collection()


DOCUMENTS = [SandboxDocument, LeaseDocument, TokenKeyDocument]
