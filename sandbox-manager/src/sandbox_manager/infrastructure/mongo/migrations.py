"""Migrations of the managers' data, in order. A listed one is never altered: data out there has been through it. They
use the driver: a document has its own version, and these read older data."""

from __future__ import annotations

from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.infrastructure.mongo.documents import TokenKeyDocument
from service_kit.migrations import Migration, StoredData
from service_kit.migrations import migrate as migrate_data

MIGRATIONS: tuple[Migration, ...] = ()
VERSIONS = "sandboxes_schema"
"""The name of the version record, other than the gateway's: both may share a database."""


async def migrate(database: AsyncDatabase[dict[str, Any]]) -> None:
    """Bring the data to this program's version. Raises `RegistryUnavailableError`, as for data of a later one."""
    await migrate_data(
        StoredData(
            database=database,
            migrations=MIGRATIONS,
            filled=TokenKeyDocument.Settings.name,  # records of sandboxes are forgotten after a while
            error=RegistryUnavailableError,
            versions=VERSIONS,
            away_s=0.0,
        )
    )
