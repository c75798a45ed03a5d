"""Pages of documents by creation time, newest first; a cursor is the position of the last one shown."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from beanie import Document as Stored

from backend_api.kit.errors import InvalidError
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors

_Item = TypeVar("_Item")
_Document = TypeVar("_Document", bound=Stored)


async def newest_first(
    document: type[_Document],
    wanted: Document,
    read: Callable[[_Document], _Item],
    *,
    limit: int,
    cursor: str | None,
) -> tuple[list[_Item], str | None]:
    """A page and the cursor of the next one. Raises `InvalidError` for an invalid cursor."""
    if cursor is not None:
        at, last_id = _decode(cursor)
        wanted = {**wanted, "$or": [{"created_at": {"$lt": at}}, {"created_at": at, "_id": {"$lt": last_id}}]}
    async with store_errors():
        documents = await document.find(wanted).sort("-created_at", "-_id").limit(limit + 1).to_list()
    next_cursor = _encode(documents[limit - 1]) if len(documents) > limit else None
    return [read(document) for document in documents[:limit]], next_cursor


def _encode(document: Any) -> str:
    millis = round(document.created_at.timestamp() * 1000)
    return base64.urlsafe_b64encode(f"{millis}:{document.id}".encode()).decode()


def _decode(cursor: str) -> tuple[datetime, str]:
    try:
        millis, _, last_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        return datetime.fromtimestamp(int(millis) / 1000, UTC), last_id
    except (ValueError, OverflowError, OSError, binascii.Error) as error:
        raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor") from error
