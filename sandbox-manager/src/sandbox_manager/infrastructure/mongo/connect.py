"""Opening the database, and the key pair kept in it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any, cast

from beanie import init_beanie  # pyright: ignore[reportUnknownVariableType] - typed by half
from pymongo import AsyncMongoClient

from sandbox_manager.infrastructure.mongo.documents import DOCUMENTS, TokenKeyDocument, collection_of
from sandbox_manager.infrastructure.mongo.errors import registry_errors
from sandbox_manager.infrastructure.mongo.migrations import migrate
from sandbox_manager.infrastructure.mongo.workspaces import WorkspaceDocument
from sandbox_manager.infrastructure.token_keys import Es256TokenKeys, generate_private_key

_ANSWER_MS = 5_000


@contextlib.asynccontextmanager
async def connected(uri: str, database: str, *, answer_ms: int = _ANSWER_MS) -> AsyncGenerator[None]:
    """Documents usable inside, of this program's version; indexes made. Raises `RegistryUnavailableError`."""
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        uri, tz_aware=True, serverSelectionTimeoutMS=answer_ms, timeoutMS=answer_ms * 2
    )
    try:
        await migrate(client[database])
        with registry_errors():
            await cast("Any", init_beanie)(database=client[database], document_models=[*DOCUMENTS, WorkspaceDocument])
        yield
    finally:
        await client.close()


async def load_token_keys() -> Es256TokenKeys:
    """The one key pair of this deployment, made by whichever manager came first."""
    with registry_errors():
        collection = collection_of(TokenKeyDocument)
        await collection.update_one(
            {"_id": "door"}, {"$setOnInsert": {"private_key": generate_private_key()}}, upsert=True
        )
        document = await TokenKeyDocument.get("door")
    if document is None:
        raise LookupError("the token key was removed while it was read")
    return Es256TokenKeys(document.private_key)
