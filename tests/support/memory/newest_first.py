"""Pages of what is kept in memory, the newest first. The cursor is the id of the last one shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol, TypeVar

from backend_api.kit.errors import InvalidError


class Dated(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


T = TypeVar("T", bound=Dated)


def newest_first(items: Iterable[T], *, limit: int, cursor: str | None) -> tuple[list[T], str | None]:
    """The page after the cursor, and the cursor of the next. Raises `InvalidError` for a cursor that is not ours."""
    ordered = sorted(items, key=lambda item: (item.created_at, item.id), reverse=True)
    start = 0
    if cursor is not None:
        ids = [str(item.id) for item in ordered]
        if cursor not in ids:
            raise InvalidError("The cursor is invalid. Use one that a page returned.", field="query.cursor")
        start = ids.index(cursor) + 1
    page = ordered[start : start + limit]
    return page, str(page[-1].id) if len(ordered) > start + limit else None
