"""The database with the documents and migrations of all contexts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from beanie import Document

from backend_api.conversations.mongo.documents import DOCUMENTS as CONVERSATIONS
from backend_api.conversations.mongo.migrations import migrate
from backend_api.kit.mongo.connection import open_database
from backend_api.kit.mongo.database import Database
from backend_api.settings.mongo.documents import DOCUMENTS as SETTINGS

DOCUMENTS: list[type[Document]] = [
    *CONVERSATIONS,
    *SETTINGS,
]


def connect(
    uri: str, name: str, *, documents: Sequence[type[Document]] = (), wait_s: float = 30.0
) -> AbstractAsyncContextManager[Database]:
    """Connect, with these documents of modules. Raises as `open_database` does."""
    return open_database(uri, name, documents=[*DOCUMENTS, *documents], migrate=migrate, wait_s=wait_s)
