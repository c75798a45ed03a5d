"""Typed versions of Beanie's updates, whose own are not."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from beanie import Document, UpdateResponse

_Stored = TypeVar("_Stored", bound=Document)


async def update_many(document: type[_Stored], wanted: dict[str, Any], change: dict[str, Any]) -> None:
    """Updates each document that matches."""
    await cast("Any", document).find(wanted).update(change)


async def find_one_and_update(
    document: type[_Stored],
    wanted: dict[str, Any],
    change: dict[str, Any] | list[dict[str, Any]],
    *,
    before: bool = False,
) -> _Stored | None:
    """The document after the change, or `before` it; None if none matches."""
    response = UpdateResponse.OLD_DOCUMENT if before else UpdateResponse.NEW_DOCUMENT
    return await cast("Any", document).find_one(wanted).update(change, response_type=response)


async def find_one_and_delete(document: type[_Stored], wanted: dict[str, Any]) -> _Stored | None:
    """The deleted document; None if none matches."""
    # The driver: Beanie's own delete does not return the document.
    found = await cast("Any", document).get_pymongo_collection().find_one_and_delete(wanted)
    return None if found is None else document.model_validate(found)
